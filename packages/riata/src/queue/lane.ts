import { Heap, type Slotted } from '../runtime/heap.js';
import { type Linked, LinkedList } from './linked-list.js';

/** What a lane knows of its entries. */
export interface Ordered<E> extends Slotted, Linked<E> {
  readonly order: number;
}

/** The ready keys of one group and one priority, by their `order`. */
export class Lane<E extends Ordered<E>> implements Linked<Lane<E>> {
  readonly group: string;
  /** Neighbours among the lanes that take turns. */
  previous: Lane<E> | undefined;
  next: Lane<E> | undefined;
  /** By `order`: nearly every key comes after those that are here. */
  readonly #line = new LinkedList<E>();
  /** Keys that came after one that they precede: they were running when they were added, or had another priority. */
  #late: Heap<E> | undefined;

  constructor(group: string) {
    this.group = group;
  }

  get size(): number {
    return this.#line.size + (this.#late?.size ?? 0);
  }

  first(): E | undefined {
    const inLine = this.#line.first;
    const late = this.#late?.peek();
    if (late === undefined || inLine === undefined) return inLine ?? late;
    return late.order < inLine.order ? late : inLine;
  }

  push(entry: E): void {
    const last = this.#line.last;
    if (last === undefined || last.order < entry.order) this.#line.append(entry);
    else {
      this.#late ??= new Heap(before);
      this.#late.push(entry);
    }
  }

  remove(entry: E): void {
    if (entry.slot < 0) this.#line.remove(entry);
    else this.#late?.remove(entry);
  }
}

function before<E extends Ordered<E>>(a: E, b: E): boolean {
  return a.order < b.order;
}
