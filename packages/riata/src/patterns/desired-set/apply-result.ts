import type { WriteObject } from '../../client/interfaces.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';

/** Names one object of a set. */
export interface SetMember {
  readonly kind: KindRef;
  readonly namespace?: string;
  readonly name: string;
}

/** The action on one object. */
export type SetAction = 'created' | 'updated' | 'replaced' | 'unchanged' | 'released' | 'deleted';

/** The result of applying a set. */
export interface ApplySetResult {
  /** New in the set: created or adopted. */
  readonly created: readonly SetMember[];
  readonly updated: readonly SetMember[];
  /** Deleted and recreated. */
  readonly replaced: readonly SetMember[];
  /** Released, see `release`. */
  readonly released: readonly SetMember[];
  /** Deleted, or being deleted. */
  readonly deleted: readonly SetMember[];
  readonly unchanged: readonly SetMember[];
  /** The set as it is stored, in the order given. */
  readonly objects: readonly KubeObject[];
}

/** An object that could not be applied. */
export interface ApplyFailure {
  readonly member: SetMember;
  readonly action: 'apply' | 'release' | 'delete' | 'list' | 'wait';
  readonly error: unknown;
}

const applySetError = Symbol.for('riata.ApplySetError');

/** Thrown when some objects of a set could not be applied; the others were. */
export class ApplySetError extends AggregateError {
  override readonly name = 'ApplySetError';
  readonly failures: readonly ApplyFailure[];
  /** The objects that were applied all the same. */
  readonly result: ApplySetResult;

  constructor(set: string, failures: readonly ApplyFailure[], result: ApplySetResult, unpruned: number) {
    const shown = failures.slice(0, 10).map(({ action, member, error }) => {
      return `${action} ${memberText(member)}: ${error instanceof Error ? error.message : String(error)}`;
    });
    const more = failures.length > shown.length ? `\n  and ${failures.length - shown.length} more` : '';
    const kept =
      unpruned > 0 ? `\n  ${unpruned} objects that are no longer in the set are kept until it can be applied` : '';
    super(
      failures.map(({ error }) => error),
      `apply of set ${set}: ${failures.length} failed\n  ${shown.join('\n  ')}${more}${kept}`,
    );
    this.failures = failures;
    this.result = result;
    Object.defineProperty(this, applySetError, { value: true });
  }
}

/** True for an {@link ApplySetError}, also one of another copy of this library. */
export function isApplySetError(error: unknown): error is ApplySetError {
  return typeof error === 'object' && error !== null && applySetError in error;
}

/** Just the names of what has more to it; no namespace rather than an undefined one. */
export function memberOf({ kind, namespace, name }: SetMember): SetMember {
  return { kind, ...(namespace === undefined ? {} : { namespace }), name };
}

export function memberText({ kind, namespace, name }: SetMember): string {
  return `${kind.kind}${kind.group === '' ? '' : `.${kind.group}`} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** The same for one object whatever the version it is written in. */
export function memberId({ kind, namespace = '', name }: SetMember): string {
  return `${kind.group}/${kind.kind}/${namespace}/${name}`;
}

/** One object of the desired set, ready to be sent. */
export interface DesiredMember extends SetMember {
  readonly id: string;
  /** With the set's marks, its namespace, and without what only servers write. */
  readonly intent: WriteObject & { readonly metadata: { readonly name: string } };
}
