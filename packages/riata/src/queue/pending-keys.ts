import type { DelayedItems } from './delayed-items.js';
import type { QueueEntries } from './queue-entries.js';

/** A key that waits in a queue. */
export interface PendingKey<K, Note> {
  readonly key: K;
  readonly note: Note | undefined;
  readonly priority: number;
  /** Until it is due, 0 if it is overdue; undefined if it is ready. */
  readonly dueMs?: number;
}

/** The first `most` keys that are ready, and then those that wait for their time; both in no particular order. */
export function pendingKeys<K, Note>(
  { entries, delayed, nowMs }: { entries: QueueEntries<K, Note>; delayed: DelayedItems<K, Note>; nowMs: number },
  most: number,
): readonly PendingKey<K, Note>[] {
  const pending: PendingKey<K, Note>[] = [];
  for (const { dirty, item, key, note, priority } of entries.values()) {
    if (pending.length >= most) return pending;
    if (dirty && item === undefined) pending.push({ key, note, priority });
  }
  for (const { key, note, priority, at } of delayed.values()) {
    if (pending.length >= most) break;
    pending.push({ key, note, priority, dueMs: Math.max(0, at - nowMs) });
  }
  return pending;
}
