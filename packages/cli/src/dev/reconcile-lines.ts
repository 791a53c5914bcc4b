import { createLogger, type LogFields, type Logger } from 'riata/runtime';

/** Lines about reconciles within a second, at most: new code reconciles every object. */
const perSecond = 20;

/**
 * A logger that also shows each reconcile that has written something, as a line for people: which object, what it wrote,
 * how long it took. Everything else goes to `log`, by its own level.
 */
export function withReconcileLines(
  log: Logger,
  { show, monotonic }: { readonly show: (line: string) => void; readonly monotonic: () => number },
): Logger {
  let second = -1;
  let count = 0;
  return createLogger((level, message, fields) => {
    log[level](message, fields);
    if (level !== 'debug' || message !== 'reconciled') return;
    const line = reconcileLine(fields);
    if (line === undefined) return;
    const now = Math.floor(monotonic() / 1000);
    count = now === second ? count + 1 : 1;
    second = now;
    if (count <= perSecond) show(line);
    else if (count === perSecond + 1) show('… and more');
  }, 'debug');
}

function reconcileLine({ controller, key, writes, durationMs }: LogFields): string | undefined {
  if (!Array.isArray(writes) || writes.length === 0) return undefined;
  const took = typeof durationMs === 'number' ? ` in ${Math.round(durationMs)} ms` : '';
  return `reconciled ${String(controller)} ${String(key)}${took}: ${writes.join(', ')}`;
}
