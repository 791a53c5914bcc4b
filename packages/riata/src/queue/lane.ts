import { Heap } from '../runtime/heap.js';
import { type Linked, LinkedList } from './linked-list.js';
import type { QueueEntry } from './queue-entry.js';

/** The ready keys of one group and one priority, by their `order`. */
export class Lane<K, Note> implements Linked<Lane<K, Note>> {
  readonly group: string;
  /** Neighbours among the lanes that take turns. */
  previous: Lane<K, Note> | undefined;
  next: Lane<K, Note> | undefined;
  /** By `order`: nearly every key comes after those that are here. */
  readonly #line = new LinkedList<QueueEntry<K, Note>>();
  /** Those that came after a key which they go before: they ran when they were added, or had another priority. */
  #late: Heap<QueueEntry<K, Note>> | undefined;

  constructor(group: string) {
    this.group = group;
  }

  get size(): number {
    return this.#line.size + (this.#late?.size ?? 0);
  }

  first(): QueueEntry<K, Note> | undefined {
    const inLine = this.#line.first;
    const late = this.#late?.peek();
    if (late === undefined || inLine === undefined) return inLine ?? late;
    return late.order < inLine.order ? late : inLine;
  }

  push(entry: QueueEntry<K, Note>): void {
    const last = this.#line.last;
    if (last === undefined || last.order < entry.order) this.#line.append(entry);
    else {
      this.#late ??= new Heap(before);
      this.#late.push(entry);
    }
  }

  remove(entry: QueueEntry<K, Note>): void {
    if (entry.slot < 0) this.#line.remove(entry);
    else this.#late?.remove(entry);
  }
}

function before<K, Note>(a: QueueEntry<K, Note>, b: QueueEntry<K, Note>): boolean {
  return a.order < b.order;
}
