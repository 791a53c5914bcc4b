import type { QueueEntry } from './queue-entry.js';

/** Decides which of the keys that are ready comes next. */
export interface ReadyOrder<K, Note> {
  readonly size: number;
  push(entry: QueueEntry<K, Note>): void;
  pop(): QueueEntry<K, Note> | undefined;
  /** Gives an entry that is in this order a higher priority. */
  raise(entry: QueueEntry<K, Note>, priority: number): void;
}

/** First in, first out; priorities are carried along and change nothing. */
export class FifoOrder<K, Note> implements ReadyOrder<K, Note> {
  #head: QueueEntry<K, Note> | undefined;
  #tail: QueueEntry<K, Note> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(entry: QueueEntry<K, Note>): void {
    if (this.#tail === undefined) this.#head = entry;
    else this.#tail.next = entry;
    this.#tail = entry;
    this.#size += 1;
  }

  pop(): QueueEntry<K, Note> | undefined {
    const entry = this.#head;
    if (entry === undefined) return undefined;
    this.#head = entry.next;
    if (this.#head === undefined) this.#tail = undefined;
    entry.next = undefined;
    this.#size -= 1;
    return entry;
  }

  raise(entry: QueueEntry<K, Note>, priority: number): void {
    entry.priority = priority;
  }
}
