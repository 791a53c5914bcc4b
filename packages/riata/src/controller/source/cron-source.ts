import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { parseCron } from './cron-schedule.js';
import type { Source } from './source.js';
import { withSlot } from './source-slot.js';
import { enqueueDue, type TimedKeys } from './timed-keys.js';

/** Options of {@link cronSource}. */
export interface CronSourceOptions {
  /** Whose clocks count, e.g. `Europe/Berlin`. @default 'UTC' */
  readonly timeZone?: string;
  /** In logs, and as the cause of what comes from it. @default 'cron' and the expression */
  readonly name?: string;
  /** Of the keys. @default 0 */
  readonly priority?: number;
  /** @default the controller's */
  readonly runtime?: Partial<Runtime>;
}

export const cronSourceOptionNames = optionNames<CronSourceOptions>({
  timeZone: true,
  name: true,
  priority: true,
  runtime: true,
});

/** The wall clock may be set meanwhile, or the machine may sleep: check again now and then. */
const longestSleepMs = 60_000;

/**
 * Keys at certain times, by a cron expression: `'30 3 * * 1-5'`, half past three on weekdays; see `parseCron` for what it
 * may hold, and what becomes of it when clocks change. Times that pass while the process does not run, or the machine
 * sleeps, come once, when it wakes up, if the source was running before; else not at all.
 *
 * @example
 * control(Report).source(({ reader }) => cronSource('0 6 * * *', allOf(reader, Report), { timeZone: 'Europe/Berlin' }))
 */
export function cronSource(expression: string, keys: TimedKeys, options: CronSourceOptions = {}): Source {
  refuseUnknownOptions('cronSource', options, cronSourceOptionNames);
  const { timeZone, name = `cron ${expression}`, priority = 0 } = options;
  const schedule = parseCron(expression, timeZone);
  const slot = { sort: `cron ${expression} ${timeZone}`, value: { keys, priority } };
  const source: Source = {
    name,
    async start(queue, { signal, runtime: given, cluster }) {
      const runtime = resolveRuntime({ ...given, ...options.runtime });
      const { clock } = runtime;
      const target = { name, queue, signal, runtime, cluster };
      const run = async () => {
        let after = clock.now();
        while (!signal.aborted) {
          const now = clock.now();
          // Set back: times that are due again by the new time fire again, and no wait for the old time remains.
          if (now < after) after = now;
          const due = schedule.next(after);
          if (due > now) {
            await clock.sleep(Math.min(due - now, longestSleepMs), { signal, background: true });
            continue;
          }
          after = now;
          await enqueueDue(slot, target, schedule.next(now) - now);
        }
      };
      // Only the signal ends it by a rejection.
      run().catch(() => {});
    },
  };
  return withSlot(source, slot);
}
