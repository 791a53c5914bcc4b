import type { Runtime } from '../runtime/runtime.js';

/** A stop that takes longer is worth a word. */
const quietMs = 2_000;
const hourMs = 3_600_000;

/**
 * Keeps the process alive while a manager stops: a reconcile that waits for something that holds no socket would
 * otherwise end it right there, before the lease is given up and events are written. Says after a moment what is waited
 * for. Ends when it is disposed.
 */
export function watchStopping(
  { clock, log }: Pick<Runtime, 'clock' | 'log'>,
  active: () => { readonly reconciles: readonly string[]; readonly runnables: readonly string[] },
  atMost: string,
): Disposable {
  const stay = () => {
    timer = clock.after(hourMs, stay);
  };
  let timer = clock.after(quietMs, () => {
    log.info('stopping, waiting for reconciles and runnables', { ...active(), atMost });
    stay();
  });
  return { [Symbol.dispose]: () => timer.cancel() };
}
