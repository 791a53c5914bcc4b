import { RunFailure } from './run-failure.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { HoldReason } from './watch-gate.js';

/** What is settled. */
interface SettledRun {
  readonly clock: { settle(): Promise<void>; monotonic(): number; advance(ms: number): Promise<void> };
  readonly time: { step(untilMs: number): Promise<boolean>; drive<T>(promise: Promise<T>, what: string): Promise<T> };
  readonly server: { idle(): Promise<void> };
  readonly processes: readonly SimulatedProcess[];
  readonly steps: number;
  readonly observer: { holdStep(reason: HoldReason): number };
  refuseFailure(): void;
  revive(): Promise<boolean>;
  travel(): boolean;
}

/** Work that takes longer, on the virtual clock, never ends. */
const longestMs = 1_800_000;
/** Processes that are busy for longer while events are held back may be waiting for these events. */
const heldMs = 2_000;

/**
 * Does everything that follows from what happened: processes that died start again, events that were held back arrive
 * when their time has come, and keys are reconciled that are due within the horizon.
 */
export async function settleRun(run: SettledRun, horizonMs: number, isEnd: boolean): Promise<void> {
  const { clock, time } = run;
  let horizonAt = clock.monotonic() + horizonMs;
  let giveUpAt = clock.monotonic() + longestMs;
  let heldSinceMs: number | undefined;
  for (;;) {
    await clock.settle();
    await time.drive(run.server.idle(), 'the server');
    run.refuseFailure();
    if (await run.revive()) {
      // A restart takes time, and what a new process has to try again counts as well.
      horizonAt = clock.monotonic() + horizonMs;
      continue;
    }
    const pending = run.processes.map((process) => process.pending).find((what) => what !== undefined);
    const isHeld = run.processes.some(({ line }) => line.holding.length > 0);
    heldSinceMs = isHeld ? (heldSinceMs ?? clock.monotonic()) : undefined;
    const isLongHeld = heldSinceMs !== undefined && clock.monotonic() - heldSinceMs >= heldMs;
    if ((pending === undefined || isLongHeld) && releaseHeld(run, isEnd)) {
      heldSinceMs = undefined;
      horizonAt = clock.monotonic() + horizonMs;
      continue;
    }
    if (pending === undefined && run.travel()) continue;
    if (pending !== undefined) {
      if (await time.step(giveUpAt)) continue;
      throw new RunFailure('settling', `still not settled after ${longestMs / 60_000} virtual minutes: ${pending}`);
    }
    const delayedMs = Math.min(...run.processes.map(({ nextDelayedMs }) => nextDelayedMs));
    if (!Number.isFinite(delayedMs) || clock.monotonic() + delayedMs > horizonAt) return;
    await clock.advance(delayedMs);
    giveUpAt = clock.monotonic() + longestMs;
  }
}

/** Lets events arrive whose time has come: `isEnd`, as no step of the story follows. False if there were none. */
function releaseHeld(run: SettledRun, isEnd: boolean): boolean {
  let isReleased = false;
  for (const { line } of run.processes) {
    line.catchUp();
    for (const gate of line.holding) {
      const reason = gate.hold as HoldReason;
      const isDue = reason === 'reordered' || reason === 'stale' || isEnd || run.steps > run.observer.holdStep(reason);
      if (!isDue) continue;
      isReleased = true;
      if (reason === 'missed') gate.expire();
      else gate.release();
    }
  }
  return isReleased;
}
