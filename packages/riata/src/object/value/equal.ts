import { type Bag, depthLimit, getOwn, polluted, recursionLimit, tooDeep } from './own.js';

/**
 * Deep equality of JSON values (`equality.Semantic.DeepEqual` without its special cases). The order of keys does not
 * matter, the order of a list does; a property that is `undefined` is as good as absent, `null` is not. Identical
 * references are equal without a look inside, so versions that share subtrees compare in almost no time.
 */
export function equal(a: unknown, b: unknown): boolean {
  return a === b || (polluted() ? far(a, b) : near(a, b, 0));
}

function near(a: unknown, b: unknown, depth: number): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (depth === recursionLimit) return far(a, b);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) {
      const x: unknown = a[i];
      const y: unknown = b[i];
      if (x !== y && !near(x, y, depth + 1)) return false;
    }
    return true;
  }
  if (Array.isArray(b)) return false;
  let count = 0;
  for (const key in a) {
    const x = (a as Bag)[key];
    if (x === undefined) continue;
    count++;
    // Any other name that `b` inherits is a function, which is no JSON value.
    const y = key === '__proto__' ? getOwn(b, key) : (b as Bag)[key];
    if (x !== y && !near(x, y, depth + 1)) return false;
  }
  return holdsExactly(b, count);
}

/** Given that `bag` holds at least `count` values: does it hold no other? (Only where no prototype is polluted.) */
export function holdsExactly(bag: object, count: number): boolean {
  let keys = 0;
  for (const _ in bag) keys++;
  if (keys === count) return true;
  let values = 0;
  for (const key in bag) if ((bag as Bag)[key] !== undefined) values++;
  return values === count;
}

/** The same with a stack of its own, for what lies deeper than recursion should go. */
function far(left: unknown, right: unknown): boolean {
  const pending: { a: unknown; b: unknown; depth: number }[] = [{ a: left, b: right, depth: 0 }];
  for (let task = pending.pop(); task !== undefined; task = pending.pop()) {
    const { a, b, depth } = task;
    if (a === b) continue;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (depth > depthLimit) throw tooDeep('equal');
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    if (Array.isArray(a) && a.length !== (b as unknown[]).length) return false;
    let count = 0;
    for (const key of Object.keys(a)) {
      const x = (a as Bag)[key];
      if (x === undefined && !Array.isArray(a)) continue;
      count++;
      pending.push({ a: x, b: getOwn(b, key), depth: depth + 1 });
    }
    if (!Array.isArray(a) && count !== Object.values(b).filter((y) => y !== undefined).length) return false;
  }
  return true;
}
