import { formatKey } from '../../object/key.js';
import { isApiError } from '../../rest/errors/api-error.js';
import { isTransportError } from '../../rest/errors/transport-error.js';
import type { Logger } from '../../runtime/log/logger.js';
import { errorChain, framesOf, userFrame } from '../../runtime/log/user-frame.js';
import { isStopReason } from '../../runtime/stop-reasons.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { readableError } from '../loop/failure-fields.js';
import { type CallUse, watchUse } from './promise-use.js';

/** What was called, and with what; put into words when somebody looks. */
export interface CallName {
  readonly verb: string;
  /** The first one is a kind, an object or a key; the second one may be a key, or options. */
  readonly args: readonly unknown[];
}

/** Makes a call for user code that was given the means to; the promise is the user's to await. */
export type Track = <T>(work: () => Promise<T>, name: CallName) => Promise<T>;

/** Calls that were awaited so often: whoever makes one like it is not looked up any more, as that takes microseconds. */
const trustedAfter = 100;
/** No more lines than these are reported. */
const mostLines = 100;

const hint =
  'await the call, or return its promise; in a loop use for…of, or await Promise.all(…), and not forEach(async …)';

/** What a controller remembers of the calls of its reconciles: which mistakes are reported, and whose failure is whose. */
export class CallMemory {
  readonly #trust = new Map<string, Map<string, number>>();
  readonly #reported = new Set<string>();
  readonly #failed = new WeakMap<object, FailedCall>();

  /** Whoever makes a call now; undefined once calls like it have always been awaited. */
  siteOf({ verb, args }: CallName): CallSite | undefined {
    const count = this.#trust.get(verb)?.get(kindOf(args)) ?? 0;
    if (count >= trustedAfter) return undefined;
    const site: CallSite = {};
    Error.captureStackTrace(site);
    return site;
  }

  /** A call was awaited. */
  used({ verb, args }: CallName): void {
    let kinds = this.#trust.get(verb);
    if (kinds === undefined) {
      kinds = new Map();
      this.#trust.set(verb, kinds);
    }
    const kind = kindOf(args);
    const count = kinds.get(kind) ?? 0;
    if (count < trustedAfter) kinds.set(kind, count + 1);
  }

  /** Logs a mistake, once for each line of the user's. */
  report({ name, site, state }: TrackedCall, log: Logger, message: string): void {
    this.#trust.get(name.verb)?.set(kindOf(name.args), Number.NEGATIVE_INFINITY);
    const at = userFrame(site?.stack);
    const line = at ?? `${name.verb} ${kindOf(name.args)}`;
    if (this.#reported.has(line) || this.#reported.size >= mostLines) return;
    this.#reported.add(line);
    log.warn(message, { call: describeCall(name), state, ...(at !== undefined && { at }), hint });
  }

  /** An error has failed a call: if nobody handles it, it is that run's. */
  failed(error: unknown, call: FailedCall): void {
    if (typeof error === 'object' && error !== null) this.#failed.set(error, call);
  }

  /** Hears of a rejection that nobody handled; true if it comes from a call that was tracked. */
  readonly take = (reason: unknown): boolean => {
    const calls = this.nameCaller(readableError(reason));
    calls?.unhandled(reason);
    return calls !== undefined;
  };

  /** Has the stack of what failed a call name the user's line, if it does not. Gives the run that made the call. */
  nameCaller(thrown: unknown): TrackedCalls | undefined {
    for (const error of errorChain(thrown)) {
      const call = this.#failed.get(error);
      if (call === undefined) continue;
      withCaller(error, call.site);
      return call.calls;
    }
    return undefined;
  }
}

interface FailedCall {
  readonly calls: TrackedCalls;
  readonly site: CallSite | undefined;
}

/** Holds the stack of a call. */
interface CallSite {
  stack?: string;
}

/** One call, until it has settled and its promise was used. */
interface TrackedCall extends CallUse {
  readonly name: CallName;
  readonly site: CallSite | undefined;
  state: 'pending' | 'done' | 'failed';
  error: unknown;
  /** The user's. */
  promise?: Promise<unknown>;
}

/** What {@link TrackedCalls} stand on. */
export interface TrackedCallsParts {
  readonly memory: CallMemory;
  readonly clock: Scheduler;
  readonly log: () => Logger;
  /** Whose calls these are: `reconciler`, `handler`, `map function`. */
  readonly caller: string;
}

/**
 * The calls that one run of user code makes through what it was given. It is not over before they are; one that it did not
 * await is reported, and fails it if it fails itself.
 */
export class TrackedCalls {
  readonly #parts: TrackedCallsParts;
  /** Those that are pending, and those that failed while nobody had used their promise. */
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
   * Hears of the end of a call as one who awaits it. As a second one who is told by the user's promise, it would keep V8
   * from following the user's await, and the stack of a failure from naming the user's line.
   */
  async #makeCall<T>(call: TrackedCall, work: () => Promise<T>): Promise<T> {
    try {
      const answer = await work();
      this.#succeeded(call);
      return answer;
    } catch (error) {
      // What throws at once would be done before anybody has the promise.
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
   * the first failure that nobody has handled.
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

  /** Resolves when no call is pending, and what goes on after the last one has made no other. */
  async drain(): Promise<void> {
    do {
      while (this.#pending > 0) {
        await new Promise<void>((resolve) => {
          this.#onIdle = resolve;
        });
      }
      // Functions that nobody awaits go on from here; and if they fail, Node says so.
      await this.#parts.clock.yield();
    } while (this.#pending > 0);
    this.#onIdle = undefined;
  }

  /** From now on, calls come too late. */
  end(): void {
    this.#isOver = true;
  }

  /** Nobody has handled this failure of a call. */
  unhandled(error: unknown): void {
    if (this.#isOver) this.#tellLate(error);
    else this.#unhandled ??= { error };
  }

  /**
   * A call whose promise was awaited, by a function that nobody awaits, or that was given to `Promise.all`, is as good as
   * forgotten; but not if another one has failed, for which those who waited for both have left.
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
    this.#parts.memory.failed(error, { calls: this, site: call.site });
    if (call.use !== 'none') {
      this.#hasFailed = true;
      this.#open.delete(call);
      this.#parts.memory.used(call.name);
    } else {
      // Nobody looks at it, so that its failure would end the process.
      call.promise?.then(undefined, () => {});
      call.use = 'none';
      if (this.#isOver) this.#tellLate(withCaller(error, call.site));
    }
    this.#settled(call, 'failed');
  }

  #settled(call: TrackedCall, state: 'done' | 'failed'): void {
    call.state = state;
    this.#pending -= 1;
    if (this.#pending === 0) this.#onIdle?.();
  }

  #tellLate(error: unknown): void {
    if (isStopReason(error)) return;
    this.#parts.log().error(`a call that the ${this.#parts.caller} did not await has failed`, { error });
  }
}

/**
 * Tracks the calls of a client that belongs to no run of user code, such as that of a shared controller: nothing can wait
 * for them, or fail with them. One that nobody looks at is logged if it fails, and does not end the process.
 */
export function trackUnowned(log: Logger): Track {
  const memory = new CallMemory();
  return (work, name) => {
    const call: CallUse & { promise?: Promise<unknown> } = { use: 'none', site: memory.siteOf(name) };
    const makeCall = async () => {
      try {
        const answer = await work();
        if (call.use !== 'none') memory.used(name);
        return answer;
      } catch (error) {
        if (call.promise === undefined) await undefined;
        if (call.use === 'none') {
          call.promise?.then(undefined, () => {});
          const at = userFrame((call.site as CallSite | undefined)?.stack);
          const fields = { call: describeCall(name), error, ...(at !== undefined && { at }), hint };
          log.error('a call that nobody awaited has failed', fields);
        }
        throw error;
      }
    };
    const promise = makeCall();
    watchUse(promise, call);
    call.promise = promise;
    return promise;
  };
}

/** An answer that nobody awaited has no line of the user's in its stack: that of the call is put behind it. */
function withCaller(error: unknown, site: CallSite | undefined): unknown {
  const isAnswer = isApiError(error) || isTransportError(error);
  if (isAnswer && userFrame(error.stack) === undefined) {
    const lines = framesOf(site?.stack).map((frame) => `\n    at ${frame}`);
    error.stack = `${error.stack ?? error}${lines.join('')}`;
  }
  return error;
}

function kindOf([first]: readonly unknown[]): string {
  const kind = (first as { readonly kind?: unknown } | undefined)?.kind;
  return typeof kind === 'string' ? kind : '';
}

/** As `patch ConfigMap shop/cart`. */
function describeCall({ verb, args }: CallName): string {
  type Named = { readonly metadata?: Named; readonly namespace?: string; readonly name?: string };
  const [first, second] = args as readonly (Named | undefined)[];
  const { name, namespace } = first?.metadata ?? (kindOf(args) === '' ? first : second) ?? {};
  const key = name === undefined ? namespace : formatKey({ namespace, name });
  return [verb, kindOf(args), key].filter(Boolean).join(' ');
}
