import { equal, isJsonObject, type Json, type StructuralSchema } from 'riata/object';

/** A value and its old value, as far as the two can be correlated. */
class Pair {
  readonly #value: Json;
  readonly #old: Json;
  readonly #schema: StructuralSchema | undefined;
  #isSame: boolean | undefined;

  constructor(value: Json, old: Json, schema: StructuralSchema | undefined) {
    this.#value = value;
    this.#old = old;
    this.#schema = schema;
  }

  get isSame(): boolean {
    this.#isSame ??= equal(this.#value, this.#old);
    return this.#isSame;
  }

  member(name: string): Pair | undefined {
    const [value, old] = [this.#value, this.#old];
    if (!isJsonObject(value) || !isJsonObject(old)) return undefined;
    const [own, before] = [value[name], old[name]];
    if (own === undefined || before === undefined) return undefined;
    return new Pair(own, before, this.#schema?.properties?.[name] ?? this.#schema?.additionalProperties);
  }

  element(index: number): Pair | undefined {
    const [value, old] = [this.#value, this.#old];
    if (!Array.isArray(value) || !Array.isArray(old)) return undefined;
    const item = value[index] as Json;
    const before = oldElement(item, old, this.#schema);
    return before === undefined ? undefined : new Pair(item, before, this.#schema?.items);
  }
}

/** The element of a list before a change that has the same keys; lists that are no maps have none. */
export function oldElement(item: Json, old: readonly Json[], schema: StructuralSchema | undefined): Json | undefined {
  if (schema?.['x-kubernetes-list-type'] !== 'map' || !isJsonObject(item)) return undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return old.find((other) => isJsonObject(other) && keys.every((key) => equal(other[key] ?? null, item[key] ?? null)));
}

/**
 * Lets errors pass in what has not changed (ratcheting): an object that was valid when it was written can still be
 * updated when rules have become stricter.
 */
export class Correlation {
  readonly #own: Pair | undefined;
  readonly #parent: Pair | undefined;

  private constructor(own: Pair | undefined, parent: Pair | undefined) {
    this.#own = own;
    this.#parent = parent;
  }

  static of(value: Json, old: Json | undefined, schema: StructuralSchema): Correlation {
    return new Correlation(old === undefined ? undefined : new Pair(value, old, schema), undefined);
  }

  /** Whether what is wrong here was wrong before. */
  get isUnchanged(): boolean {
    return (this.#own ?? this.#parent)?.isSame ?? false;
  }

  /** The same for what stands in `allOf`: only an unchanged parent lets it pass. */
  get inAllOf(): Correlation {
    return new Correlation(undefined, this.#parent);
  }

  member(name: string): Correlation {
    if (this.#own === undefined) return this;
    // The kind and version of the whole are always the same.
    if (this.#parent === undefined && (name === 'apiVersion' || name === 'kind')) {
      return new Correlation(undefined, undefined);
    }
    return new Correlation(this.#own.member(name), this.#own);
  }

  element(index: number): Correlation {
    return this.#own === undefined ? this : new Correlation(this.#own.element(index), this.#own);
  }
}
