import { type Scheduler, systemClock, VirtualClock } from 'riata/runtime';

/** How a test moves on: by a virtual clock where all is in this process, else by waiting. */
export interface TestTime {
  readonly clock: Scheduler;
  readonly isVirtual: boolean;
  /** Does everything that can happen without time moving; on real time, waits a moment. */
  quiet(): Promise<void>;
  /** Moves on to what is due next, no further than `untilMs` on the monotonic clock. False: nothing is due by then. */
  step(untilMs: number): Promise<boolean>;
  advance(ms: number): Promise<void>;
  /** As the promise, with time moving as far as it needs. `what` names it in the error if that is too far. */
  drive<T>(promise: Promise<T>, what: string): Promise<T>;
}

/** Virtual time that one call may take before something must be wrong. */
const longestDriveMs = 3_600_000;
const pollMs = 20;
const quietTurns = 3;

/** Time that moves only when it is needed. */
export class VirtualTime implements TestTime {
  readonly clock: VirtualClock;
  readonly isVirtual = true;

  constructor(clock: VirtualClock = new VirtualClock()) {
    this.clock = clock;
  }

  quiet(): Promise<void> {
    return this.clock.settle();
  }

  async step(untilMs: number): Promise<boolean> {
    const startMs = this.clock.monotonic();
    // Others may be moving time just now: that is waited for.
    if (!this.#isDue(untilMs)) await this.clock.settle();
    if (this.clock.monotonic() > startMs) return true;
    if (!this.#isDue(untilMs)) return false;
    await this.clock.advanceToNext();
    return true;
  }

  #isDue(untilMs: number): boolean {
    const { nextDeadline } = this.clock;
    return nextDeadline !== undefined && nextDeadline <= untilMs;
  }

  advance(ms: number): Promise<void> {
    return this.clock.advance(ms);
  }

  async drive<T>(promise: Promise<T>, what: string): Promise<T> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    promise.then(done, done);
    const untilMs = this.clock.monotonic() + longestDriveMs;
    for (;;) {
      await this.clock.settle();
      if (isDone) return promise;
      if (await this.step(untilMs)) continue;
      throw new Error(`${what}: still pending, and nothing happens within an hour of virtual time`);
    }
  }
}

/** The machine's own time: for servers behind a socket. */
export class RealTime implements TestTime {
  readonly clock = systemClock;
  readonly isVirtual = false;

  async quiet(): Promise<void> {
    await systemClock.sleep(pollMs);
    // Data that arrived while the process stood still is read only after the timers that were due meanwhile.
    for (let turn = 0; turn < quietTurns; turn += 1) await systemClock.yield();
  }

  async step(untilMs: number): Promise<boolean> {
    const leftMs = untilMs - systemClock.monotonic();
    if (leftMs <= 0) return false;
    await systemClock.sleep(Math.min(leftMs, pollMs));
    return true;
  }

  advance(ms: number): Promise<void> {
    return systemClock.sleep(ms);
  }

  drive<T>(promise: Promise<T>): Promise<T> {
    return promise;
  }
}
