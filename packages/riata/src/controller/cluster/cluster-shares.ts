import { keyId } from '../../object/key.js';
import type { WorkItem } from '../../queue/queue-entry.js';
import { type Cause, mergeCauses, type Request, type RequestQueue } from '../loop/request.js';

type Item = WorkItem<Request, readonly Cause[]>;

/** What is going on in one cluster. */
interface Share {
  running: number;
  /** Keys that came while all its places were taken, by priority and id; never empty maps. */
  readonly waiting: Map<number, Map<string, Item>>;
}

/**
 * Lets so many reconciles run at once in each cluster, and has the keys beyond wait outside of the queue: reconciles that
 * hang on a cluster which does not answer would otherwise take up all workers, and with them all other clusters.
 *
 * While keys of a cluster wait, all its places are taken, or one of them is on its way through the queue: whoever runs or
 * is dropped has the next one follow.
 */
export class ClusterShares {
  readonly #most: number;
  readonly #queue: () => Pick<RequestQueue, 'add'>;
  /** By cluster, `''` for the one without a name; only of those where something runs or waits. */
  readonly #shares = new Map<string, Share>();

  constructor(most: number, queue: () => Pick<RequestQueue, 'add'>) {
    this.#most = most;
    this.#queue = queue;
  }

  /** How many keys wait. */
  get waiting(): number {
    let count = 0;
    for (const { waiting } of this.#shares.values()) for (const items of waiting.values()) count += items.size;
    return count;
  }

  /** What to run, which takes a place until {@link ended}; undefined if it has to wait. */
  admit(item: Item): Item | undefined {
    const cluster = item.key.cluster ?? '';
    const share = this.#shares.get(cluster) ?? { running: 0, waiting: new Map() };
    this.#shares.set(cluster, share);
    const merged = this.#withWaiting(share, item);
    if (share.running < this.#most) {
      share.running += 1;
      return merged;
    }
    const items = share.waiting.get(merged.priority) ?? new Map<string, Item>();
    share.waiting.set(merged.priority, items.set(keyId(item.key), merged));
    return undefined;
  }

  /** A reconcile has ended, and all that it had begun. */
  ended(key: Request): void {
    const share = this.#shares.get(key.cluster ?? '');
    if (share === undefined) return;
    share.running -= 1;
    this.next(key);
  }

  /** Puts one of the cluster's keys in line, if one waits and may run. */
  next({ cluster = '' }: Request): void {
    const share = this.#shares.get(cluster);
    if (share === undefined || share.running >= this.#most) return;
    const item = this.#first(share);
    if (item !== undefined) this.#queue().add(item.key, { note: item.note, priority: item.priority });
    else if (share.running === 0) this.#shares.delete(cluster);
  }

  /** The same key may have come before. */
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

  /** Takes out the first of the highest priority. */
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
