import type { Scheduler } from '../../runtime/time/clock.js';
import { TimeSlice } from '../../runtime/time/time-slice.js';

/**
 * Runs `work` for each item, at most `limit` at a time, in order. An error ends it; let `work` collect its own
 * failures. Work that awaits no I/O, as for objects that need no write, shares the {@link TimeSlice} of the clock.
 */
export async function inParallel<T>(
  clock: Scheduler,
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const slice = TimeSlice.of(clock);
  // The workers take turns anyway, so they count as one.
  const participant = {};
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const pause = slice.pass(participant);
      if (pause !== undefined) {
        await pause;
        if (next >= items.length) return;
      }
      const item = items[next] as T;
      next += 1;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
