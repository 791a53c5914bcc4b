// A program that is compiled for an older target has no `Disposable` otherwise, unless Node's types bring it along.
/// <reference lib="esnext.disposable" preserve="true" />

/** Reads time. Code that only reads the clock takes this; code that also waits takes a {@link Scheduler}. */
export interface Clock {
  /** Wall time in milliseconds since the epoch. It may jump: never measure a span with it. */
  now(): number;
  /** Milliseconds since an arbitrary start. Never goes back. */
  monotonic(): number;
  /** CPU time that this process has used, in milliseconds, all threads together. Virtual clocks don't have it. */
  cpuMs?(): number;
}

/** A pending call made by {@link Scheduler.after}. Disposing is the same as cancelling. */
export interface Timer extends Disposable {
  /** Forgets the call. Does nothing when it has already run. */
  cancel(): void;
}

/** How a timer is kept. */
export interface TimerOptions {
  /** A background timer does not keep the process alive. @default false */
  readonly background?: boolean;
}

/**
 * Time that one can wait for. The only way for the rest of Riata to set a timer, so that a test which moves a
 * `VirtualClock` moves all of it.
 */
export interface Scheduler extends Clock {
  /** Calls `fn` once, after `ms` milliseconds; a negative or zero `ms` means as soon as possible, never at once. */
  after(ms: number, fn: () => void, options?: TimerOptions): Timer;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as `signal` aborts. */
  sleep(ms: number, options?: TimerOptions & { readonly signal?: AbortSignal }): Promise<void>;
  /** Gives the event loop a turn: I/O and other tasks run before it resolves. */
  yield(): Promise<void>;
}
