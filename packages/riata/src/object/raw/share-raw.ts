import { joinPart, rawPartsOf } from './raw-parts.js';

/**
 * Structural sharing between two raw objects, without parsing: parts with the same text become one, so that
 * `old.spec === new.spec` if the spec did not change, and its text is held once. Returns `previous` when nothing differs
 * at all, else `next`, which stays raw whatever `previous` is; undefined when `next` is no raw object.
 */
export function shareRaw<T extends object>(previous: unknown, next: T): T | undefined {
  const parts = rawPartsOf(next);
  if (parts === undefined) return undefined;
  const before = typeof previous === 'object' && previous !== null ? rawPartsOf(previous) : undefined;
  if (before === undefined) return next;
  let same = true;
  const theirs = Object.keys(previous as object);
  const ours = Object.keys(next);
  const isLike = theirs.length === ours.length && before.length === parts.length;
  if (isLike && theirs.every((key, i) => key === ours[i])) {
    for (let i = 0; i < parts.length; i++) if (!joinPart(before, i, parts, i)) same = false;
    return same && sameScalars(previous as object, next, ours) ? (previous as T) : next;
  }
  const places = partKeys(previous as object);
  for (const [i, key] of partKeys(next).entries()) {
    const at = places.indexOf(key);
    if (at >= 0) joinPart(before, at, parts, i);
  }
  return next;
}

/** The members that are parts, in their order. */
function partKeys(object: object): string[] {
  return Object.keys(object).filter((key) => Object.getOwnPropertyDescriptor(object, key)?.get !== undefined);
}

/** Compares the members that are no parts: they are values, not accessors. */
function sameScalars(a: object, b: object, keys: readonly string[]): boolean {
  for (const key of keys) {
    const left = Object.getOwnPropertyDescriptor(a, key);
    const right = Object.getOwnPropertyDescriptor(b, key);
    if (left?.get !== right?.get || left?.value !== right?.value) return false;
  }
  return true;
}
