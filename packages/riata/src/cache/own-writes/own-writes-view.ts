import type { KubeObject } from '../../object/meta.js';
import type { IndexReader } from '../store/indexer.js';
import { type KeyFunc, keyed } from '../store/key-func.js';
import { filedUnder, type Indexers, type IndexFunc } from '../store/store-index.js';
import type { OwnWrites } from './own-writes.js';

/** An object that own writes have changed. */
interface Difference<T> {
  readonly key: string;
  readonly before: T | undefined;
  readonly after: T | undefined;
}

/**
 * The state of the watch with own writes laid over it, to be read like any store with indexes. Costs next to nothing
 * while there are no own writes that the watch has not shown, and little for each one.
 */
export class OwnWritesView<T extends KubeObject> implements IndexReader<T> {
  readonly #base: IndexReader<T>;
  readonly #writes: OwnWrites<T>;
  readonly #keyOf: KeyFunc<T>;

  constructor(base: IndexReader<T>, writes: OwnWrites<T>, keyFunc: KeyFunc<T>) {
    this.#base = base;
    this.#writes = writes;
    this.#keyOf = keyed(keyFunc);
  }

  get(obj: T): T | undefined {
    return this.getByKey(this.#keyOf(obj));
  }

  getByKey(key: string): T | undefined {
    return this.#writes.view(key, this.#base.getByKey(key));
  }

  list(): T[] {
    return over(this.#base.list(), this.#differences(), () => true);
  }

  listKeys(): string[] {
    const keys = this.#base.listKeys();
    const differences = this.#differences();
    if (differences.length === 0) return keys;
    const set = new Set(keys);
    for (const { key, after } of differences) {
      if (after === undefined) set.delete(key);
      else set.add(key);
    }
    return [...set];
  }

  index(indexName: string, obj: T): T[] {
    const func = this.#indexFunc(indexName);
    const values = new Set(func === undefined ? [] : func(obj));
    return over(this.#base.index(indexName, obj), this.#differences(), (after) =>
      (func?.(after) ?? []).some((value) => values.has(value)),
    );
  }

  byIndex(indexName: string, indexedValue: string): T[] {
    const found = this.#base.byIndex(indexName, indexedValue);
    const differences = this.#differences();
    if (differences.length === 0) return found;
    const func = this.#indexFunc(indexName);
    return over(found, differences, (after) => (func?.(after) ?? []).includes(indexedValue));
  }

  indexKeys(indexName: string, indexedValue: string): string[] {
    const keys = this.#base.indexKeys(indexName, indexedValue);
    const differences = this.#differences();
    if (differences.length === 0) return keys;
    const func = this.#indexFunc(indexName);
    const set = new Set(keys);
    for (const { key, after } of differences) {
      if (after !== undefined && (func?.(after) ?? []).includes(indexedValue)) set.add(key);
      else set.delete(key);
    }
    return [...set];
  }

  listIndexFuncValues(indexName: string): string[] {
    const values = this.#base.listIndexFuncValues(indexName);
    const differences = this.#differences();
    const func = this.#indexFunc(indexName);
    if (differences.length === 0 || func === undefined) return values;
    const set = new Set(values);
    for (const { after } of differences) if (after !== undefined) for (const value of func(after)) set.add(value);
    // A value may have been that of an object which now has another one, or was deleted.
    for (const { before } of differences) {
      if (before === undefined) continue;
      for (const value of func(before)) if (this.indexKeys(indexName, value).length === 0) set.delete(value);
    }
    return [...set];
  }

  getIndexers(): Indexers<T> {
    return this.#base.getIndexers();
  }

  #indexFunc(indexName: string): IndexFunc<T> | undefined {
    const indexers = this.#base.getIndexers();
    const func = Object.hasOwn(indexers, indexName) ? indexers[indexName] : undefined;
    return func && ((object) => filedUnder(func, object));
  }

  #differences(): Difference<T>[] {
    if (this.#writes.size === 0) return [];
    const differences: Difference<T>[] = [];
    for (const key of this.#writes.keys()) {
      const before = this.#base.getByKey(key);
      const after = this.#writes.view(key, before);
      if (after !== before) differences.push({ key, before, after });
    }
    return differences;
  }
}

/** Found objects with own writes applied: in their place, out of it, or at the end. */
function over<T>(found: T[], differences: readonly Difference<T>[], belongs: (after: T) => boolean): T[] {
  if (differences.length === 0) return found;
  const replaced = new Map<T, T | undefined>();
  const added: T[] = [];
  for (const { before, after } of differences) {
    const desired = after !== undefined && belongs(after) ? after : undefined;
    if (before !== undefined) replaced.set(before, desired);
    else if (desired !== undefined) added.push(desired);
  }
  const result: T[] = [];
  for (const object of found) {
    const now = replaced.has(object) ? replaced.get(object) : object;
    if (replaced.delete(object) && now === undefined) continue;
    if (now !== undefined) result.push(now);
  }
  // Those left were not found, but may belong here as they look now.
  for (const now of replaced.values()) if (now !== undefined) result.push(now);
  result.push(...added);
  return result;
}
