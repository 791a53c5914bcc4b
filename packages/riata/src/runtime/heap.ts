/** What a {@link Heap} can hold: it stores the position in the item. */
export interface Slotted {
  /** Place in the heap, or -1 outside of it. Only the heap writes it. */
  slot: number;
}

/**
 * A binary heap: `peek` and `pop` give the item that comes before all others. It can also take out, or put in its new
 * place, an item from the middle.
 */
export class Heap<T extends Slotted> {
  /** `items[i].slot === i`, and no item comes before its parent at `(i - 1) >> 1`. */
  readonly #items: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#rise(item, this.#items.push(item) - 1);
  }

  pop(): T | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Takes out an item that is in this heap. */
  remove(item: T): void {
    const at = item.slot;
    const last = this.#items.pop() as T;
    item.slot = -1;
    if (last === item) return;
    this.#sink(last, at);
    this.#rise(last, last.slot);
  }

  /** Says that an item of this heap now comes earlier than it did. */
  raised(item: T): void {
    this.#rise(item, item.slot);
  }

  #rise(item: T, from: number): void {
    const items = this.#items;
    const before = this.#before;
    let at = from;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = items[up] as T;
      if (!before(item, parent)) break;
      items[at] = parent;
      parent.slot = at;
      at = up;
    }
    items[at] = item;
    item.slot = at;
  }

  #sink(item: T, from: number): void {
    const items = this.#items;
    const before = this.#before;
    const size = items.length;
    let at = from;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= size) break;
      let child = items[down] as T;
      if (down + 1 < size && before(items[down + 1] as T, child)) {
        down += 1;
        child = items[down] as T;
      }
      if (!before(child, item)) break;
      items[at] = child;
      child.slot = at;
      at = down;
    }
    items[at] = item;
    item.slot = at;
  }
}
