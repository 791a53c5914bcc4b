import process from 'node:process';
import type { Runtime } from '../runtime/runtime.js';
import type { Timer } from '../runtime/time/clock.js';

/** For what the program does after its manager has ended. */
const lastWordsMs = 10_000;

/**
 * Exits the process after ten seconds, with the exit code that was set, if it is still running by then. A reconcile
 * that ignores its signal, or a connection that is never closed, would keep it alive forever, without probes, so that
 * nothing would restart it. Keeps nothing alive itself.
 */
export function endProcessLater({ clock, log }: Pick<Runtime, 'clock' | 'log'>, unfinished: readonly string[]): Timer {
  const end = () => {
    const keptBy = [...new Set(process.getActiveResourcesInfo())];
    log.error('the manager has stopped but the process has not, exiting now', { unfinished, keptBy });
    process.exit();
  };
  return clock.after(lastWordsMs, end, { background: true });
}
