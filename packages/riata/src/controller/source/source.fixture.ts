import { WorkQueue } from '../../queue/work-queue.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { seededRandom } from '../../runtime/random.js';
import { resolveRuntime } from '../../runtime/runtime.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { type Cause, type Request, requestQueueOptions } from '../loop/request.js';
import type { Source } from './source.js';

/** The keys that came out of a queue. */
export interface Taken {
  readonly name: string;
  readonly priority: number;
  readonly causes: readonly Cause[];
}

/** A queue that sources are started on, as a controller would. */
export function sourceBench(start?: string) {
  const clock = new VirtualClock(start === undefined ? {} : { start: Date.parse(start) });
  const log = memoryLogger();
  const runtime = resolveRuntime({ clock, log, random: seededRandom(1) });
  const queue = new WorkQueue<Request, readonly Cause[]>({ ...requestQueueOptions, clock, priority: true });
  const stop = new AbortController();
  /** All ready keys, processed. */
  const take = (): Taken[] => {
    const taken: Taken[] = [];
    for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) {
      const { key, priority, note = [] } = item;
      taken.push({ name: key.namespace ? `${key.namespace}/${key.name}` : key.name, priority, causes: note });
      queue.done(key);
    }
    return taken;
  };
  const names = () => take().map(({ name }) => name);
  const run = async (source: Source) => {
    await source.start(queue, { signal: stop.signal, runtime });
    await clock.settle();
  };
  const end = async () => {
    stop.abort();
    await clock.settle();
  };
  return { clock, log, queue, take, names, run, end };
}
