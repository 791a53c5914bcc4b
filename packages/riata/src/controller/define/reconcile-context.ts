import type { AppliedAt, Client, Explicit, FieldOwned } from '../../client/interfaces.js';
import type { ApplyOptions } from '../../client/options.js';
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

/** The status that a reconciler writes, or some of its conditions. */
export type StatusFields<R extends KubeObject> = (R extends { readonly status?: infer S }
  ? { readonly [K in keyof NonNullable<S> as Exclude<K, 'conditions'>]?: NonNullable<S>[K] }
  : unknown) & {
  /** Besides `Ready`, which kinds of `defineKind` have anyway; times are filled in. */
  readonly conditions?: readonly StatusCondition[];
};

/** A condition as a reconciler gives it. */
export type StatusCondition = Pick<Condition, 'type' | 'status'> & Partial<Pick<Condition, 'reason' | 'message'>>;

/** Something that happened, for people. */
export interface ReconcileEvent {
  readonly type: 'Normal' | 'Warning';
  /** Short and for machines, in upper camel case: `FailedMount`. */
  readonly reason: string;
  readonly message: string;
  /** The action that was taken or tried, for machines. @default none */
  readonly action?: string;
}

/**
 * The argument of a reconciler. `R` is the kind's object; `O` the type of `object`: the same, or also undefined with
 * `evenWhenGone`.
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
   * Server-side apply of an object that `object` owns; forced, and skipped if it is a no-op. Resolves to the stored object,
   * which may be frozen, as `object` is, and has no `managedFields`. Rejects with an `AlreadyOwnedError` if another object
   * controls it, as far as the cache knows.
   */
  readonly apply: OwnedApply<R>;
  /**
   * Emits an Event about `object`, which `kubectl describe` shows. Returns at once and never throws; events are best effort.
   */
  readonly event: (event: ReconcileEvent) => void;
  /**
   * Applies the status: all the fields that this controller owns in it. Skipped if it is a no-op. Kinds made by
   * `defineKind` get `observedGeneration` and a `Ready` condition that is true, unless you give one; if the reconcile
   * throws, `Ready` becomes false, with the error, until a reconcile succeeds. For other kinds only the given fields are
   * written. Resolves to the stored object, as `apply` does.
   */
  readonly status: (fields: StatusFields<R>) => Promise<R>;
}
