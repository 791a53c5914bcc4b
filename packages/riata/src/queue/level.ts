import type { Slotted } from '../runtime/heap.js';
import { Lane } from './lane.js';
import { LinkedList } from './linked-list.js';
import type { QueueEntry } from './queue-entry.js';

/** How many lanes are kept for groups without keys: most groups come back. */
const idleLanes = 256;

/** The ready keys of one priority: its groups take turns, each with its first key. */
export class Level<K, Note> implements Slotted {
  readonly rank: number;
  /** Of the heap of levels that have keys. */
  slot = -1;
  /** By group: all that have keys, and some that had. */
  readonly #lanes = new Map<string, Lane<QueueEntry<K, Note>>>();
  /** Groups with keys, the next one first. A group that comes back has its turn after all others. */
  readonly #turns = new LinkedList<Lane<QueueEntry<K, Note>>>();
  #latest: Lane<QueueEntry<K, Note>> | undefined;

  constructor(rank: number) {
    this.rank = rank;
  }

  get empty(): boolean {
    return this.#turns.first === undefined;
  }

  first(): QueueEntry<K, Note> | undefined {
    return this.#turns.first?.first();
  }

  push(entry: QueueEntry<K, Note>): void {
    const lane = this.#lane(entry.group);
    if (lane.size === 0) this.#turns.append(lane);
    lane.push(entry);
    entry.lane = lane;
  }

  /** Takes out an entry, as its group's turn if it was the {@link first}. */
  remove(entry: QueueEntry<K, Note>, turn: boolean): void {
    const lane = entry.lane;
    if (lane === undefined) return;
    entry.lane = undefined;
    lane.remove(entry);
    if (lane.size === 0) {
      this.#turns.remove(lane);
      if (this.#lanes.size > idleLanes) {
        this.#lanes.delete(lane.group);
        this.#latest = undefined;
      }
    } else if (turn && this.#turns.last !== lane) {
      this.#turns.remove(lane);
      this.#turns.append(lane);
    }
  }

  #lane(group: string): Lane<QueueEntry<K, Note>> {
    if (this.#latest?.group === group) return this.#latest;
    let lane = this.#lanes.get(group);
    if (lane === undefined) {
      lane = new Lane(group);
      this.#lanes.set(group, lane);
    }
    this.#latest = lane;
    return lane;
  }
}
