import type { Clock } from '../runtime/clock.js';
import { IndexedHeap } from './indexed-heap.js';
import type { QueueEntry } from './queue-entry.js';
import type { ReadyOrder } from './ready-order.js';

/** How a {@link RankedOrder} weighs keys against each other. */
export interface RankedOrderOptions<K> {
  readonly clock: Clock;
  /** Whether priorities count; otherwise they are only carried along. */
  readonly priorities: boolean;
  /** After this long a key no longer waits for those of higher priority. */
  readonly agingMs: number;
  /** Keys of one group take turns with those of others. */
  readonly group?: (key: K) => string;
}

/** The turns of the groups among the keys of one priority. */
interface Level {
  /** The turn of the key taken last by rank; a group that comes anew starts right after it. */
  turn: number;
  /** The last turn given to each group that has keys here, and how many it has. */
  readonly groups: Map<string, { turn: number; size: number }>;
}

/**
 * Highest priority first. Among equals: in turns between the groups, where there are any; then first in, first out.
 *
 * Two things keep this from starving anyone. A key's turn is a number given once, when it comes in: one more than its
 * group had before, or than the turn that is on. So a group that comes anew joins with the next turn, however many keys
 * the others have. And while the key that has waited longest is older than `agingMs`, every second one taken is that
 * one, whatever its priority: under constant overload high priorities still get half of the workers.
 */
export class RankedOrder<K, Note> implements ReadyOrder<K, Note> {
  readonly #clock: Clock;
  readonly #priorities: boolean;
  readonly #agingMs: number;
  readonly #group: ((key: K) => string) | undefined;
  readonly #heap = new IndexedHeap<QueueEntry<K, Note>>(before);
  /** The same entries by age, as a list through `previous` and `next`. */
  #oldest: QueueEntry<K, Note> | undefined;
  #youngest: QueueEntry<K, Note> | undefined;
  #tookAged = false;
  /** Only where there are groups, and only priorities that have keys. */
  readonly #levels = new Map<number, Level>();

  constructor({ clock, priorities, agingMs, group }: RankedOrderOptions<K>) {
    this.#clock = clock;
    this.#priorities = priorities;
    this.#agingMs = agingMs;
    this.#group = group;
  }

  get size(): number {
    return this.#heap.size;
  }

  push(entry: QueueEntry<K, Note>): void {
    entry.rank = this.#priorities ? entry.priority : 0;
    if (this.#group !== undefined) {
      entry.group = this.#group(entry.key);
      this.#join(entry);
    }
    this.#heap.push(entry);
    this.#append(entry);
  }

  pop(): QueueEntry<K, Note> | undefined {
    const first = this.#heap.peek();
    if (first === undefined) return undefined;
    const entry = this.#aged(first) ?? first;
    this.#tookAged = entry !== first;
    this.#heap.remove(entry);
    this.#unlink(entry);
    if (this.#group !== undefined) {
      const level = this.#leave(entry);
      if (level !== undefined && entry === first) level.turn = entry.turn;
    }
    return entry;
  }

  raise(entry: QueueEntry<K, Note>, priority: number): void {
    entry.priority = priority;
    if (!this.#priorities) return;
    if (this.#group !== undefined) this.#leave(entry);
    entry.rank = priority;
    if (this.#group !== undefined) this.#join(entry);
    this.#heap.raised(entry);
  }

  /** The key whose age beats the rank of `first`, if it is that one's turn. */
  #aged(first: QueueEntry<K, Note>): QueueEntry<K, Note> | undefined {
    const oldest = this.#oldest;
    if (oldest === undefined || oldest.rank === first.rank || this.#tookAged) return undefined;
    return this.#clock.monotonic() - oldest.readyAt >= this.#agingMs ? oldest : undefined;
  }

  #join(entry: QueueEntry<K, Note>): void {
    let level = this.#levels.get(entry.rank);
    if (level === undefined) {
      level = { turn: 0, groups: new Map() };
      this.#levels.set(entry.rank, level);
    }
    const group = level.groups.get(entry.group);
    if (group === undefined) {
      entry.turn = level.turn + 1;
      level.groups.set(entry.group, { turn: entry.turn, size: 1 });
    } else {
      entry.turn = Math.max(group.turn, level.turn) + 1;
      group.turn = entry.turn;
      group.size += 1;
    }
  }

  /** The level that the entry was on, if keys are left there. */
  #leave(entry: QueueEntry<K, Note>): Level | undefined {
    const level = this.#levels.get(entry.rank);
    const group = level?.groups.get(entry.group);
    if (level === undefined || group === undefined) return undefined;
    group.size -= 1;
    if (group.size === 0) level.groups.delete(entry.group);
    if (level.groups.size > 0) return level;
    this.#levels.delete(entry.rank);
    return undefined;
  }

  #append(entry: QueueEntry<K, Note>): void {
    if (this.#agingMs !== Number.POSITIVE_INFINITY) entry.readyAt = this.#clock.monotonic();
    entry.previous = this.#youngest;
    if (this.#youngest === undefined) this.#oldest = entry;
    else this.#youngest.next = entry;
    this.#youngest = entry;
  }

  #unlink(entry: QueueEntry<K, Note>): void {
    if (entry.previous === undefined) this.#oldest = entry.next;
    else entry.previous.next = entry.next;
    if (entry.next === undefined) this.#youngest = entry.previous;
    else entry.next.previous = entry.previous;
    entry.previous = undefined;
    entry.next = undefined;
  }
}

function before<K, Note>(a: QueueEntry<K, Note>, b: QueueEntry<K, Note>): boolean {
  if (a.rank !== b.rank) return a.rank > b.rank;
  if (a.turn !== b.turn) return a.turn < b.turn;
  return a.order < b.order;
}
