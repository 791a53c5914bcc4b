import type { Scheduler, Timer } from '../runtime/clock.js';
import { IndexedHeap, type Slotted } from './indexed-heap.js';

/** A key that waits for its time. */
export class DelayedItem<K, Note> implements Slotted {
  slot = -1;
  readonly id: string;
  readonly key: K;
  /** On the monotonic clock. */
  at: number;
  /** Equal times are released in this order. */
  readonly order: number;
  note: Note | undefined;
  priority: number;

  constructor(id: string, key: K, at: number, order: number, note: Note | undefined, priority: number) {
    this.id = id;
    this.key = key;
    this.at = at;
    this.order = order;
    this.note = note;
    this.priority = priority;
  }
}

/** Releases in one go, and how often the clock is looked at meanwhile: a block stays far below 15 ms. */
const sliceMs = 4;
const sliceSize = 4096;
const lookEvery = 128;

/** Keys by the time they are due, on one timer; a crowd that is due at once is released in slices. */
export class DelayedItems<K, Note> {
  readonly #clock: Scheduler;
  readonly #release: (item: DelayedItem<K, Note>) => void;
  /** Every item of the heap by its id, so each key waits once. */
  readonly #byId = new Map<string, DelayedItem<K, Note>>();
  readonly #heap = new IndexedHeap<DelayedItem<K, Note>>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  #order = 0;
  #timer: Timer | undefined;
  /** When the timer runs; infinite without one. Never after the first deadline, except while slices follow. */
  #timerAt = Number.POSITIVE_INFINITY;
  #slicing = false;

  constructor(clock: Scheduler, release: (item: DelayedItem<K, Note>) => void) {
    this.#clock = clock;
    this.#release = release;
  }

  get size(): number {
    return this.#heap.size;
  }

  get(id: string): DelayedItem<K, Note> | undefined {
    return this.#byId.get(id);
  }

  /** Adds a key that does not wait yet. */
  add(id: string, key: K, at: number, note: Note | undefined, priority: number): void {
    const item = new DelayedItem(id, key, at, this.#order++, note, priority);
    this.#byId.set(id, item);
    this.#heap.push(item);
    this.#arm();
  }

  /** Moves a waiting item to an earlier time. */
  advance(item: DelayedItem<K, Note>, at: number): void {
    item.at = at;
    this.#heap.raised(item);
    this.#arm();
  }

  /** Takes a key out before its time. */
  take(id: string): DelayedItem<K, Note> | undefined {
    const item = this.#byId.get(id);
    if (item === undefined) return undefined;
    this.#byId.delete(id);
    this.#heap.remove(item);
    this.#arm();
    return item;
  }

  clear(): void {
    this.#byId.clear();
    this.#heap.clear();
    this.#arm();
  }

  #arm(): void {
    if (this.#slicing) return;
    const next = this.#heap.peek()?.at ?? Number.POSITIVE_INFINITY;
    if (next === this.#timerAt) return;
    // A timer that comes too early finds nothing due and is set anew; without items there must be none.
    if (next > this.#timerAt && next !== Number.POSITIVE_INFINITY) return;
    this.#timer?.cancel();
    this.#timerAt = next;
    this.#timer =
      next === Number.POSITIVE_INFINITY ? undefined : this.#clock.after(next - this.#clock.monotonic(), this.#run);
  }

  readonly #run = (): void => {
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#slicing = true;
    let more = false;
    try {
      more = this.#releaseDue();
    } finally {
      this.#slicing = more;
      if (more) void this.#clock.yield().then(this.#run);
      else this.#arm();
    }
  };

  /** Releases what is due, a slice at most; tells whether some is left. */
  #releaseDue(): boolean {
    const start = this.#clock.monotonic();
    let now = start;
    let released = 0;
    for (let next = this.#heap.peek(); next !== undefined && next.at <= now; next = this.#heap.peek()) {
      if (released === sliceSize || now - start > sliceMs) return true;
      this.#heap.pop();
      this.#byId.delete(next.id);
      this.#release(next);
      released += 1;
      if (released % lookEvery === 0) now = this.#clock.monotonic();
    }
    return false;
  }
}
