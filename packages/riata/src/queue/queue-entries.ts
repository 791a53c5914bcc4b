import { LinkedList } from './linked-list.js';
import { QueueEntry } from './queue-entry.js';

/** How many idle entries are kept, 4 MB of them at most. */
const restLimit = 16_384;

/**
 * When there are that many, only one in this many takes the place of the oldest: if each one did, a round of more keys
 * than that would never find any, and pay for it.
 */
const turnAway = 8;

/**
 * The entries of a queue by id: those that are dirty or being worked on, and some thousands that were. Most keys are
 * added again soon, and finding an entry costs a tenth of creating, entering and removing one.
 */
export class QueueEntries<K, Note> {
  readonly #byId = new Map<string, QueueEntry<K, Note>>();
  /** The one that has been so longest first. */
  readonly #atRest = new LinkedList<QueueEntry<K, Note>>();
  #turnedAway = 0;

  get(id: string): QueueEntry<K, Note> | undefined {
    return this.#byId.get(id);
  }

  /** All of them, resting ones too. */
  values(): Iterable<QueueEntry<K, Note>> {
    return this.#byId.values();
  }

  /** The entry of a key that is about to become dirty; `found` is what `get` gave for it. */
  wake(found: QueueEntry<K, Note> | undefined, id: string, key: K): QueueEntry<K, Note> {
    if (found === undefined) {
      const entry = new QueueEntry<K, Note>(id, key);
      this.#byId.set(id, entry);
      return entry;
    }
    if (found.item === undefined) this.#atRest.remove(found);
    found.key = key;
    return found;
  }

  /** Says that an entry is neither dirty nor being worked on any more. */
  rest(entry: QueueEntry<K, Note>): void {
    const atRest = this.#atRest;
    if (atRest.size === restLimit) {
      this.#turnedAway = (this.#turnedAway + 1) % turnAway;
      const evicted = this.#turnedAway === 0 ? (atRest.first ?? entry) : entry;
      this.#byId.delete(evicted.id);
      if (evicted === entry) return;
      atRest.remove(evicted);
    }
    atRest.append(entry);
  }
}
