import type { Logger } from '../../runtime/log/logger.js';
import { isStopReason } from '../../runtime/stop-reasons.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { type CallMemory, type CallName, type CallSite, type Track, withCaller } from './call-memory.js';
import { type CallUse, watchUse } from './watch-use.js';

/** One call, until it has settled and its promise was used. */
interface TrackedCall extends CallUse {
  readonly name: CallName;
  readonly site: CallSite | undefined;
  state: 'pending' | 'done' | 'failed';
  error: unknown;
  /** The one that user code has. */
  promise?: Promise<unknown>;
}

/** What {@link TrackedCalls} need. */
export interface TrackedCallsParts {
  readonly memory: CallMemory;
  readonly clock: Scheduler;
  readonly log: () => Logger;
  /** Whose calls these are: `reconciler`, `handler`, `map function`. */
  readonly caller: string;
}

/**
 * The calls that one run of user code makes through what it was given. The run isn't over before they are. A call that it
 * did not await is reported, and if that call fails, the run fails.
 */
export class TrackedCalls {
  readonly #parts: TrackedCallsParts;
  /** Pending calls, and calls that failed while their promise was unused. */
  readonly #open = new Set<TrackedCall>();
  #pending = 0;
  #hasFailed = false;
  #isOver = false;
  #onIdle: (() => void) | undefined;
  #unhandled: { readonly error: unknown } | undefined;

  constructor(parts: TrackedCallsParts) {
    this.#parts = parts;
  }

  readonly track: Track = (work, name) => {
    const { memory, log, caller } = this.#parts;
    const call: TrackedCall = { name, site: memory.siteOf(name), state: 'pending', error: undefined, use: 'none' };
    this.#open.add(call);
    this.#pending += 1;
    const promise = this.#makeCall(call, work);
    watchUse(promise, call);
    call.promise = promise;
    if (this.#isOver) memory.report(call, log(), `the ${caller} made a call after it had returned`);
    return promise;
  };

  /**
   * Awaits the call inside of the promise that the user gets. A second reaction on the user's promise would keep V8 from
   * following the user's await, and the stack of a failure would not name the user's line.
   */
  async #makeCall<T>(call: TrackedCall, work: () => Promise<T>): Promise<T> {
    try {
      const answer = await work();
      this.#succeeded(call);
      return answer;
    } catch (error) {
      // A call that throws at once would have failed before the caller has the promise.
      if (call.promise === undefined) await undefined;
      this.#failed(call, error);
      throw error;
    }
  }

  /** Whether any call is pending. */
  get isPending(): boolean {
    return this.#pending > 0;
  }

  /** Whether {@link settle} has anything to do. */
  get isOpen(): boolean {
    return this.#open.size > 0 || this.#unhandled !== undefined;
  }

  /**
   * Called when the user's function has returned: reports the calls that it did not await, waits for them, and rejects with
   * the first unhandled failure.
   */
  async settle(): Promise<void> {
    const { memory, log, caller } = this.#parts;
    const message = `the ${caller} returned without awaiting a call`;
    for (const call of this.#open) {
      if (this.#isForgotten(call)) memory.report(call, log(), message);
    }
    await this.drain();
    const failed = [...this.#open].find(({ use }) => use === 'none');
    this.#open.clear();
    if (failed !== undefined) throw withCaller(failed.error, failed.site);
    if (this.#unhandled !== undefined) throw this.#unhandled.error;
  }

  /** Resolves when no call is pending, and the code that continued after the last one has made no other. */
  async drain(): Promise<void> {
    do {
      while (this.#pending > 0) {
        await new Promise<void>((resolve) => {
          this.#onIdle = resolve;
        });
      }
      // Functions that are not awaited continue here; if they fail, Node reports it.
      await this.#parts.clock.yield();
    } while (this.#pending > 0);
    this.#onIdle = undefined;
  }

  /** Calls that are made from now on are too late. */
  end(): void {
    this.#isOver = true;
  }

  readonly #onUnhandled = (error: unknown): void => {
    if (this.#isOver) this.#logLate(error);
    else this.#unhandled ??= { error };
  };

  /**
   * A pending call was forgotten although its promise is awaited: by a function that is not awaited itself, or in a
   * `Promise.all` that isn't. Unless another call has failed: then the code that waited for both has moved on.
   */
  #isForgotten({ use, state }: TrackedCall): boolean {
    return use === 'none' || (state === 'pending' && use === 'awaited' && !this.#hasFailed);
  }

  #succeeded(call: TrackedCall): void {
    this.#open.delete(call);
    if (call.use !== 'none') this.#parts.memory.used(call.name);
    this.#settled(call, 'done');
  }

  #failed(call: TrackedCall, error: unknown): void {
    call.error = error;
    this.#parts.memory.failed(error, { site: call.site, onUnhandled: this.#onUnhandled });
    if (call.use !== 'none') {
      this.#hasFailed = true;
      this.#open.delete(call);
      this.#parts.memory.used(call.name);
    } else {
      // Its failure would end the process.
      call.promise?.then(undefined, () => {});
      call.use = 'none';
      if (this.#isOver) this.#logLate(withCaller(error, call.site));
    }
    this.#settled(call, 'failed');
  }

  #settled(call: TrackedCall, state: 'done' | 'failed'): void {
    call.state = state;
    this.#pending -= 1;
    if (this.#pending === 0) this.#onIdle?.();
  }

  #logLate(error: unknown): void {
    if (isStopReason(error)) return;
    this.#parts.log().error(`a call that the ${this.#parts.caller} did not await has failed`, { error });
  }
}
