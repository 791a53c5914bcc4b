import process from 'node:process';
import { keptIn } from '../kept-in.js';
import type { Scheduler } from './clock.js';

/** Longest run of work before the event loop gets a turn. Socket reads and garbage collection come on top. */
const sliceMs = 5;
/** A participant hands over to the next one after this time. */
const shareMs = 1;
/** Work below this is counted, but isn't worth a turn of its own to reset the count. */
const unnoticedMs = 1;

/** The engine's own, whatever a test framework puts in its place later. */
const { nextTick } = process;

/**
 * Where a clock has its slice. An event loop has one clock, and everything that runs on it must share one slice: streams
 * know a clock and no manager, and two managers in one process block the same loop.
 */
const ownSlice = Symbol('riata.timeSlice');

interface Waiter {
  readonly participant: object | undefined;
  resolve(): void;
  next: Waiter | undefined;
}

/**
 * Limits how long everything on one clock together blocks the event loop: streams that decode, informers that apply and
 * deliver changes, queues that release delayed keys, controllers that reconcile.
 *
 * Synchronous work calls {@link enter}, asks {@link isOver} between two steps, and calls {@link leave}. When the slice is
 * over, it awaits {@link wait}. Work that awaits in the middle of a step, such as a reconcile, calls {@link pass} before
 * each step instead. Those that wait resume one at a time, in order: the next one only when the previous one has nothing
 * left to do without I/O, so that a thousand of them cannot use up a thousand slices in one turn.
 */
export class TimeSlice {
  readonly #clock: Scheduler;
  /** Work since the event loop is known to have turned; exact only while no turn is pending. */
  #busyMs = 0;
  /** While a turn is pending, all time from here on is part of the same turn. */
  #beganMs = 0;
  #isTurning = false;
  #firstWaiter: Waiter | undefined;
  #lastWaiter: Waiter | undefined;
  /** True until the microtasks that follow the last release have run. */
  #isReleasing = false;
  #releasedMs: number | undefined;
  /** The participant that {@link pass} has admitted, until its microtasks have run. */
  #participant: object | undefined;

  private constructor(clock: Scheduler) {
    this.#clock = clock;
  }

  static of(clock: Scheduler): TimeSlice {
    return keptIn(clock, ownSlice, () => new TimeSlice(clock));
  }

  /** Starts a piece of synchronous work. Pass the result to {@link isOver} and {@link leave}. */
  enter(): number {
    return this.#clock.monotonic();
  }

  /** Whether the work that started at `enteredMs` must wait: the slice is used up, or others have waited long enough. */
  isOver(enteredMs: number): boolean {
    const nowMs = this.#clock.monotonic();
    const ranMs = nowMs - enteredMs;
    const spentMs = this.#isTurning ? nowMs - this.#beganMs : this.#busyMs + ranMs;
    return spentMs >= sliceMs || (ranMs >= shareMs && this.#firstWaiter !== undefined);
  }

  /** Whether finished work has used up the slice. */
  get isSpent(): boolean {
    return (this.#isTurning ? this.#clock.monotonic() - this.#beganMs : this.#busyMs) >= sliceMs;
  }

  /** Ends or interrupts the work that started at `enteredMs`. */
  leave(enteredMs: number): void {
    if (this.#isTurning) return;
    this.#busyMs += this.#clock.monotonic() - enteredMs;
    if (this.#busyMs >= unnoticedMs) this.#turn();
  }

  /** Resolves when it is the caller's turn: after the event loop had one, if the slice is used up. */
  wait(): Promise<void> {
    return this.#wait(undefined);
  }

  /** Lets `participant` take one step: at once if the result is undefined, else when the promise resolves. */
  pass(participant: object): Promise<void> | undefined {
    if (this.#participant === participant) {
      if (!this.isOver(this.#releasedMs as number)) return undefined;
    } else if (!this.#isReleasing && this.#firstWaiter === undefined && !this.isSpent) {
      this.#admit(participant);
      return undefined;
    }
    return this.#wait(participant);
  }

  #wait(participant: object | undefined): Promise<void> {
    return new Promise((resolve) => {
      const waiter: Waiter = { participant, resolve, next: undefined };
      if (this.#lastWaiter === undefined) this.#firstWaiter = waiter;
      else this.#lastWaiter.next = waiter;
      this.#lastWaiter = waiter;
      if (!this.#isReleasing) this.#afterMicrotasks();
    });
  }

  #admit(participant: object | undefined): void {
    this.#participant = participant;
    this.#releasedMs = this.#clock.monotonic();
    this.#afterMicrotasks();
  }

  /** A tick that a microtask asks for runs when no microtask is left, before any I/O. */
  #afterMicrotasks(): void {
    this.#isReleasing = true;
    queueMicrotask(this.#tick);
  }

  readonly #tick = (): void => nextTick(this.#releaseNext);

  readonly #releaseNext = (): void => {
    this.#isReleasing = false;
    this.#participant = undefined;
    if (this.#releasedMs !== undefined) this.leave(this.#releasedMs);
    this.#releasedMs = undefined;
    const waiter = this.#firstWaiter;
    if (waiter === undefined) return;
    if (this.isSpent) {
      this.#turn();
      return;
    }
    this.#firstWaiter = waiter.next;
    if (waiter.next === undefined) this.#lastWaiter = undefined;
    this.#admit(waiter.participant);
    waiter.resolve();
  };

  #turn(): void {
    if (this.#isTurning) return;
    this.#isTurning = true;
    this.#beganMs = this.#clock.monotonic() - this.#busyMs;
    void this.#clock.yield().then(this.#turned);
  }

  readonly #turned = (): void => {
    this.#isTurning = false;
    this.#busyMs = 0;
    if (!this.#isReleasing) this.#releaseNext();
  };
}
