import type { Slotted } from '../runtime/heap.js';
import type { Lane } from './lane.js';
import type { Linked } from './linked-list.js';

/** What a worker gets. Plain data of its own: adding the key again meanwhile does not change it. */
export interface WorkItem<K, Note = undefined> {
  readonly key: K;
  /** The notes of all adds that this run answers, merged; undefined when none had one. */
  readonly note: Note | undefined;
  /** The highest priority that the key was added with. */
  readonly priority: number;
}

/** A key that waits to be handed out, is being worked on, both, or neither. */
export class QueueEntry<K, Note> implements Slotted, Linked<QueueEntry<K, Note>> {
  readonly id: string;
  /** As added for the run to come. */
  key: K;
  /** Has to run (again). While `item` is set it is in no order: `done` puts it there. */
  dirty = false;
  /** What a worker holds, until `done`. */
  item: WorkItem<K, Note> | undefined;
  /** When it was handed out, on the monotonic clock; kept only for metrics. */
  startedAt = 0;
  /** Neighbours in the list that it is on: of an order if it is ready, of running entries, or of idle ones. */
  previous: QueueEntry<K, Note> | undefined;
  next: QueueEntry<K, Note> | undefined;

  // The rest is about the run to come, and means nothing while the entry is not dirty.
  note: Note | undefined;
  priority = 0;
  /** Whose turn it shares. */
  group = '';
  /** When it became dirty, on the monotonic clock; kept only for metrics. */
  dirtyAt = 0;
  /** Grows with every key that becomes dirty. */
  order = 0;

  // What a RankedOrder knows about it.
  /** The priority, where priorities count. */
  rank = 0;
  lane: Lane<QueueEntry<K, Note>> | undefined;
  /** Of the heap of its lane. */
  slot = -1;
  /** When it came into the order, on the monotonic clock, and its neighbours by that. */
  readyAt = 0;
  older: QueueEntry<K, Note> | undefined;
  younger: QueueEntry<K, Note> | undefined;

  constructor(id: string, key: K) {
    this.id = id;
    this.key = key;
  }
}
