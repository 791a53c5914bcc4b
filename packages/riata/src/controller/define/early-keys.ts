import { keyId } from '../../object/key.js';
import type { WorkItem } from '../../queue/queue-entry.js';
import { type Cause, mergeCauses, type Request, type RequestQueue } from '../loop/request.js';

type Item = WorkItem<Request, readonly Cause[]>;

/** Keys that were enqueued before they may run, each once, with all its causes. */
export class EarlyKeys {
  readonly #items = new Map<string, Item>();

  add(item: Item): void {
    const id = keyId(item.key);
    const known = this.#items.get(id);
    if (known === undefined) this.#items.set(id, item);
    else this.#items.set(id, merged(known, item));
  }

  /** Puts all of them in line. */
  release(queue: RequestQueue): void {
    for (const { key, note, priority } of this.#items.values()) queue.add(key, { note, priority });
    this.#items.clear();
  }
}

function merged(earlier: Item, later: Item): Item {
  const note = mergeCauses(earlier.note ?? [], later.note ?? []);
  return { key: later.key, note, priority: Math.max(earlier.priority, later.priority) };
}
