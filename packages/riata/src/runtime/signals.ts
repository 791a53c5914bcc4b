import { keptIn } from './kept-in.js';
import { Timeout } from './stop-reasons.js';
import type { Scheduler, Timer } from './time/clock.js';

/**
 * All waiters for one signal, behind a single listener. Node's own listener list is walked on every add (a thousand
 * waiting requests make each further one slow) and warns from the eleventh on.
 */
class Hub {
  /** Attached to the signal exactly while this is not empty, unless the creator of the signal calls it. */
  readonly #waiting = new Set<Subscription>();
  readonly #signal: AbortSignal | undefined;

  /** Without a signal it listens to nothing. */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  get size(): number {
    return this.#waiting.size;
  }

  add(subscription: Subscription): void {
    if (this.#waiting.size === 0) this.#signal?.addEventListener('abort', this.fire);
    this.#waiting.add(subscription);
  }

  delete(subscription: Subscription): void {
    if (this.#waiting.delete(subscription) && this.#waiting.size === 0) {
      this.#signal?.removeEventListener('abort', this.fire);
    }
  }

  readonly fire = (): void => {
    this.#signal?.removeEventListener('abort', this.fire);
    let failure: { error: unknown } | undefined;
    for (const subscription of this.#waiting) {
      this.#waiting.delete(subscription);
      try {
        subscription.fn();
      } catch (error) {
        failure ??= { error };
      }
    }
    // The others have been called; the event target now reports this as an uncaught exception.
    if (failure) throw failure.error;
  };
}

class Subscription implements Disposable {
  readonly #hub: Hub;
  readonly fn: () => void;

  constructor(hub: Hub, fn: () => void) {
    this.#hub = hub;
    this.fn = fn;
  }

  [Symbol.dispose](): void {
    this.#hub.delete(this);
  }
}

/** Where a signal has its hub. */
const ownHub = Symbol('riata.hub');
/** Where it has its source, if that may follow others. */
const ownSource = Symbol('riata.source');
/** Where the signal of a link has its parents. */
const ownParents = Symbol('riata.parents');
type OwnSignal = AbortSignal & {
  [ownHub]?: Hub;
  [ownSource]?: AbortSource;
  [ownParents]?: readonly AbortSignal[];
};
const nothing: Disposable = { [Symbol.dispose]() {} };

/**
 * Calls `fn` once when `signal` aborts; at once when it already has. Calls come in the order of their registration,
 * and one that throws does not keep the others from being called. Dispose the answer when the wait is over: nothing
 * stays on the signal then. Any number may wait on one signal.
 */
export function onAbort(signal: AbortSignal | undefined, fn: () => void): Disposable {
  if (signal === undefined) return nothing;
  if (signal.aborted) {
    fn();
    return nothing;
  }
  const hub = hubOf(signal);
  const subscription = new Subscription(hub, fn);
  hub.add(subscription);
  return subscription;
}

function hubOf(signal: AbortSignal): Hub {
  return (signal as OwnSignal)[ownHub] ?? keptIn(signal, ownHub, () => new Hub(signal));
}

/**
 * An `AbortController` for signals that are created by the thousand: it calls {@link onAbort} callbacks directly, since
 * adding a listener to Node's event target and removing it again costs more than most of the work under the signal. The
 * signal itself is created on first use.
 */
export class AbortSource {
  #controller: AbortController | undefined;
  #hub: Hub | undefined;
  #outcome: { readonly reason: unknown } | undefined;
  readonly #mayFollow: boolean;
  #followed: Map<AbortSignal, Disposable> | undefined;

  /** `mayFollow`: the receiver of the signal may have it abort with another one, too; see {@link follow}. */
  constructor({ mayFollow = false }: { readonly mayFollow?: boolean } = {}) {
    this.#mayFollow = mayFollow;
  }

  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    this.#controller = new AbortController();
    this.#hub = new Hub();
    const signal: OwnSignal = this.#controller.signal;
    signal[ownHub] = this.#hub;
    if (this.#mayFollow) signal[ownSource] = this;
    if (this.#outcome !== undefined) this.#controller.abort(this.#outcome.reason);
    return signal;
  }

  get aborted(): boolean {
    return this.#outcome !== undefined;
  }

  /** Whether it has `onAbort` callbacks. Listeners to the signal's own event are unknown. */
  get isWaitedFor(): boolean {
    return this.#hub !== undefined && this.#hub.size > 0;
  }

  /** The first reason stays. */
  abort(reason?: unknown): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = { reason };
    this.unfollow();
    this.#controller?.abort(reason);
    try {
      this.#hub?.fire();
    } catch (error) {
      // As an event target does with what a listener throws.
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  /** Aborts with this one, too. */
  follow(parent: AbortSignal): void {
    if (this.#outcome !== undefined || this.#followed?.has(parent)) return;
    this.#followed ??= new Map();
    this.#followed.set(
      parent,
      onAbort(parent, () => this.abort(parent.reason)),
    );
  }

  /** Stops following other signals. */
  unfollow(): void {
    if (this.#followed === undefined) return;
    for (const held of this.#followed.values()) held[Symbol.dispose]();
    this.#followed = undefined;
  }
}

/**
 * Has a signal abort with `parent`, too, if it is of an {@link AbortSource} that may; false if not. Cheaper than a
 * {@link link} for each thing that is done under the signal.
 */
export function follow(signal: AbortSignal | undefined, parent: AbortSignal): boolean {
  const source = (signal as OwnSignal | undefined)?.[ownSource];
  source?.follow(parent);
  return source !== undefined;
}

/** A separate signal that also aborts when its parents do. Disposing detaches it from the parents without aborting. */
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal;
  /** Aborts this signal, not its parents; the first reason stays. */
  abort(reason?: unknown): void;
}

/** The options of {@link link}. */
export type LinkOptions = {
  /** Parents; the first to abort gives the reason. Missing ones are skipped. */
  readonly signals?: Iterable<AbortSignal | undefined>;
  /** The subject of the {@link Timeout}'s message. @default 'the operation' */
  readonly what?: string;
} & (
  | {
      /** Aborts with a {@link Timeout} after this long. Its timer does not keep the process alive. @default Infinity */
      readonly timeoutMs?: number;
      /** The clock that the timeout runs on. */
      readonly clock: Scheduler;
    }
  | { readonly timeoutMs?: undefined; readonly clock?: undefined }
);

class Link implements LinkedSignal {
  readonly #source = new AbortSource();
  readonly #parents: AbortSignal[] = [];
  #held: Disposable[] = [];
  #timer: Timer | undefined;

  constructor({ signals = [], timeoutMs = Number.POSITIVE_INFINITY, clock, what = 'the operation' }: LinkOptions) {
    if (timeoutMs !== Number.POSITIVE_INFINITY && clock === undefined) {
      throw new TypeError(`link: timeoutMs ${timeoutMs} requires a clock; pass { timeoutMs, clock }`);
    }
    for (const parent of signals) {
      if (parent === undefined) continue;
      this.#parents.push(parent);
      this.#held.push(onAbort(parent, () => this.abort(parent.reason)));
      if (parent.aborted) return;
    }
    if (timeoutMs !== Number.POSITIVE_INFINITY) {
      const expire = () => this.abort(new Timeout(`${what} took longer than ${Math.round(timeoutMs)} ms`));
      this.#timer = clock?.after(timeoutMs, expire, { background: true });
    }
  }

  get signal(): AbortSignal {
    const signal: OwnSignal = this.#source.signal;
    signal[ownParents] = this.#parents;
    return signal;
  }

  abort(reason?: unknown): void {
    this[Symbol.dispose]();
    this.#source.abort(reason);
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
    for (const held of this.#held) held[Symbol.dispose]();
    this.#held = [];
    this.#parents.length = 0;
  }
}

/** A signal and all signals that it is linked to, near ones first, until the links are disposed. */
export function* lineageOf(signal: AbortSignal | undefined): Generator<AbortSignal, undefined> {
  if (signal === undefined) return;
  yield signal;
  for (const parent of (signal as OwnSignal)[ownParents] ?? []) yield* lineageOf(parent);
}

/**
 * Makes a signal that aborts when one of `signals` does, with the same reason, and that has to be disposed when the
 * work is done. It stands in for `AbortSignal.any`, which costs several times as much and stays on its parents.
 *
 * @example
 * using scope = link({ signals: [options.signal, stopping], timeoutMs: 30_000, clock });
 * await fetchAll({ signal: scope.signal });
 */
export function link(...signals: readonly (AbortSignal | undefined)[]): LinkedSignal;
export function link(options: LinkOptions): LinkedSignal;
export function link(...input: readonly (AbortSignal | LinkOptions | undefined)[]): LinkedSignal {
  const [first] = input;
  if (first !== undefined && !('aborted' in first)) return new Link(first);
  return new Link({ signals: input as readonly (AbortSignal | undefined)[] });
}

/** A {@link link} of these that is created when its signal is first read: most work ends before that. */
export class LateLink implements Disposable {
  readonly #parents: readonly (AbortSignal | undefined)[];
  #link: LinkedSignal | undefined;

  constructor(...parents: readonly (AbortSignal | undefined)[]) {
    this.#parents = parents;
  }

  get signal(): AbortSignal {
    this.#link ??= link(...this.#parents);
    return this.#link.signal;
  }

  [Symbol.dispose](): void {
    this.#link?.[Symbol.dispose]();
  }
}

/** Throws the signal's reason when it has aborted; a missing signal never has. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason;
}

/**
 * Settles as `promise` does, or rejects with the signal's reason as soon as it aborts. The work behind `promise` is
 * not stopped by this, only no longer waited for; a later rejection of it is swallowed. Leaves nothing on the signal.
 */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return Promise.resolve(promise);
  return new Promise<T>((resolve, reject) => {
    const waiting = onAbort(signal, () => reject(signal.reason));
    promise.then(
      (value) => {
        waiting[Symbol.dispose]();
        resolve(value);
      },
      (error: unknown) => {
        waiting[Symbol.dispose]();
        reject(error);
      },
    );
  });
}

/**
 * Whether `error` is only the echo of this signal's abort: its reason itself, something caused by it, or the
 * `AbortError` that Node's own functions throw. Errors that merely happened after the abort are not.
 */
export function isAbortOf(signal: AbortSignal | undefined, error: unknown): boolean {
  if (!signal?.aborted) return false;
  if (error === signal.reason) return true;
  return error instanceof Error && (error.name === 'AbortError' || error.cause === signal.reason);
}
