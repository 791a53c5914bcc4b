import { type Duration, durationMs } from '../../object/duration.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { lowPriority } from './change-intake.js';
import type { Source } from './source.js';
import { withSlot } from './source-slot.js';
import { enqueueDue, type TimedKeys } from './timed-keys.js';

/** Options of {@link intervalSource}. */
export interface IntervalSourceOptions {
  /** Each wait is longer by up to this part of it, by chance, so that replicas do not all come at once. @default 0.1 */
  readonly jitter?: number;
  /** Also at the start, instead of after the first wait. @default false */
  readonly atStart?: boolean;
  /** In logs, and as the cause of what comes from it. @default 'every' and the interval */
  readonly name?: string;
  /** Of the keys. @default -100, as they are not urgent */
  readonly priority?: number;
  /** @default the controller's */
  readonly runtime?: Partial<Runtime>;
}

export const intervalSourceOptionNames = optionNames<IntervalSourceOptions>({
  jitter: true,
  atStart: true,
  name: true,
  priority: true,
  runtime: true,
});

/**
 * Enqueues keys periodically, such as those of all objects of a kind: for state that changes without an event. If
 * finding them takes longer than the interval, the next time is later; missed times are not made up for.
 *
 * @example
 * control(Cart).source(({ reader }) => intervalSource('10m', allOf(reader, Cart)))
 */
export function intervalSource(every: Duration, keys: TimedKeys, options: IntervalSourceOptions = {}): Source {
  refuseUnknownOptions('intervalSource', options, intervalSourceOptionNames);
  const { jitter = 0.1, atStart = false, name = `every ${every}`, priority = lowPriority } = options;
  const everyMs = durationMs(every, 'intervalSource: every');
  if (!(everyMs >= 1)) throw new RangeError(`intervalSource: every must be at least 1ms, got ${every}`);
  if (!(jitter >= 0)) throw new RangeError(`intervalSource: jitter must be ≥ 0, got ${jitter}`);
  const slot = { sort: `every ${everyMs} ${jitter}`, value: { keys, priority } };
  const source: Source = {
    name,
    async start(queue, { signal, runtime: given, cluster }) {
      const runtime = resolveRuntime({ ...given, ...options.runtime });
      const { clock, random } = runtime;
      const target = { name, queue, signal, runtime, cluster };
      const run = async () => {
        if (atStart) await enqueueDue(slot, target, everyMs);
        while (!signal.aborted) {
          await clock.sleep(random.jitter(everyMs, jitter), { signal, background: true });
          await enqueueDue(slot, target, everyMs);
        }
      };
      // Only the signal ends it by a rejection.
      run().catch(() => {});
    },
  };
  return withSlot(source, slot);
}
