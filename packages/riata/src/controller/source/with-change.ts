import { type Change, isAnotherObject, StoredChange } from '../../cache/informer/change.js';
import type { KubeObject } from '../../object/meta.js';

/**
 * The change that a handler still has to receive for one object, once another change has come: from the last state that
 * it handled to the current one. None if it never handled the object and the object was deleted. Two changes, a
 * deletion and an addition, if the name belongs to another object now.
 */
export function withChange<T extends KubeObject>(
  untaken: readonly Change<T>[],
  change: Change<T>,
): readonly Change<T>[] {
  const last = untaken.at(-1);
  if (last === undefined) return [change];
  const before = untaken.slice(0, -1);
  if (last.type === 'Deleted') return change.type === 'Added' ? [...before, last, change] : [...before, change];
  const merged = merge(last, change);
  return merged === undefined ? before : [...before, merged];
}

function merge<T extends KubeObject>(earlier: Change<T>, later: Change<T>): Change<T> | undefined {
  const { key, old: known } = earlier;
  const now = later.new;
  if (known === undefined) {
    if (now === undefined) return undefined;
    const isInInitialList = earlier.isInInitialList && later.type === 'Sync';
    return new StoredChange<T>('Added', key, undefined, now, { isInInitialList, isRecreated: earlier.isRecreated });
  }
  if (now === undefined) {
    // The handler took `known`, not the state in which the object was deleted.
    return new StoredChange<T>('Deleted', key, known, undefined, { isFinalStateUnknown: true });
  }
  if (isAnotherObject(known, now)) return later;
  return new StoredChange<T>(earlier.type === 'Sync' ? later.type : 'Updated', key, known, now);
}
