import { equal, holdsExactly } from './equal.js';
import { carryLoss, sameLoss } from './lossy.js';
import { type Bag, copyOwn, getOwn, polluted, recursionLimit, setOwn } from './own.js';

/**
 * Structural sharing: returns a value equal to `next` in which every subtree that did not change is the one of
 * `previous`, so that `old.spec === new.spec` means that the spec is the same. When nothing changed, that is `previous`
 * itself. List elements are compared by index.
 *
 * `share` takes `next` over: it is changed in place where it is not frozen, so pass what came fresh from the parser or
 * from `clone`, and use only the result. Frozen parts of `next`, and `previous`, are never written to. A subtree that
 * differs in the order of keys only counts as unchanged and keeps the order of `previous`.
 *
 * Losses ({@link lossOf}) are those of `next`: when they differ, `previous` itself is not returned.
 */
export function share<T>(previous: unknown, next: T): T {
  if (previous === next || typeof next !== 'object' || next === null) return next;
  const shared = join(previous, next, polluted() ? recursionLimit : 0) as T & object;
  if (shared !== previous) {
    if (shared !== next) carryLoss(next, shared);
    return shared;
  }
  if (sameLoss(shared, next)) return shared;
  // Equal as data, but with another history: the children may be shared, the object itself may not.
  const own = (Array.isArray(shared) ? [...shared] : copyOwn(shared)) as T & object;
  carryLoss(next, own);
  return own;
}

/** `previous` when equal, else `next` with its unchanged children taken from `previous`. */
function join(previous: unknown, next: unknown, depth: number): unknown {
  if (typeof previous !== 'object' || typeof next !== 'object' || previous === null || next === null) return next;
  // That deep, or with a polluted prototype, it is all or nothing.
  if (depth === recursionLimit) return equal(previous, next) ? previous : next;
  if (Array.isArray(next)) return Array.isArray(previous) ? joinArrays(previous, next, depth) : next;
  return Array.isArray(previous) ? next : joinObjects(previous, next, depth);
}

function joinArrays(previous: readonly unknown[], next: unknown[], depth: number): unknown {
  let result = next;
  let same = previous.length === next.length;
  const common = Math.min(previous.length, next.length);
  for (let i = 0; i < common; i++) {
    const before = previous[i];
    const after = next[i];
    if (before === after) continue;
    const joined = join(before, after, depth + 1);
    if (joined !== before) same = false;
    if (joined !== after) {
      if (result === next && Object.isFrozen(next)) result = [...next];
      result[i] = joined;
    }
  }
  return same ? previous : result;
}

function joinObjects(previous: object, next: object, depth: number): unknown {
  let result = next;
  let same = true;
  let count = 0;
  for (const key in next) {
    const after = (next as Bag)[key];
    if (after === undefined) continue;
    count++;
    const before = key === '__proto__' ? getOwn(previous, key) : (previous as Bag)[key];
    if (before === after) continue;
    const joined = join(before, after, depth + 1);
    if (joined !== before) same = false;
    if (joined !== after) {
      if (result === next && Object.isFrozen(next)) result = copyOwn(next);
      setOwn(result, key, joined);
    }
  }
  return same && holdsExactly(previous, count) ? previous : result;
}
