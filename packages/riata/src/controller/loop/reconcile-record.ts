import { formatKey } from '../../object/key.js';
import type { Cause, Request } from './request.js';

/** How a reconcile ended; the values of the label `result` of `controller_runtime_reconcile_total` and some more. */
export type ReconcileOutcome =
  | 'success'
  | 'requeue'
  | 'requeue_after'
  | 'error'
  | 'terminal_error'
  | 'gave_up'
  /** By shutdown, a lost lease, or because the controller was removed. */
  | 'stopped'
  /** No reconcile: a predicate, map function or the like fails for the object, and is retried. */
  | 'not_enqueued';

/** A write that a reconcile made. */
export interface ReconcileWrite {
  readonly verb: string;
  /** `Deployment shop/cart`, with `/status` and the like. */
  readonly object: string;
  readonly resourceVersion?: string;
}

/** One reconcile, to be looked at later: why it ran, how long it took, what it did; or why there was none (`not_enqueued`). */
export interface ReconcileRecord {
  readonly controller: string;
  /**
   * The reconciled key; if nothing was reconciled, the object that a function fails for, which may be of another kind
   * (`reasons`).
   */
  readonly key: Request;
  /** `''` if nothing was reconciled. */
  readonly reconcileID: string;
  /** Wall time, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Between the first cause and the start. */
  readonly queuedMs: number;
  readonly durationMs: number;
  readonly attempt: number;
  readonly priority: number;
  readonly reasons: readonly Cause[];
  readonly outcome: ReconcileOutcome;
  /** The error, in words. */
  readonly error?: string;
  /** The first place of its stack outside of this library, as `reconcile (/app/main.ts:41:12)`. */
  readonly errorAt?: string;
  /** When it is looked at again without a change; undefined if not. */
  readonly requeueAfterMs?: number;
  /** At most the first 64. */
  readonly writes: readonly ReconcileWrite[];
}

/** A write as it is recorded; formatted when it is read. */
export interface NotedWrite {
  readonly verb: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource: string | undefined;
  readonly resourceVersion: string | undefined;
}

export function describeWrite({
  verb,
  kind,
  namespace,
  name,
  subresource,
  resourceVersion,
}: NotedWrite): ReconcileWrite {
  const place = subresource === undefined ? '' : `/${subresource}`;
  return {
    verb,
    object: `${kind} ${formatKey({ namespace, name })}${place}`,
    ...(resourceVersion && { resourceVersion }),
  };
}
