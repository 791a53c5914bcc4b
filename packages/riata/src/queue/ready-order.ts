import { LinkedList } from './linked-list.js';
import type { QueueEntry } from './queue-entry.js';

/** Decides which of the keys that are ready comes next. */
export interface ReadyOrder<K, Note> {
  readonly size: number;
  /** Whether `push` needs to know the time. */
  readonly timed: boolean;
  /** Takes in an entry whose `priority`, `order` and `group` are set; `now` is on the monotonic clock. */
  push(entry: QueueEntry<K, Note>, now: number): void;
  pop(): QueueEntry<K, Note> | undefined;
  /** Gives an entry that is in this order a higher priority. */
  raise(entry: QueueEntry<K, Note>, priority: number): void;
}

/** First in, first out; priorities are carried along and change nothing. */
export class FifoOrder<K, Note> implements ReadyOrder<K, Note> {
  readonly timed = false;
  readonly #line = new LinkedList<QueueEntry<K, Note>>();

  get size(): number {
    return this.#line.size;
  }

  push(entry: QueueEntry<K, Note>): void {
    this.#line.append(entry);
  }

  pop(): QueueEntry<K, Note> | undefined {
    const entry = this.#line.first;
    if (entry !== undefined) this.#line.remove(entry);
    return entry;
  }

  raise(entry: QueueEntry<K, Note>, priority: number): void {
    entry.priority = priority;
  }
}
