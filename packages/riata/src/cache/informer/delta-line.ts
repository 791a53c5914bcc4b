import type { Delta } from './delta.js';

/** A queued change, with the key of its object; undefined if it is about all objects. */
export interface LinedDelta<out T> {
  readonly key: string | undefined;
  readonly delta: Delta<T>;
}

/** How many places at the front may be empty before the line moves up. */
const slack = 1024;

/** Queued changes: in at the end, out at the front. An array whose front moves, since `shift` moves the rest. */
export class DeltaLine<T> implements Iterable<LinedDelta<T>> {
  #places: (LinedDelta<T> | undefined)[] = [];
  #front = 0;

  get length(): number {
    return this.#places.length - this.#front;
  }

  push(entry: LinedDelta<T>): void {
    this.#places.push(entry);
  }

  /** Takes out entries from the front up to the first that does not belong, at most `limit`. */
  takeWhile(limit: number, belongs: (entry: LinedDelta<T>, at: number) => boolean): LinedDelta<T>[] {
    const taken: LinedDelta<T>[] = [];
    while (taken.length < limit) {
      const entry = this.#places[this.#front];
      if (entry === undefined || !belongs(entry, taken.length)) break;
      taken.push(entry);
      // The array stays; its contents must not.
      this.#places[this.#front++] = undefined;
    }
    if (this.#front === this.#places.length || (this.#front > slack && this.#front * 2 > this.#places.length)) {
      this.#places = this.#places.slice(this.#front);
      this.#front = 0;
    }
    return taken;
  }

  /** Puts entries in again before all others. */
  unshift(entries: readonly LinedDelta<T>[]): void {
    this.#places = [...entries, ...this.#places.slice(this.#front)];
    this.#front = 0;
  }

  *[Symbol.iterator](): Iterator<LinedDelta<T>> {
    for (let at = this.#front; at < this.#places.length; at += 1) {
      const entry = this.#places[at];
      if (entry !== undefined) yield entry;
    }
  }
}
