import { isJsonObject, type Json } from '../json.js';
import { equal } from '../value/equal.js';
import { carryLoss } from '../value/lossy.js';
import { type Bag, getOwn, setOwn } from '../value/own.js';

/**
 * Applies a JSON merge patch (RFC 7386): objects are merged key by key, `null` removes a key, anything else (lists too)
 * replaces what was there. `target` is not touched; the result shares with it what the patch left alone, and is `target`
 * itself when the patch changes nothing. Parts of the patch may be part of the result: leave it alone afterwards.
 */
export function applyMergePatch<T>(target: T, patch: unknown): T {
  const result = merge(target, patch);
  if (result !== target && isJsonObject(target) && isJsonObject(result)) carryLoss(target, result);
  return result as T;
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return equal(target, patch) ? target : patch;
  const base = isJsonObject(target) ? target : undefined;
  const out: Bag = {};
  let changed = base === undefined;
  if (base !== undefined) {
    for (const key of Object.keys(base)) {
      const before = base[key];
      const change = getOwn(patch, key);
      if (change === null) {
        changed = true;
        continue;
      }
      const after = change === undefined ? before : merge(before, change);
      if (after !== before) changed = true;
      setOwn(out, key, after);
    }
  }
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    if (change === null || change === undefined || (base !== undefined && Object.hasOwn(base, key))) continue;
    setOwn(out, key, merge(undefined, change));
    changed = true;
  }
  return changed ? out : base;
}

/**
 * The smallest JSON merge patch that turns `from` into `to` (`client.MergeFrom`): `{}` when they are equal. A merge patch
 * cannot say that a key has the value `null`, so a `null` in `to` means that the key is absent; Kubernetes reads it the
 * same way.
 */
export function createMergePatch(from: unknown, to: unknown): Json {
  if (!isJsonObject(from) || !isJsonObject(to)) return to as Json;
  const patch: Bag = {};
  for (const key of Object.keys(to)) {
    const after = to[key];
    if (after === undefined || after === null) continue;
    const before = getOwn(from, key);
    if (before === after) continue;
    if (isJsonObject(before) && isJsonObject(after)) {
      const inner = createMergePatch(before, after) as object;
      if (Object.keys(inner).length > 0) setOwn(patch, key, inner);
    } else if (!equal(before, after)) {
      setOwn(patch, key, after);
    }
  }
  for (const key of Object.keys(from)) {
    const after = getOwn(to, key);
    if (from[key] !== undefined && (after === undefined || after === null)) setOwn(patch, key, null);
  }
  return patch as Json;
}

/**
 * The merge patch of a client-side apply for kinds without a strategic schema
 * (`jsonmergepatch.CreateThreeWayJSONMergePatch`): the changes from `current` to `modified`, and the removal of what
 * `original` (as applied last) had and `modified` no longer has. Additions of others to `current` stay.
 */
export function createThreeWayJsonMergePatch(original: unknown, modified: unknown, current: unknown): Json {
  if (!isJsonObject(modified) || !isJsonObject(current)) return createMergePatch(current, modified);
  return threeWay(isJsonObject(original) ? original : {}, modified, current);
}

function threeWay(original: object, modified: object, current: object): Json {
  const patch: Bag = {};
  for (const [key, expected] of Object.entries(modified) as [string, unknown][]) {
    if (expected === undefined || expected === null) continue;
    const before = getOwn(original, key);
    const now = getOwn(current, key);
    if (isJsonObject(expected) && isJsonObject(now)) {
      const inner = threeWay(isJsonObject(before) ? before : {}, expected, now) as object;
      if (Object.keys(inner).length > 0) setOwn(patch, key, inner);
    } else if (!equal(now, expected)) {
      setOwn(patch, key, expected);
    }
  }
  for (const key of Object.keys(original)) {
    const expected = getOwn(modified, key);
    // Removed by the user, and still there.
    if ((expected === undefined || expected === null) && getOwn(current, key) !== undefined) setOwn(patch, key, null);
  }
  return patch as Json;
}
