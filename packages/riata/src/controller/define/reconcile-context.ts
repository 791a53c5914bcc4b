import type { AppliedAt, Client, Explicit, FieldOwned } from '../../client/interfaces.js';
import type { ApplyOptions } from '../../client/operation/apply-operation.js';
import type { New, Scope } from '../../object/kind.js';
import type { Condition, KubeObject, WriteMeta } from '../../object/meta.js';
import type { ReconcileRun } from '../loop/reconciler.js';

/** Applies what the reconciled object is to own; see {@link ReconcileContext.apply}. */
export type OwnedApply<Owner extends KubeObject> = <
  R extends KubeObject,
  W,
  S extends Scope,
  N extends string | undefined,
>(
  object: AppliedAt<New<R, W, S, N>, Explicit, { readonly ownedBy: Owner }> &
    New<R, W, S, N> & { readonly metadata: WriteMeta },
  options?: Omit<ApplyOptions<R>, 'ownedBy' | 'current'> & {
    /** Makes the reconciled object its controller. In the same namespace either way, unless it names one. @default true */
    readonly owned?: boolean;
  },
) => Promise<R>;

/** What a reconciler says of an object: its status, or some of its conditions. */
export type StatusFields<R extends KubeObject> = (R extends { readonly status?: infer S }
  ? { readonly [K in keyof NonNullable<S> as Exclude<K, 'conditions'>]?: NonNullable<S>[K] }
  : unknown) & {
  /** Besides `Ready`, which kinds of `defineKind` have anyway; times are filled in. */
  readonly conditions?: readonly StatusCondition[];
};

/** A condition as a reconciler says it. */
export type StatusCondition = Pick<Condition, 'type' | 'status'> & Partial<Pick<Condition, 'reason' | 'message'>>;

/** Something that happened, for people. */
export interface ReconcileEvent {
  readonly type: 'Normal' | 'Warning';
  /** Short and for machines, in upper camel case: `FailedMount`. */
  readonly reason: string;
  readonly message: string;
  /** What was done or tried about it, for machines. @default none */
  readonly action?: string;
}

/**
 * All that a reconciler gets. `R` is the kind's object; `O` what `object` is: the same, or undefined too, for those who
 * asked to be called when it is gone.
 */
export interface ReconcileContext<R extends KubeObject, O extends R | undefined = R> extends ReconcileRun {
  /** The object, from the cache, own writes included; frozen. */
  readonly object: O;
  /**
   * Reads declared kinds from the cache and others from the server, writes to the server. Both end with `signal`, unless
   * given another; writes belong to the controller, and are kept for `explain`.
   */
  readonly client: Client<FieldOwned>;
  /**
   * Server-side apply of something that `object` is to own: skipped if nothing would change, taking over fields that
   * others hold. Resolves to what is stored; as with `object`, that may be frozen, and has no `managedFields`. Rejects with
   * an `AlreadyOwnedError` if another object controls it, as far as the cache knows.
   */
  readonly apply: OwnedApply<R>;
  /**
   * Tells people what happened to `object`, as an Event that `kubectl describe` shows. Returns at once, never throws;
   * told if it can be.
   */
  readonly event: (event: ReconcileEvent) => void;
  /**
   * Says how the object is doing: all that this controller has to say in the status. Skipped if nothing would change.
   * Kinds that were made by `defineKind` get `observedGeneration` and a `Ready` condition that is true, unless one is
   * given; if the reconcile throws, `Ready` becomes false, with the error, and stays so until one has succeeded. Of other
   * kinds only what is said is written.
   * Resolves to what is stored, as `apply` does.
   */
  readonly status: (fields: StatusFields<R>) => Promise<R>;
}
