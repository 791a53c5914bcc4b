import { type Scheduler, TimeSlice } from 'riata/runtime';

/**
 * Work that may take long, with a result: it yields wherever the event loop may have a turn. What others change meanwhile
 * is for the work itself to notice.
 */
export type Steps<T> = Generator<void, T, void>;

/** Does all of it in one go. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value as T;
  }
}

/** Does it in slices of time that are shared with everything else on the clock; at once if that is soon enough. */
export function inSlices<T>(clock: Scheduler, steps: Steps<T>): T | Promise<T> {
  const slice = TimeSlice.of(clock);
  const step = runSlice(slice, steps);
  return step.done === true ? step.value : afterTurn(slice, steps);
}

async function afterTurn<T>(slice: TimeSlice, steps: Steps<T>): Promise<T> {
  for (;;) {
    await slice.wait();
    const step = runSlice(slice, steps);
    if (step.done === true) return step.value;
  }
}

/** Runs steps until they are done or the slice is over. */
function runSlice<T>(slice: TimeSlice, steps: Steps<T>): IteratorResult<void, T> {
  const entered = slice.enter();
  try {
    let step = steps.next();
    while (step.done !== true && !slice.isOver(entered)) step = steps.next();
    return step;
  } finally {
    slice.leave(entered);
  }
}
