/** What a {@link LinkedList} can hold: it stores the neighbours in the item, so an item is on one list at a time. */
export interface Linked<T> {
  previous: T | undefined;
  next: T | undefined;
}

/** A list that items can leave from the middle, without anything made for them when they come. */
export class LinkedList<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;
  #size = 0;

  get first(): T | undefined {
    return this.#first;
  }

  get last(): T | undefined {
    return this.#last;
  }

  get size(): number {
    return this.#size;
  }

  /** Puts an item that is on no list at the end. */
  append(item: T): void {
    const last = this.#last;
    if (last === undefined) this.#first = item;
    else {
      item.previous = last;
      last.next = item;
    }
    this.#last = item;
    this.#size += 1;
  }

  /** Takes out an item of this list. */
  remove(item: T): void {
    const { previous, next } = item;
    if (previous === undefined) this.#first = next;
    else {
      previous.next = next;
      item.previous = undefined;
    }
    if (next === undefined) this.#last = previous;
    else {
      next.previous = previous;
      item.next = undefined;
    }
    this.#size -= 1;
  }
}
