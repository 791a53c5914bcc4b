import { keyId } from '../../object/key.js';
import type { WorkItem } from '../../queue/queue-entry.js';
import { type Cause, mergeCauses, type Request, type RequestQueue } from '../loop/request.js';

type Item = WorkItem<Request, readonly Cause[]>;

/** The keys of one cluster. */
interface Share {
  running: number;
  /** Keys that came while `running` was at its limit, by priority and id; never empty maps. */
  readonly waiting: Map<number, Map<string, Item>>;
}

/**
 * Limits the reconciles in flight of each cluster; the keys above the limit wait outside of the queue. Otherwise reconciles
 * that hang on a cluster which does not answer would take up all workers, and hold up all other clusters.
 *
 * Invariant: while keys of a cluster wait, its limit is reached, or one of its keys is in the queue. Each key that has run
 * or was dropped enqueues the next one.
 */
export class ClusterShares {
  /** Reconciles in flight of each cluster, at most. */
  most: number;
  readonly #queue: Pick<RequestQueue, 'add'>;
  /** By cluster, `''` for the one without a name; only of those where something runs or waits. */
  readonly #shares = new Map<string, Share>();

  constructor(most: number, queue: Pick<RequestQueue, 'add'>) {
    this.most = most;
    this.#queue = queue;
  }

  /** How many keys wait. */
  get waiting(): number {
    let count = 0;
    for (const { waiting } of this.#shares.values()) for (const items of waiting.values()) count += items.size;
    return count;
  }

  /** The request to run, which counts until {@link ended}; undefined if it has to wait. */
  admit(item: Item): Item | undefined {
    const cluster = item.key.cluster ?? '';
    const share = this.#shares.get(cluster) ?? { running: 0, waiting: new Map() };
    this.#shares.set(cluster, share);
    const merged = this.#withWaiting(share, item);
    if (share.running < this.most) {
      share.running += 1;
      return merged;
    }
    const items = share.waiting.get(merged.priority) ?? new Map<string, Item>();
    share.waiting.set(merged.priority, items.set(keyId(item.key), merged));
    return undefined;
  }

  /** A reconcile that was admitted has ended. */
  ended(key: Request): void {
    const share = this.#shares.get(key.cluster ?? '');
    if (share === undefined) return;
    share.running -= 1;
    this.next(key);
  }

  /** Enqueues one of the cluster's waiting keys, if it may run. */
  next({ cluster = '' }: Request): void {
    const share = this.#shares.get(cluster);
    if (share === undefined || share.running >= this.most) return;
    const item = this.#first(share);
    if (item !== undefined) this.#queue.add(item.key, { note: item.note, priority: item.priority });
    else if (share.running === 0) this.#shares.delete(cluster);
  }

  /** Merges the item with a waiting one of the same key. */
  #withWaiting(share: Share, item: Item): Item {
    const id = keyId(item.key);
    for (const items of share.waiting.values()) {
      const known = items.get(id);
      if (known === undefined) continue;
      remove(share, known);
      const priority = Math.max(known.priority, item.priority);
      return { key: item.key, note: mergeCauses(known.note ?? [], item.note ?? []), priority };
    }
    return item;
  }

  /** Removes the first item of the highest priority. */
  #first(share: Share): Item | undefined {
    if (share.waiting.size === 0) return undefined;
    const [item] = share.waiting.get(Math.max(...share.waiting.keys()))?.values() ?? [];
    if (item !== undefined) remove(share, item);
    return item;
  }
}

function remove({ waiting }: Share, { key, priority }: Item): void {
  const items = waiting.get(priority);
  items?.delete(keyId(key));
  if (items?.size === 0) waiting.delete(priority);
}
