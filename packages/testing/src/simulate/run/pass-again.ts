import { failingReconciles } from '../../failing-reconciles.js';
import type { VirtualTime } from '../../test-time.js';
import { RunFailure, type ViolatedRule } from './run-failure.js';
import type { RunObserver } from './run-observer.js';
import type { SimulatedProcess } from './simulated-process.js';

/** What {@link passAgain} works with. */
export interface SecondPass {
  readonly processes: readonly SimulatedProcess[];
  readonly observer: RunObserver;
  readonly time: VirtualTime;
  readonly settle: () => Promise<void>;
  readonly isExcepted: (rule: ViolatedRule) => boolean;
}

/** A second pass over all objects: it should not write anything. */
export async function passAgain({ processes, observer, time, settle, isExcepted }: SecondPass): Promise<void> {
  for (const { manager } of processes) {
    if (!manager.isLeading || isExcepted('no failing reconcile')) continue;
    const [failing] = failingReconciles(manager.explain);
    if (failing !== undefined) throw new RunFailure('no failing reconcile', `the last reconcile failed: ${failing}`);
  }
  if (isExcepted('steady state')) return;
  const from = observer.writes.length;
  for (const { manager, isDead } of processes) {
    if (!isDead) await time.drive(manager.passAgain(), 'the second pass');
  }
  await settle();
  const writes = observer.writes.slice(from).map(({ verb, object }) => `${verb} ${object}`);
  // A fault during the pass has its consequences.
  if (writes.length === 0 || observer.happenedSince(from)) return;
  throw new RunFailure(
    'steady state',
    `a second pass made a write, and should make none: ${[...new Set(writes)].join(', ')}`,
  );
}
