import { carryLoss } from './lossy.js';
import type { Mutable } from './mutable.js';
import { assertPlain, type Bag, depthLimit, polluted, recursionLimit, setOwn, tooDeep } from './own.js';

/**
 * A deep copy that may be changed (`DeepCopyObject`, `DeepCopy`). Shares nothing with `x`; works on frozen objects; keeps
 * unknown fields and key order; every key is data (`__proto__` too). What is known about the object's losses
 * (`lossOf`) goes with the copy, for the items of a list as well.
 *
 * Takes JSON values only: a `Date`, `Map` or class instance is a `TypeError`.
 */
export function clone<T>(x: T): Mutable<T> {
  if (typeof x !== 'object' || x === null) return x as Mutable<T>;
  const copied = polluted() ? copyFar(x) : copy(x, 0);
  carryLoss(x, copied);
  return copied as Mutable<T>;
}

function copy(value: object, depth: number): object {
  if (depth === recursionLimit) return copyFar(value);
  if (Array.isArray(value)) {
    const length = value.length;
    const out = new Array<unknown>(length);
    for (let i = 0; i < length; i++) {
      const child: unknown = value[i];
      out[i] = typeof child === 'object' && child !== null ? copy(child, depth + 1) : child;
    }
    return out;
  }
  assertPlain(value, 'clone');
  const out: Bag = {};
  for (const key in value) {
    const child = (value as Bag)[key];
    const copied = typeof child === 'object' && child !== null ? copy(child, depth + 1) : child;
    if (key === '__proto__') setOwn(out, key, copied);
    else out[key] = copied;
  }
  return out;
}

/** The same with a stack of its own, for what lies deeper than recursion should go. */
function copyFar(root: object): object {
  const result = shell(root);
  const pending: { from: object; to: object; depth: number }[] = [{ from: root, to: result, depth: 0 }];
  for (let task = pending.pop(); task !== undefined; task = pending.pop()) {
    const { from, to, depth } = task;
    if (depth > depthLimit) throw tooDeep('clone');
    for (const key of Object.keys(from)) {
      const value = (from as Bag)[key];
      if (typeof value === 'object' && value !== null) {
        const child = shell(value);
        setOwn(to, key, child);
        pending.push({ from: value, to: child, depth: depth + 1 });
      } else {
        setOwn(to, key, value);
      }
    }
  }
  return result;
}

function shell(value: object): object {
  if (Array.isArray(value)) return new Array<unknown>(value.length);
  assertPlain(value, 'clone');
  return {};
}
