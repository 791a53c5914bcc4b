import { type Bag, polluted, recursionLimit } from './own.js';

/**
 * Freezes `x` and everything in it, and returns it. From then on any write throws (modules are strict code), whatever the
 * types let slip.
 *
 * The walk stops at nodes that are frozen already, which is what makes freezing cheap for an object that shares most of
 * its subtrees with its predecessor. So a node frozen by hand with `Object.freeze` counts as frozen all the way down:
 * freeze with this function, or not at all. {@link isFrozenDeep} looks everywhere.
 */
export function freeze<T>(x: T): T {
  if (typeof x === 'object' && x !== null && !Object.isFrozen(x)) freezeNear(x, polluted() ? recursionLimit : 0);
  return x;
}

// Each node is frozen before its children are looked at, so a value that refers to itself ends too.
function freezeNear(node: object, depth: number): void {
  if (depth === recursionLimit) {
    freezeFar(node);
    return;
  }
  Object.freeze(node);
  if (Array.isArray(node)) {
    for (let i = 0; i < node.length; i++) {
      const child: unknown = node[i];
      if (typeof child === 'object' && child !== null && !Object.isFrozen(child)) freezeNear(child, depth + 1);
    }
    return;
  }
  for (const key in node) {
    const child = (node as Bag)[key];
    if (typeof child === 'object' && child !== null && !Object.isFrozen(child)) freezeNear(child, depth + 1);
  }
}

function freezeFar(root: object): void {
  const pending: object[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (Object.isFrozen(node)) continue;
    Object.freeze(node);
    for (const child of Object.values(node) as unknown[]) {
      if (typeof child === 'object' && child !== null) pending.push(child);
    }
  }
}

/** True when `x` and everything in it is frozen. Looks at every node: for tests and for borders, not for hot paths. */
export function isFrozenDeep(x: unknown): boolean {
  const seen = new Set<object>();
  const pending: unknown[] = [x];
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== 'object' || node === null || seen.has(node)) continue;
    if (!Object.isFrozen(node)) return false;
    seen.add(node);
    for (const child of Object.values(node) as unknown[]) pending.push(child);
  }
  return true;
}
