import process from 'node:process';
import type { Runtime } from '../runtime/runtime.js';
import type { Timer } from '../runtime/time/clock.js';

/** For what the program does after its manager has ended. */
const lastWordsMs = 10_000;

/**
 * Ends the process, with the exit code that was set, if it has not ended by itself after ten seconds: a reconcile that
 * ignores its signal, or a connection that nobody closes, would keep it for ever, without probes, and nobody would start
 * it anew. Keeps nothing alive itself.
 */
export function endProcessLater({ clock, log }: Pick<Runtime, 'clock' | 'log'>, unfinished: readonly string[]): Timer {
  const end = () => {
    const keptBy = [...new Set(process.getActiveResourcesInfo())];
    log.error('the manager has stopped but the process has not, exiting now', { unfinished, keptBy });
    process.exit();
  };
  return clock.after(lastWordsMs, end, { background: true });
}
