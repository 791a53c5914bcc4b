import type { Logger } from '../../runtime/log/logger.js';
import { thrownAt, userFrame } from '../../runtime/log/user-frame.js';
import type { Counter } from '../../runtime/metrics.js';
import type { Runtime } from '../../runtime/runtime.js';
import { isStopReason } from '../../runtime/stop-reasons.js';
import { awaitHint, CallMemory, type CallName, type CallSite, describeCall, type Track } from './call-memory.js';
import { type CallUse, watchUse } from './watch-use.js';

interface UnownedCall extends CallUse {
  readonly site: CallSite | undefined;
  /** The reconciles in flight when the call was made. */
  readonly during: readonly string[];
  /** The one that user code has. */
  promise?: Promise<unknown>;
}

/**
 * The calls of clients that belong to no single run of user code, such as a manager's or a shared controller's. No
 * reconcile can wait for them, or fail with them. A failure that nothing handles is logged with operation, object and the
 * user's line, and counted; give {@link take} to `takeRejections` so that it doesn't end the process.
 */
export class UnownedCalls {
  readonly #memory = new CallMemory();
  readonly #log: Logger;
  readonly #failures: Counter<'verb'>;
  readonly #inFlight: () => readonly string[];

  /** `inFlight`: the reconciles that are running, for the log line. */
  constructor({ log, metrics }: Pick<Runtime, 'log' | 'metrics'>, inFlight: () => readonly string[] = () => []) {
    this.#log = log;
    this.#inFlight = inFlight;
    this.#failures = metrics.counter({
      name: 'riata_unhandled_call_failures_total',
      help: 'Failed calls of clients that were used outside of what a reconciler was given, and that nothing handled.',
      labels: ['verb'],
    });
  }

  /** Receives a rejection that nothing handled; true if it comes from a call made here. */
  readonly take = (reason: unknown): boolean => this.#memory.take(reason);

  readonly track: Track = (work, name) => {
    const site = this.#memory.siteOf(name);
    const call: UnownedCall = { use: 'none', site, during: site === undefined ? [] : this.#inFlight() };
    const promise = this.#makeCall(call, name, work);
    watchUse(promise, call);
    call.promise = promise;
    return promise;
  };

  async #makeCall<T>(call: UnownedCall, name: CallName, work: () => Promise<T>): Promise<T> {
    try {
      const answer = await work();
      if (call.use !== 'none') this.#memory.used(name);
      return answer;
    } catch (error) {
      // A call that throws at once would have failed before the caller has the promise.
      if (call.promise === undefined) await undefined;
      let onUnhandled = (reason: unknown) => this.#report(call, name, reason);
      if (call.use === 'none') {
        onUnhandled(error);
        onUnhandled = () => {};
        call.promise?.then(undefined, () => {});
      }
      this.#memory.failed(error, { site: call.site, onUnhandled });
      throw error;
    }
  }

  #report({ site, during }: UnownedCall, name: CallName, error: unknown): void {
    this.#memory.distrust(name);
    if (isStopReason(error)) return;
    this.#failures.with({ verb: name.verb }).inc();
    const at = thrownAt(error) ?? userFrame(site?.stack);
    this.#log.error('a call failed, and nothing awaited it or handled its failure', {
      ...{ call: describeCall(name), error, ...(at !== undefined && { at }) },
      ...(during.length > 0 && { during }),
      hint: awaitHint,
    });
  }
}
