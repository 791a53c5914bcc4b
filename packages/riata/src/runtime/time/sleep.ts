import { onAbort } from '../signals.js';
import type { Scheduler, TimerOptions } from './clock.js';

/** The `sleep` of every {@link Scheduler}, made of its `after`. */
export function sleepOn(
  clock: Pick<Scheduler, 'after'>,
  ms: number,
  options: TimerOptions & { readonly signal?: AbortSignal } = {},
): Promise<void> {
  const { signal } = options;
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise<void>((resolve, reject) => {
    const timer = clock.after(
      ms,
      () => {
        waiting[Symbol.dispose]();
        resolve();
      },
      options,
    );
    const waiting = onAbort(signal, () => {
      timer.cancel();
      reject(signal?.reason);
    });
  });
}

/** The delay for `ms`: never negative; NaN is a mistake of the caller. */
export function delayOf(ms: number): number {
  if (typeof ms !== 'number' || Number.isNaN(ms)) {
    throw new TypeError(`timer: the delay must be a number of milliseconds, got ${String(ms)}`);
  }
  return Math.max(0, ms);
}
