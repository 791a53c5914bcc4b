import type { Scheduler, Timer } from '../runtime/time/clock.js';
import { TimeSlice } from '../runtime/time/time-slice.js';
import { DeadlineHeap } from './deadline-heap.js';
import { ShardedMap } from './sharded-map.js';

/** What {@link DelayedItems} does with notes, and with keys that are due. */
export interface DelayedItemsOptions<K, Note> {
  readonly clock: Scheduler;
  readonly merge: (earlier: Note | undefined, later: Note | undefined) => Note | undefined;
  readonly release: (id: string, key: K, note: Note | undefined, priority: number) => void;
}

/** Releases between two looks at the clock. */
const lookEvery = 128;
/** Beyond this many rows, their memory is freed once all are unused. */
const manyRows = 2048;

/** Keys by the time they are due, on one timer; a crowd that is due at once is released in slices. */
export class DelayedItems<K, Note> {
  readonly #clock: Scheduler;
  readonly #slice: TimeSlice;
  readonly #merge: DelayedItemsOptions<K, Note>['merge'];
  readonly #release: DelayedItemsOptions<K, Note>['release'];
  /** Every row of the heap by its id, so each key waits once. */
  readonly #rowOf = new ShardedMap<number>();
  readonly #heap = new DeadlineHeap();
  /** By row, undefined in free ones. */
  #ids: (string | undefined)[] = [];
  #keys: (K | undefined)[] = [];
  /** By row, and only values other than undefined and 0. */
  readonly #notes = new Map<number, Note>();
  readonly #priorities = new Map<number, number>();
  #timer: Timer | undefined;
  /** When the timer runs; infinite without one. Never after the first deadline, except while slices follow. */
  #timerAt = Number.POSITIVE_INFINITY;
  #slicing = false;

  constructor({ clock, merge, release }: DelayedItemsOptions<K, Note>) {
    this.#clock = clock;
    this.#slice = TimeSlice.of(clock);
    this.#merge = merge;
    this.#release = release;
  }

  get size(): number {
    return this.#heap.size;
  }

  /** When the first of them is due, on the monotonic clock. */
  get nextAt(): number | undefined {
    const first = this.#heap.first();
    return first < 0 ? undefined : this.#heap.at(first);
  }

  /** All of them, in no particular order. */
  *values(): Iterable<{ readonly key: K; readonly at: number; readonly note: Note | undefined; priority: number }> {
    for (const [row, id] of this.#ids.entries()) {
      if (id === undefined) continue;
      const [note, priority] = [this.#notes.get(row), this.#priorities.get(row) ?? 0];
      yield { key: this.#keys[row] as K, at: this.#heap.at(row), note, priority };
    }
  }

  /** Lets a key wait until `at`; if it waits already, for the earlier time, with both notes and the higher priority. */
  add(id: string, key: K, at: number, note: Note | undefined, priority: number): void {
    const waiting = this.#rowOf.get(id);
    if (waiting === undefined) {
      const row = this.#heap.add(at);
      this.#rowOf.set(id, row);
      this.#ids[row] = id;
      this.#keys[row] = key;
      this.#setNote(row, note);
      this.#setPriority(row, priority);
    } else {
      this.#setNote(waiting, this.#merge(this.#notes.get(waiting), note));
      this.#setPriority(waiting, Math.max(this.#priorities.get(waiting) ?? 0, priority));
      if (at < this.#heap.at(waiting)) this.#heap.advance(waiting, at);
    }
    this.#arm();
  }

  /** The note with which a waiting key will be released. */
  peek(id: string): { readonly note: Note | undefined; readonly priority: number } | undefined {
    const row = this.#rowOf.get(id);
    if (row === undefined) return undefined;
    return { note: this.#notes.get(row), priority: this.#priorities.get(row) ?? 0 };
  }

  /** Lets a key wait no longer, without a release. */
  remove(id: string): void {
    const row = this.#rowOf.get(id);
    if (row === undefined) return;
    this.#free(row, id);
    this.#arm();
  }

  clear(): void {
    this.#letGo();
    this.#arm();
  }

  #letGo(): void {
    this.#heap.clear();
    this.#rowOf.clear();
    this.#ids = [];
    this.#keys = [];
    this.#notes.clear();
    this.#priorities.clear();
  }

  #setNote(row: number, note: Note | undefined): void {
    if (note !== undefined) this.#notes.set(row, note);
  }

  #setPriority(row: number, priority: number): void {
    if (priority !== 0) this.#priorities.set(row, priority);
    else if (this.#priorities.size > 0) this.#priorities.delete(row);
  }

  #free(row: number, id: string): void {
    this.#heap.remove(row);
    this.#rowOf.delete(id);
    this.#ids[row] = undefined;
    this.#keys[row] = undefined;
    if (this.#notes.size > 0) this.#notes.delete(row);
    if (this.#priorities.size > 0) this.#priorities.delete(row);
    // After a flood, what held it goes too.
    if (this.#heap.size === 0 && this.#heap.rows > manyRows) this.#letGo();
  }

  #arm(): void {
    if (this.#slicing) return;
    const first = this.#heap.first();
    const next = first < 0 ? Number.POSITIVE_INFINITY : this.#heap.at(first);
    if (next === this.#timerAt) return;
    // A timer that fires too early finds nothing due and is set again; without items there must be no timer.
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
      if (more) void this.#slice.wait().then(this.#run);
      else this.#arm();
    }
  };

  /** Releases what is due, a slice at most; returns whether some is left. */
  #releaseDue(): boolean {
    const entered = this.#slice.enter();
    try {
      return this.#releaseSlice(entered);
    } finally {
      this.#slice.leave(entered);
    }
  }

  #releaseSlice(entered: number): boolean {
    let now = entered;
    // Before the first one, too: a thousand queues may have a crowd due at the same time.
    let released = lookEvery;
    for (let row = this.#heap.first(); row >= 0 && this.#heap.at(row) <= now; row = this.#heap.first()) {
      if (released === lookEvery) {
        if (this.#slice.isOver(entered)) return true;
        now = this.#clock.monotonic();
        released = 0;
      }
      const id = this.#ids[row] as string;
      const key = this.#keys[row] as K;
      const note = this.#notes.get(row);
      const priority = this.#priorities.get(row) ?? 0;
      this.#free(row, id);
      this.#release(id, key, note, priority);
      released += 1;
    }
    return false;
  }
}
