import { FailingObjects } from '../../cache/store/failing-objects.js';
import { type Duration, durationMs } from '../../object/duration.js';
import { keyId } from '../../object/key.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { abortable, link, onAbort } from '../../runtime/signals.js';
import { failureFields, readableError } from '../loop/failure-fields.js';
import {
  type Cause,
  distinctRequests,
  mergeCauses,
  placeRequest,
  type Request,
  type RequestQueue,
} from '../loop/request.js';
import { lowPriority } from './change-intake.js';
import type { Source } from './source.js';
import type { SourceFailures } from './source-failures.js';
import { type SourceSlot, withSlot } from './source-slot.js';

/** How a {@link pollerSource} reads another system. */
export interface PollerSourceOptions<T> {
  /** How often. @default '1m' */
  readonly every?: Duration;
  /** All items that there are; undefined if nothing has changed since the last time. */
  readonly poll: (options: { readonly signal: AbortSignal }) => Promise<Iterable<T> | undefined>;
  /** Identifies items. */
  readonly id: (item: T) => string;
  /** The keys to reconcile when the item is added, changed or removed. */
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

export const pollerSourceOptionNames = optionNames<PollerSourceOptions<unknown>>({
  every: true,
  poll: true,
  id: true,
  keys: true,
  version: true,
  timeout: true,
  jitter: true,
  name: true,
  runtime: true,
});

/** What is remembered of an item: not the item. */
interface Known {
  readonly version: string;
  readonly keys: readonly Request[];
}

/**
 * Polls another system, and enqueues the keys of items that were added, changed or removed since the last poll. On the
 * first poll all are new, and not urgent. A failed poll is logged and repeated after the interval; nothing counts as
 * removed then. An item that one of the functions fails for does not hold up the others.
 *
 * @example
 * control(Bucket).source(() => pollerSource({
 *   poll: ({ signal }) => cloud.listBuckets({ signal }),
 *   id: (bucket) => bucket.arn,
 *   keys: (bucket) => ({ namespace: bucket.tags.namespace, name: bucket.tags.name }),
 * }))
 */
export function pollerSource<T>(options: PollerSourceOptions<T>): Source {
  refuseUnknownOptions('pollerSource', options, pollerSourceOptionNames);
  const { every = '1m', jitter = 0.1, name = 'poller' } = options;
  const everyMs = durationMs(every, 'pollerSource: every');
  if (!(everyMs >= 1)) throw new RangeError(`pollerSource: every must be at least 1ms, got ${every}`);
  if (!(jitter >= 0)) throw new RangeError(`pollerSource: jitter must be ≥ 0, got ${jitter}`);
  const timeoutMs = durationMs(options.timeout ?? every, 'pollerSource: timeout');
  const slot: SourceSlot<PollerSourceOptions<T>> = { sort: `poll ${everyMs} ${jitter} ${timeoutMs}`, value: options };
  const source: Source = {
    name,
    async start(queue, { signal, runtime: given, cluster, failures }) {
      const runtime = resolveRuntime({ ...given, ...options.runtime });
      const { clock, random, log } = runtime;
      const items = new PolledItems({ name, slot, queue, runtime, cluster, failures });
      const shown = failures?.add({ name, cluster, objects: items.failing, causesOf: () => [] });
      onAbort(signal, () => shown?.[Symbol.dispose]());
      const run = async () => {
        while (!signal.aborted) {
          try {
            using scope = link({ signals: [signal], timeoutMs, clock, what: `the poll of source "${name}"` });
            const found = await abortable(slot.value.poll({ signal: scope.signal }), scope.signal);
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
  return withSlot(source, slot);
}

interface PolledItemsParts<T> {
  readonly name: string;
  readonly slot: SourceSlot<PollerSourceOptions<T>>;
  readonly queue: RequestQueue;
  readonly runtime: Runtime;
  readonly cluster: string | undefined;
  readonly failures: SourceFailures | undefined;
}

class PolledItems<T> {
  /** Items that a function fails for; the next poll is their retry. */
  readonly failing: FailingObjects<undefined>;
  readonly #parts: PolledItemsParts<T>;
  /** None before the first time. */
  #known: ReadonlyMap<string, Known> | undefined;

  constructor(parts: PolledItemsParts<T>) {
    this.#parts = parts;
    this.failing = new FailingObjects<undefined>(parts.runtime, () => {});
  }

  /** An unreadable item counts as unchanged; if its id is unknown, no item counts as removed. */
  take(found: Iterable<T>): void {
    const { name, slot, queue, runtime } = this.#parts;
    const { id, version = (item: T) => JSON.stringify(item) } = slot.value;
    const before = this.#known;
    const now = new Map<string, Known>();
    const failed = new Set<string>();
    let isNoneGone = false;
    let at = -1;
    for (const item of found) {
      at += 1;
      // The name of an item without a known id.
      let itemId = `item ${at}`;
      let func = 'id';
      try {
        itemId = id(item);
        if (now.has(itemId)) throw new Error(`duplicate item id ${JSON.stringify(itemId)}`);
        func = 'version';
        const itsVersion = version(item);
        func = 'keys';
        now.set(itemId, { version: itsVersion, keys: this.#keysOf(item) });
      } catch (error) {
        if (now.has(itemId)) throw error;
        const known = before?.get(itemId);
        if (func === 'id') isNoneGone = true;
        else if (known !== undefined) now.set(itemId, known);
        failed.add(itemId);
        this.#failed(itemId, func, error);
      }
    }
    if (isNoneGone) for (const [itemId, known] of before ?? []) if (!now.has(itemId)) now.set(itemId, known);
    for (const [itemId] of [...this.failing]) if (!failed.has(itemId)) this.failing.delete(itemId);
    this.#parts.failures?.changed(name);
    this.#known = now;
    const due = new Due(name, runtime.clock.monotonic());
    for (const [itemId, known] of now) {
      const old = before?.get(itemId);
      if (old === undefined) due.add(known.keys, 'Added', itemId);
      else if (old.version !== known.version) due.add([...known.keys, ...old.keys], 'Updated', itemId);
    }
    for (const [itemId, known] of before ?? []) {
      if (!now.has(itemId)) due.add(known.keys, 'Deleted', itemId);
    }
    const priority = before === undefined ? lowPriority : 0;
    for (const { key, note } of due.keys) queue.add(key, { note, priority });
  }

  #failed(itemId: string, func: string, thrown: unknown): void {
    const { name: source, failures, runtime } = this.#parts;
    const fields = failureFields(readableError(thrown));
    const { error, at } = fields;
    const failure = { key: itemId, function: func, error, ...(typeof at === 'string' && { at }) };
    const { attempt, isNews } = this.failing.add(itemId, undefined, failure, { retry: false });
    failures?.count(source, func);
    const details = { source, function: func, item: itemId, attempt, ...fields };
    if (isNews) runtime.log.error('function failed for one item, will be retried by the next poll', details);
    else runtime.log.debug('function failed for one item, will be retried by the next poll', details);
  }

  #keysOf(item: T): readonly Request[] {
    const { slot, cluster } = this.#parts;
    const keys = slot.value.keys(item);
    return (Symbol.iterator in keys ? [...keys] : [keys]).map((key) => placeRequest(key, cluster));
  }
}

/** The keys of a poll, each once, with all its causes. */
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
