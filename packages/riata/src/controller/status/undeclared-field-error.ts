import type { KindRef } from '../../object/kind.js';
import { findApiError } from '../../rest/errors/api-error.js';

/** How kube-apiserver refuses to apply a field that a definition does not have. */
const undeclared = /\.(status\.[\w.-]+): field not declared in schema/g;

/** Fields that the framework writes. */
const added: ReadonlySet<string> = new Set(['status.conditions', 'status.observedGeneration']);

/** A status cannot be written, as the installed definition of the kind has no place for one of its fields. */
export class UndeclaredFieldError extends Error {
  override readonly name = 'UndeclaredFieldError';
  /** Whether it was thrown before, so that there is nothing new to log. */
  readonly isKnown: boolean;

  constructor(
    kind: KindRef,
    fields: readonly string[],
    options: { readonly cause: unknown; readonly isKnown: boolean },
  ) {
    const { plural, group, kind: name } = kind;
    const need = fields.some((field) => added.has(field)) ? ` (${name} needs ${[...added].join(' and ')})` : '';
    super(
      `status of ${name}: the installed CustomResourceDefinition ${plural}.${group} has no ${fields.join(' and no ')}${need}; ` +
        `install the definition of this kind, with installCrds(client, [${name}]) or kubectl apply, or add what is missing to yours`,
      { cause: options.cause },
    );
    this.isKnown = options.isKnown;
  }
}

/** Which fields the installed definition of a kind is known to lack. */
export class UndeclaredFields {
  readonly #known = new Set<string>();

  /** The error to throw in place of another: the same one, unless it names such a field. */
  explain(kind: KindRef, error: unknown): unknown {
    const matches = findApiError(error)?.message.matchAll(undeclared) ?? [];
    const fields = [...matches].map(([, field = '']) => field).sort();
    if (fields.length === 0) return error;
    const isKnown = fields.every((field) => this.#known.has(field));
    // A server may name one of them, and another one the next time, as it walks a map.
    const related = fields.some((field) => added.has(field)) ? added : [];
    for (const field of [...fields, ...related]) this.#known.add(field);
    return new UndeclaredFieldError(kind, fields, { cause: error, isKnown });
  }
}
