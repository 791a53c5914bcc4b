import { type Scheduler, TimeSlice } from 'riata/runtime';

/**
 * Work that may take long, with a result: it yields wherever the event loop may have a turn, or a promise that it waits
 * for (see {@link wait}). What others change meanwhile is for the work itself to notice.
 */
export type Steps<T> = Generator<Promise<unknown> | undefined, T, unknown>;

/** Waits for a promise within steps. Only {@link inSlices} can do such work. */
export function* wait<T>(promise: Promise<T>): Steps<T> {
  return (yield promise) as T;
}

/** Does all of it in one go. Throws an `Error` for work that waits for a promise. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value as T;
    if (value !== undefined) throw new Error('internal error: work that waits for a promise cannot be done at once');
  }
}

/** Does it in slices of time that are shared with everything else on the clock; at once if that is soon enough. */
export function inSlices<T>(clock: Scheduler, steps: Steps<T>): T | Promise<T> {
  const slice = TimeSlice.of(clock);
  const step = runSlice(slice, steps);
  return step.done === true ? step.value : afterTurn(slice, steps, step.value);
}

async function afterTurn<T>(slice: TimeSlice, steps: Steps<T>, first: Promise<unknown> | undefined): Promise<T> {
  for (let awaited = first; ; ) {
    let resume = next;
    if (awaited === undefined) await slice.wait();
    else resume = await resumption(awaited);
    const step = runSlice(slice, steps, resume);
    if (step.done === true) return step.value;
    awaited = step.value;
  }
}

type Resume = <T>(steps: Steps<T>) => IteratorResult<Promise<unknown> | undefined, T>;

const next: Resume = (steps) => steps.next();

/** How steps go on after a promise: with its value, or with its error thrown. */
async function resumption(promise: Promise<unknown>): Promise<Resume> {
  try {
    const value = await promise;
    return (steps) => steps.next(value);
  } catch (error) {
    return (steps) => steps.throw(error);
  }
}

/** Runs steps until they are done, wait for a promise or the slice is over. */
function runSlice<T>(
  slice: TimeSlice,
  steps: Steps<T>,
  resume: Resume = next,
): IteratorResult<Promise<unknown> | undefined, T> {
  const entered = slice.enter();
  try {
    let step = resume(steps);
    while (step.done !== true && step.value === undefined && !slice.isOver(entered)) step = steps.next();
    return step;
  } finally {
    slice.leave(entered);
  }
}
