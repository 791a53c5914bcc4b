import type { Logger } from '../../runtime/log/logger.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import type { Span } from '../../runtime/tracing.js';
import type { Cause, Request } from './request.js';
import type { Result } from './result.js';

/** The least that a reconcile gets. */
export interface ReconcileRun {
  /** Which object. */
  readonly key: Request;
  /** Aborts when the time allowed is over, on shutdown, and when the lease is lost. */
  readonly signal: AbortSignal;
  /** The manager's clock, to read time and to wait: a test that moves it moves the reconciler, too. */
  readonly clock: Scheduler;
  /** Names controller, key and reconcileID in every line. */
  readonly log: Logger;
  /** Another one each time. */
  readonly reconcileID: string;
  /** 1, and one more for each failure since the last success. */
  readonly attempt: number;
  /** That of the key in the queue. */
  readonly priority: number;
  /** Why it runs. */
  readonly reasons: readonly Cause[];
  /**
   * Of this reconcile, by the manager's tracer: the parent of what its `client`, `apply` and `status` ask of the server, and
   * of whatever else is given it.
   */
  readonly span: Span;
}

/**
 * Brings the world closer to what an object asks for (`reconcile.Reconciler`): a function, or an object with such a
 * method. Called again and again, so it looks at what there is, not at what happened.
 */
export type Reconciler<C> = ((context: C) => Result | Promise<Result>) | ReconcilerObject<C>;

/** A {@link Reconciler} that is an object. */
export interface ReconcilerObject<in C> {
  reconcile(context: C): Result | Promise<Result>;
}

/** The function to call. */
export function reconcileFunction<C>(reconciler: Reconciler<C>): (context: C) => Result | Promise<Result> {
  return typeof reconciler === 'function' ? reconciler : (context) => reconciler.reconcile(context);
}
