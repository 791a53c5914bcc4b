import { type Duration, durationMs } from '../object/duration.js';
import { keyId } from '../object/key.js';
import type { Scheduler } from '../runtime/clock.js';
import { type Runtime, resolveRuntime } from '../runtime/runtime.js';
import { abortable, link } from '../runtime/signals.js';
import { lowPriority } from './change-intake.js';
import { type Cause, distinctRequests, mergeCauses, placeRequest, type Request, type RequestQueue } from './request.js';
import type { Source } from './source.js';

/** What a {@link pollerSource} is told of the system that it asks. */
export interface PollerSourceOptions<T> {
  /** How often. @default '1m' */
  readonly every?: Duration;
  /** All items that there are; undefined if nothing has changed since the last time. */
  readonly poll: (options: { readonly signal: AbortSignal }) => Promise<Iterable<T> | undefined>;
  /** Tells items apart. */
  readonly id: (item: T) => string;
  /** What has to be reconciled when the item comes, changes or goes. */
  readonly keys: (item: T) => Request | Iterable<Request>;
  /** Changes with the item: a version, an ETag. It is kept for each item. @default its JSON */
  readonly version?: (item: T) => string;
  /** A poll that takes longer has failed; one that ignores its signal may still run when the next begins. @default the interval */
  readonly timeout?: Duration;
  /** Each wait is longer by up to this part of it, by chance. @default 0.1 */
  readonly jitter?: number;
  /** In logs, and as the cause of what comes from it. @default 'poller' */
  readonly name?: string;
  /** @default the controller's */
  readonly runtime?: Partial<Runtime>;
}

/** What is kept of an item: not the item. */
interface Known {
  readonly version: string;
  readonly keys: readonly Request[];
}

/**
 * Asks another system again and again, and puts the keys of what came, changed or went since the last time into the
 * queue. The first time, all is new, and not urgent. What fails is logged, and asked for again after the interval;
 * nothing counts as gone then.
 *
 * @example
 * control(Bucket).source(() => pollerSource({
 *   poll: ({ signal }) => cloud.listBuckets({ signal }),
 *   id: (bucket) => bucket.arn,
 *   keys: (bucket) => ({ namespace: bucket.tags.namespace, name: bucket.tags.name }),
 * }))
 */
export function pollerSource<T>(options: PollerSourceOptions<T>): Source {
  const { every = '1m', jitter = 0.1, name = 'poller' } = options;
  const everyMs = durationMs(every, 'pollerSource: every');
  if (!(everyMs >= 1)) throw new RangeError(`pollerSource: every wants at least 1ms, got ${every}`);
  if (!(jitter >= 0)) throw new RangeError(`pollerSource: jitter wants a number from 0 up, got ${jitter}`);
  const timeoutMs = durationMs(options.timeout ?? every, 'pollerSource: timeout');
  return {
    name,
    async start(queue, { signal, runtime: given, cluster }) {
      const { clock, random, log } = resolveRuntime({ ...given, ...options.runtime });
      const items = new PolledItems(name, options, queue, clock, cluster);
      const run = async () => {
        while (!signal.aborted) {
          try {
            using scope = link({ signals: [signal], timeoutMs, clock, what: `the poll of source "${name}"` });
            const found = await abortable(options.poll({ signal: scope.signal }), scope.signal);
            if (found !== undefined && !signal.aborted) items.take(found);
          } catch (error) {
            if (signal.aborted) return;
            log.error('a poll failed', { source: name, error });
          }
          await clock.sleep(random.jitter(everyMs, jitter), { signal, background: true });
        }
      };
      // Only the signal ends it by a rejection.
      run().catch(() => {});
    },
  };
}

class PolledItems<T> {
  readonly #name: string;
  readonly #options: PollerSourceOptions<T>;
  readonly #queue: RequestQueue;
  readonly #clock: Scheduler;
  readonly #cluster: string | undefined;
  /** None before the first time. */
  #known: ReadonlyMap<string, Known> | undefined;

  constructor(
    name: string,
    options: PollerSourceOptions<T>,
    queue: RequestQueue,
    clock: Scheduler,
    cluster: string | undefined,
  ) {
    this.#name = name;
    this.#options = options;
    this.#queue = queue;
    this.#clock = clock;
    this.#cluster = cluster;
  }

  /** All or nothing: if one item cannot be read, the others are not taken either, and none counts as gone. */
  take(found: Iterable<T>): void {
    const { id, version = (item: T) => JSON.stringify(item) } = this.#options;
    const before = this.#known;
    const now = new Map<string, Known>();
    for (const item of found) {
      const itemId = id(item);
      if (now.has(itemId)) throw new Error(`there are two items with the id ${JSON.stringify(itemId)}`);
      now.set(itemId, { version: version(item), keys: this.#keysOf(item) });
    }
    this.#known = now;
    const due = new Due(this.#name, this.#clock.monotonic());
    for (const [itemId, known] of now) {
      const old = before?.get(itemId);
      if (old === undefined) due.add(known.keys, 'Added', itemId);
      else if (old.version !== known.version) due.add([...known.keys, ...old.keys], 'Updated', itemId);
    }
    for (const [itemId, known] of before ?? []) {
      if (!now.has(itemId)) due.add(known.keys, 'Deleted', itemId);
    }
    const priority = before === undefined ? lowPriority : 0;
    for (const { key, note } of due.keys) this.#queue.add(key, { note, priority });
  }

  #keysOf(item: T): readonly Request[] {
    const keys = this.#options.keys(item);
    return (Symbol.iterator in keys ? [...keys] : [keys]).map((key) => placeRequest(key, this.#cluster));
  }
}

/** Keys that a poll leads to, each once, with all that led to it. */
class Due {
  readonly #source: string;
  readonly #atMs: number;
  readonly #keys = new Map<string, { readonly key: Request; readonly note: readonly Cause[] }>();

  constructor(source: string, atMs: number) {
    this.#source = source;
    this.#atMs = atMs;
  }

  get keys(): Iterable<{ readonly key: Request; readonly note: readonly Cause[] }> {
    return this.#keys.values();
  }

  add(keys: readonly Request[], change: 'Added' | 'Updated' | 'Deleted', object: string): void {
    const cause = { source: this.#source, change, object, count: 1, atMs: this.#atMs };
    for (const key of distinctRequests(keys)) {
      const id = keyId(key);
      this.#keys.set(id, { key, note: mergeCauses(this.#keys.get(id)?.note ?? [], [cause]) });
    }
  }
}
