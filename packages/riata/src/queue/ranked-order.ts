import { Heap } from '../runtime/heap.js';
import type { Clock } from '../runtime/time/clock.js';
import { Level } from './level.js';
import type { QueueEntry } from './queue-entry.js';
import type { ReadyOrder } from './ready-order.js';

/** How a {@link RankedOrder} weighs keys against each other. */
export interface RankedOrderOptions {
  readonly clock: Clock;
  /** Whether priorities count; otherwise they are only carried along. */
  readonly priorities: boolean;
  /** After this long a key no longer waits for those of higher priority. */
  readonly agingMs: number;
}

/** How many levels are kept for priorities without keys. */
const idleLevels = 32;

/**
 * Highest priority first. Among equals: in turns between the groups, where there are any; then first in, first out.
 * Every step costs the same however many keys there are, provided that there are few priorities.
 *
 * Two things prevent starvation. Groups take turns, and a group that comes back has its turn after one key of each
 * other. And while the key that has waited longest is older than `agingMs`, every second one taken is that one,
 * whatever its priority: under constant overload high priorities still get half of the workers.
 */
export class RankedOrder<K, Note> implements ReadyOrder<K, Note> {
  /** Whether the list by age is kept. */
  readonly timed: boolean;
  readonly #clock: Clock;
  readonly #priorities: boolean;
  readonly #agingMs: number;
  /** By rank: all that have keys, and some that had. */
  readonly #levels = new Map<number, Level<K, Note>>();
  /** Levels with keys. */
  readonly #ranks = new Heap<Level<K, Note>>((a, b) => a.rank > b.rank);
  #size = 0;
  /** The ends of the list through `older` and `younger`. */
  #oldest: QueueEntry<K, Note> | undefined;
  #youngest: QueueEntry<K, Note> | undefined;
  #tookAged = false;

  constructor({ clock, priorities, agingMs }: RankedOrderOptions) {
    this.#clock = clock;
    this.#priorities = priorities;
    this.#agingMs = agingMs;
    this.timed = priorities && agingMs !== Number.POSITIVE_INFINITY;
  }

  get size(): number {
    return this.#size;
  }

  push(entry: QueueEntry<K, Note>, now: number): void {
    this.#enter(entry);
    this.#size += 1;
    if (this.timed) this.#appendByAge(entry, now);
  }

  pop(): QueueEntry<K, Note> | undefined {
    const level = this.#ranks.peek();
    const first = level?.first();
    if (level === undefined || first === undefined) return undefined;
    const aged = this.timed ? this.#aged(level.rank) : undefined;
    this.#tookAged = aged !== undefined;
    if (aged === undefined) this.#leave(first, level, true);
    else this.#leave(aged, this.#level(aged.rank), false);
    const entry = aged ?? first;
    this.#size -= 1;
    if (this.timed) this.#removeByAge(entry);
    return entry;
  }

  raise(entry: QueueEntry<K, Note>, priority: number): void {
    if (this.#priorities) this.#leave(entry, this.#level(entry.rank), false);
    entry.priority = priority;
    if (this.#priorities) this.#enter(entry);
  }

  #enter(entry: QueueEntry<K, Note>): void {
    entry.rank = this.#priorities ? entry.priority : 0;
    const level = this.#level(entry.rank);
    if (level.empty) this.#ranks.push(level);
    level.push(entry);
  }

  #leave(entry: QueueEntry<K, Note>, level: Level<K, Note>, turn: boolean): void {
    level.remove(entry, turn);
    if (!level.empty) return;
    this.#ranks.remove(level);
    if (this.#levels.size > idleLevels) this.#levels.delete(level.rank);
  }

  #level(rank: number): Level<K, Note> {
    let level = this.#levels.get(rank);
    if (level === undefined) {
      level = new Level(rank);
      this.#levels.set(rank, level);
    }
    return level;
  }

  /** The key whose age beats the highest rank, if it is that one's turn. */
  #aged(rank: number): QueueEntry<K, Note> | undefined {
    const oldest = this.#oldest;
    if (oldest === undefined || oldest.rank === rank || this.#tookAged) return undefined;
    return this.#clock.monotonic() - oldest.readyAt >= this.#agingMs ? oldest : undefined;
  }

  #appendByAge(entry: QueueEntry<K, Note>, now: number): void {
    entry.readyAt = now;
    entry.older = this.#youngest;
    if (this.#youngest === undefined) this.#oldest = entry;
    else this.#youngest.younger = entry;
    this.#youngest = entry;
  }

  #removeByAge(entry: QueueEntry<K, Note>): void {
    const { older, younger } = entry;
    if (older === undefined) this.#oldest = younger;
    else older.younger = younger;
    if (younger === undefined) this.#youngest = older;
    else younger.older = older;
    entry.older = undefined;
    entry.younger = undefined;
  }
}
