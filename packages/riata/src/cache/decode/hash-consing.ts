import { polluted, recursionLimit } from '../../object/value/own.js';
import { RecentStrings, sampleHash } from './recent-strings.js';

type Bag = { [key: string]: unknown };

/** Options of {@link HashConsing}. */
export interface HashConsingOptions {
  /** Subtrees that are remembered at most, rounded down to a power of two; 8 bytes each. @default 131072 */
  readonly maxNodes?: number;
}

/**
 * Hash-consing: equal subtrees of any two objects become one. The table has a fixed size: new subtrees take the place of
 * others, of those first that were never met again. So it never holds on to more than `maxNodes` that are of no use.
 *
 * It changes objects in place: hand in what came fresh from the parser. Frozen objects stay as they are.
 */
export class HashConsing {
  readonly #strings = new RecentStrings(1 << 14);
  readonly #table: (object | undefined)[];
  readonly #mask: number;
  /** The hash of what went through {@link #child} last. */
  #hash = 0;

  constructor({ maxNodes = 1 << 17 }: HashConsingOptions = {}) {
    const pairs = 2 ** Math.max(0, Math.floor(Math.log2(maxNodes / 2)));
    this.#table = new Array<object | undefined>(2 * pairs).fill(undefined);
    this.#mask = pairs - 1;
  }

  /** Number of subtrees that are remembered. */
  get size(): number {
    return this.#table.filter((node) => node !== undefined).length;
  }

  /**
   * Makes one of what is equal in `next` and in objects from before. What is also in `previous`, at the same place and as
   * the same object, went through here with that and is passed over. The object itself and its metadata are never equal to
   * others, and not remembered.
   */
  unify<T extends object>(next: T, previous?: object): T {
    if (Object.isFrozen(next) || polluted()) return next;
    const bag = next as Bag;
    for (const key in bag) {
      const child = bag[key];
      if (typeof child !== 'object' || child === null || child === (previous as Bag | undefined)?.[key]) continue;
      if (key === 'metadata' || key === 'status') this.#members(child, (previous as Bag | undefined)?.[key]);
      else if (key !== '__proto__') bag[key] = this.#unify(child, 0);
    }
    return next;
  }

  #members(node: object, previous: unknown): void {
    if (Array.isArray(node) || Object.isFrozen(node)) return;
    for (const key in node) {
      const child = (node as Bag)[key];
      if (key === '__proto__' || child === (previous as Bag | undefined)?.[key]) continue;
      if (typeof child === 'object' && child !== null) (node as Bag)[key] = this.#unify(child, 0);
      else if (typeof child === 'string') (node as Bag)[key] = this.#strings.intern(child);
    }
  }

  #unify(node: object, depth: number): object {
    // Deeper than anything real, or handed out before: left as it is, and equal to nothing.
    if (depth === recursionLimit || Object.isFrozen(node)) {
      this.#hash = 0;
      return node;
    }
    let hash = 31;
    if (Array.isArray(node)) {
      for (let i = 0; i < node.length; i++) {
        const child: unknown = node[i];
        const unified = this.#child(child, depth);
        hash = Math.imul(hash ^ this.#hash, 0x01000193);
        if (unified !== child) node[i] = unified;
      }
    } else {
      for (const key in node) {
        const child = (node as Bag)[key];
        const unified = this.#child(child, depth);
        hash = Math.imul(hash ^ this.#hash, 0x01000193) ^ (key.length * 31 + key.charCodeAt(0));
        if ((unified !== child || typeof child === 'string') && key !== '__proto__') (node as Bag)[key] = unified;
      }
    }
    hash ^= hash >>> 13;
    this.#hash = hash;
    return this.#known(hash, node);
  }

  #child(child: unknown, depth: number): unknown {
    if (typeof child === 'object' && child !== null) return this.#unify(child, depth + 1);
    if (typeof child === 'string') {
      this.#hash = sampleHash(child);
      return this.#strings.intern(child);
    }
    this.#hash = typeof child === 'number' ? child | 0 : child === true ? 1 : child === false ? 2 : 3;
    return child;
  }

  /** Of two places, the first is for what was met before; what is new takes the second. */
  #known(hash: number, node: object): object {
    const table = this.#table;
    const at = (hash & this.#mask) << 1;
    const first = table[at];
    if (first !== undefined && alike(first, node)) return first;
    const second = table[at + 1];
    if (second !== undefined && alike(second, node)) {
      table[at] = second;
      table[at + 1] = first;
      return second;
    }
    table[at + 1] = node;
    return node;
  }
}

/** Equality of nodes whose children are unified already. */
function alike(a: object, b: object): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
    return true;
  }
  let count = 0;
  for (const key in a) {
    if (!Object.hasOwn(b, key) || (a as Bag)[key] !== (b as Bag)[key]) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}
