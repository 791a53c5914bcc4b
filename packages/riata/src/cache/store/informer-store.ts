import { keyOf } from '../../object/key.js';
import type { KubeObject } from '../../object/meta.js';
import { freeze } from '../../object/value/freeze.js';
import { describeValue } from '../../object/with-metadata.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { SlicedWork } from '../../runtime/time/sliced-work.js';
import type { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import { isDeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import type { IndexFailures } from './index-failures.js';
import type { Indexer } from './indexer.js';
import { byNamespace, keyed, namespaceIndex } from './key-func.js';
import type { Indexers } from './store-index.js';
import { ThreadSafeStore } from './thread-safe-store.js';

/** As many objects are frozen within a few milliseconds. */
const fewFresh = 1000;

/**
 * Called for every change that the watch has confirmed, at once and before any handler. Must not throw, and
 * must not change the store.
 */
export interface BaseObserver<in T> {
  /** `object` is in the store; `previous` was, perhaps with another UID. */
  upserted(key: string, object: T, previous: T | undefined): void;
  /** `last` is the object's final state if that is known, else the last one in the store. */
  deleted(key: string, last: T): void;
  /** All is as in a list of this resourceVersion; `wasThere`: whether a key was in the store before. */
  replaced(resourceVersion: string, wasThere: (key: string) => boolean): void;
  /** Nothing else changed up to this resourceVersion. */
  bookmarked(resourceVersion: string): void;
}

/** The contents of a store at one time: keys, and in the same order the objects. */
export interface StoreSnapshot<out T> {
  readonly keys: readonly string[];
  readonly objects: readonly T[];
}

/**
 * The store of an informer: the same as an {@link Indexer}, with every returned object frozen, and replaced as a whole
 * in many small steps that readers don't see. Writing to it is for tests: handlers are not notified, and the next list
 * undoes it.
 */
export class InformerStore<T extends KubeObject> implements Indexer<T> {
  observer: BaseObserver<T> | undefined;
  /**
   * A reader has the store and cannot wait for {@link freezeAhead}: objects are then frozen as they arrive, so that no
   * single read blocks the event loop.
   */
  freezesEagerly = false;
  readonly #keyOf = keyed<T>(keyOf);
  readonly #failures: Pick<IndexFailures<T>, 'failed' | 'changed'> | undefined;
  /** As they were given; in the store their objects are frozen, and their answers checked. */
  readonly #indexers: Record<string, Indexers<T>[string]> = {};
  #items: ThreadSafeStore<T>;
  /** The next contents, with all indexes. */
  #next: ThreadSafeStore<T> | undefined;
  /** How many may not be frozen yet, at most. */
  #fresh = 0;
  #freezing: Promise<void> | undefined;
  #snapshot: StoreSnapshot<T> | undefined;

  /** `failures` gets the index functions that fail for an object, which is not in that index then. */
  constructor(indexers: Indexers<T>, failures?: Pick<IndexFailures<T>, 'failed' | 'changed'>) {
    this.#failures = failures;
    this.#items = new ThreadSafeStore<T>({}, this.#onIndexError);
    this.addIndexers({ [namespaceIndex]: byNamespace, ...indexers });
  }

  get size(): number {
    return this.#items.size;
  }

  /** The object as it is kept: not handed out, so not frozen. */
  peek(key: string): T | undefined {
    return this.#items.get(key);
  }

  has(key: string): boolean {
    return this.#items.has(key);
  }

  put(key: string, obj: T, previous: T | undefined): void {
    this.#snapshot = undefined;
    this.#items.update(key, this.#admit(obj));
    this.#failures?.changed(key);
    this.observer?.upserted(key, obj, previous);
  }

  #admit(obj: T): T {
    if (this.freezesEagerly && this.#fresh >= fewFresh) return freeze(obj);
    this.#fresh += 1;
    return obj;
  }

  drop(key: string, last: T): void {
    this.#snapshot = undefined;
    this.#items.delete(key, last);
    this.#failures?.changed(key);
    this.observer?.deleted(key, last);
  }

  /** The contents that {@link finishReplace} will put in place: filled meanwhile, in as many steps as it takes. */
  startReplace(): ThreadSafeStore<T> {
    this.#next = new ThreadSafeStore(this.#checked(this.#indexers), this.#onIndexError);
    return this.#next;
  }

  /** Puts it in place, at once; gives what was there. */
  finishReplace(resourceVersion: string): ThreadSafeStore<T> {
    const previous = this.#items;
    this.#items = this.#next ?? previous;
    this.#next = undefined;
    this.#snapshot = undefined;
    this.#fresh = this.#items.size;
    this.#items.bookmark(resourceVersion);
    this.#failures?.changed();
    this.observer?.replaced(resourceVersion, (key) => previous.has(key));
    return previous;
  }

  /** Keys and objects as they are now; not frozen. The same one until something changes: many handlers may come at once. */
  snapshot(): StoreSnapshot<T> {
    this.#snapshot ??= { keys: this.#items.listKeys(), objects: this.#items.list() };
    return this.#snapshot;
  }

  /**
   * A reader of many objects that can wait, waits for this: objects are frozen when they are first returned, which
   * blocks for a quarter of a second with 50,000 of them at once. Undefined if there is little to do.
   */
  freezeAhead(count: () => number, clock: Scheduler): Promise<void> | undefined {
    const isNeeded = this.#freezing !== undefined || this.#fresh > fewFresh;
    if (!isNeeded || count() <= fewFresh) return undefined;
    this.#freezing ??= this.#freezeInSlices(clock).finally(() => {
      this.#freezing = undefined;
    });
    return this.#freezing;
  }

  async #freezeInSlices(clock: Scheduler): Promise<void> {
    const objects = this.#items.list();
    // Writes from here on count again.
    this.#fresh = 0;
    const work = new SlicedWork(clock);
    work.begin();
    for (let at = 0; at < objects.length; at += 1) {
      freeze(objects[at]);
      if (work.isOver) await work.rest();
    }
    void work.end();
  }

  bookmark(resourceVersion: string): void {
    this.#items.bookmark(resourceVersion);
    this.observer?.bookmarked(resourceVersion);
  }

  add(obj: T): void {
    this.update(obj);
  }

  update(obj: T): void {
    const key = this.#keyOf(obj);
    this.put(key, obj, this.#items.get(key));
  }

  delete(obj: T | DeletedFinalStateUnknown<T>): void {
    const key = this.#keyOf(obj);
    const last = this.#items.get(key);
    if (last !== undefined) this.drop(key, isDeletedFinalStateUnknown(obj) ? last : obj);
  }

  replace(list: readonly T[], resourceVersion: string): void {
    const items = this.startReplace();
    for (const obj of list) items.add(this.#keyOf(obj), obj);
    this.finishReplace(resourceVersion);
  }

  resync(): void {}

  lastStoreSyncResourceVersion(): string {
    return this.#items.lastStoreSyncResourceVersion();
  }

  list(): T[] {
    this.#fresh = 0;
    return frozen(this.#items.list());
  }

  listKeys(): string[] {
    return this.#items.listKeys();
  }

  get(obj: T): T | undefined {
    return freeze(this.#items.get(this.#keyOf(obj)));
  }

  getByKey(key: string): T | undefined {
    return freeze(this.#items.get(key));
  }

  index(indexName: string, obj: T): T[] {
    return frozen(this.#items.index(indexName, obj));
  }

  indexKeys(indexName: string, indexedValue: string): string[] {
    return this.#items.indexKeys(indexName, indexedValue);
  }

  listIndexFuncValues(indexName: string): string[] {
    return this.#items.listIndexFuncValues(indexName);
  }

  byIndex(indexName: string, indexedValue: string): T[] {
    return frozen(this.#items.byIndex(indexName, indexedValue));
  }

  getIndexers(): Indexers<T> {
    return { ...this.#indexers };
  }

  addIndexers(indexers: Indexers<T>): void {
    // Every informer has the index by namespace; programs ported from client-go may add it again.
    const added = Object.fromEntries(Object.entries(indexers).filter(([name, func]) => this.#indexers[name] !== func));
    const checked = this.#checked(added);
    this.#items.addIndexers(checked);
    this.#next?.addIndexers(checked);
    Object.assign(this.#indexers, added);
  }

  /** Builds an index again with another function, from the objects that are stored. */
  setIndexer(name: string, func: Indexers<T>[string]): void {
    const { [name]: checked = func } = this.#checked({ [name]: func });
    this.#items.setIndexer(name, checked);
    this.#next?.setIndexer(name, checked);
    this.#indexers[name] = func;
    this.#failures?.changed();
  }

  removeIndexer(name: string): void {
    this.#items.removeIndexer(name);
    this.#next?.removeIndexer(name);
    delete this.#indexers[name];
    this.#failures?.changed();
  }

  isUnindexed(indexName: string, key: string): boolean {
    return this.#items.isUnindexed(indexName, key) || this.#next?.isUnindexed(indexName, key) === true;
  }

  reindex(indexName: string, key: string): void {
    this.#items.reindex(indexName, key);
    this.#next?.reindex(indexName, key);
  }

  /** A failing index function must not keep an object out of the store. */
  readonly #onIndexError = (error: unknown, index: string, key: string, obj: T): void => {
    this.#failures?.failed(error, index, key, obj);
  };

  #checked(indexers: Indexers<T>): Indexers<T> {
    // A custom index function could write to its argument.
    const check = (func: Indexers<T>[string]) => (obj: T) => texts(func(freeze(obj)));
    return Object.fromEntries(
      Object.entries(indexers).map(([name, func]) => [name, func === byNamespace ? func : check(func)]),
    );
  }
}

function texts(values: unknown): readonly string[] {
  if (values instanceof Promise) {
    values.catch(() => {});
    throw new TypeError('index function must return an array of strings, got a promise; remove async');
  }
  if (!Array.isArray(values)) {
    throw new TypeError(`index function must return an array of strings, got ${describeValue(values)}`);
  }
  for (const value of values) if (typeof value !== 'string') throw oddValue(value);
  return values as readonly string[];
}

function oddValue(value: unknown): TypeError {
  return new TypeError(`index function must return an array of strings, got ${describeValue(value)} in it`);
}

function frozen<T>(objects: T[]): T[] {
  for (let at = 0; at < objects.length; at += 1) freeze(objects[at]);
  return objects;
}
