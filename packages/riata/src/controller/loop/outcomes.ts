import { durationMs } from '../../object/duration.js';
import { clusterKey, keyId, parseKeyId } from '../../object/key.js';
import { isConflict } from '../../rest/errors/error-guards.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { Clock } from '../../runtime/time/clock.js';
import type { CallMemory } from '../calls/call-memory.js';
import type { ContainedCall } from '../calls/contained-call.js';
import { UndeclaredFieldError } from '../status/undeclared-field-error.js';
import type { ActiveReconcile } from './active-reconcile.js';
import type { ControllerMetrics } from './controller-metrics.js';
import type { ControllerSettings } from './controller-options.js';
import { failureFields, isMistake, readableError } from './failure-fields.js';
import type { ReconcileOutcome } from './reconcile-record.js';
import type { Request, RequestQueue } from './request.js';
import { requeueOf } from './result.js';
import type { SelfWakeBackoff } from './self-wake-backoff.js';
import { isTerminalError } from './terminal-error.js';

/** How a reconcile ended, and when its key runs again. */
export interface Outcome {
  readonly outcome: ReconcileOutcome;
  readonly requeueAfterMs?: number;
  /** The error, as text. */
  readonly error?: string;
  /** The place in user code that threw it. */
  readonly errorAt?: string;
}

/** What {@link Outcomes} decide by. */
export interface OutcomesParts {
  readonly controller: string;
  readonly settings: Pick<ControllerSettings, 'work'>;
  readonly queue: RequestQueue;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly metrics: ControllerMetrics;
  readonly selfWake: SelfWakeBackoff;
  readonly calls: CallMemory;
  readonly call: ContainedCall;
}

/** Decides what becomes of a key after its reconcile: forgotten, requeued, retried, or given up. */
export class Outcomes {
  readonly #parts: OutcomesParts;
  /** Failures in a row, by key id. */
  readonly #failures = new Map<string, number>();

  constructor(parts: OutcomesParts) {
    this.#parts = parts;
  }

  /** 1, and one more for each failure since the last success. */
  attemptOf(key: Request): number {
    return (this.#failures.get(keyId(key)) ?? 0) + 1;
  }

  /** The next failure of this key is the first one. */
  forget(key: Request): void {
    this.#parts.queue.forget(key);
    this.#failures.delete(keyId(key));
  }

  /** Keys whose last reconcile has failed, and that are to be retried. */
  get failing(): readonly Request[] {
    return [...this.#failures.keys()].map((id) => clusterKey(parseKeyId(id)));
  }

  /** The reconciler returned `result`. Throws a `TypeError`, with nothing decided, if that is invalid. */
  succeeded(reconcile: ActiveReconcile, result: unknown): Outcome {
    const requeue = requeueOf(result);
    const outcome = this.#requeue(reconcile, requeue);
    this.#parts.metrics.result(outcome.outcome as 'success');
    this.#parts.selfWake.succeeded(keyId(reconcile.key), reconcile);
    return outcome;
  }

  /** The reconciler threw `thrown`: counts and logs it, unless the reconcile was stopped. */
  failed(reconcile: ActiveReconcile, thrown: unknown): Outcome {
    const { queue, calls, call } = this.#parts;
    const { key, attempt } = reconcile;
    const text = describeError(thrown);
    const error = readableError(thrown);
    calls.nameCaller(error);
    call('tracer', () => reconcile.span.error(thrown));
    // A timeout is a failure; every other stop is not.
    if (reconcile.wasStopped) return { outcome: 'stopped', error: text };
    const outcome = this.#judge(reconcile, error);
    let requeueAfterMs: number | undefined;
    if (outcome === 'error') {
      this.#failures.set(keyId(key), attempt);
      requeueAfterMs = this.#backoff(reconcile, error);
      if (requeueAfterMs !== undefined)
        queue.addAfter(key, requeueAfterMs, this.#again('retry', reconcile, requeueAfterMs));
      else requeueAfterMs = queue.addRateLimited(key, this.#again('retry', reconcile, 0));
    } else {
      this.forget(key);
    }
    const errorAt = failureFields(error).at as string | undefined;
    return {
      outcome,
      error: text,
      ...(errorAt && { errorAt }),
      ...(requeueAfterMs !== undefined && { requeueAfterMs }),
    };
  }

  #requeue(reconcile: ActiveReconcile, requeue: ReturnType<typeof requeueOf>): Outcome {
    const { queue } = this.#parts;
    const { key } = reconcile;
    if (requeue === 'rate-limited') {
      queue.addRateLimited(key, this.#again('requeue', reconcile, 0));
      return { outcome: 'requeue' };
    }
    this.forget(key);
    if (requeue === 'none') return success;
    const { afterMs } = requeue;
    if (Number.isFinite(afterMs)) queue.addAfter(key, afterMs, this.#again('requeueAfter', reconcile, afterMs));
    return { outcome: 'requeue_after', requeueAfterMs: afterMs };
  }

  #judge({ key, attempt, log }: ActiveReconcile, error: unknown): 'error' | 'terminal_error' | 'gave_up' {
    const { metrics, call } = this.#parts;
    const { maxRetries = 'never', onGiveUp } = this.#parts.settings.work;
    metrics.result('error');
    if (isMistake(error)) metrics.panicked();
    if (isTerminalError(error)) {
      metrics.terminal();
      log.error('the reconcile failed for good: not retried until the object changes', {
        ...failureFields(error),
        attempt,
      });
      return 'terminal_error';
    }
    if (maxRetries !== 'never' && attempt > maxRetries) {
      metrics.gaveUp();
      log.error('the reconcile failed too often: given up until the object changes', {
        ...failureFields(error),
        attempt,
      });
      call('onGiveUp', () => onGiveUp?.(key, error, attempt));
      return 'gave_up';
    }
    if (isConflict(error)) {
      // Another writer was faster: no reason to worry, and the newest state is on its way.
      log.info('the object has changed meanwhile, retrying', { error, attempt });
    } else {
      // Another log line has named the remedy.
      const level = error instanceof UndeclaredFieldError && error.isKnown ? 'debug' : 'error';
      log[level]('the reconcile failed, will be retried', { ...failureFields(error), attempt });
    }
    return 'error';
  }

  /** How long the user's `backoff` has the key wait; undefined leaves it to the rate limiter. */
  #backoff({ attempt }: ActiveReconcile, error: unknown): number | undefined {
    const { controller, settings, call } = this.#parts;
    return call('backoff', () => {
      const wait = settings.work.backoff?.(error, attempt);
      return wait === undefined ? undefined : durationMs(wait, `controller "${controller}": backoff`);
    });
  }

  #again(source: string, { priority }: ActiveReconcile, afterMs: number) {
    const atMs = this.#parts.clock.monotonic() + afterMs;
    return { note: [{ source, count: 1, atMs }], priority };
  }
}

const success: Outcome = { outcome: 'success' };
