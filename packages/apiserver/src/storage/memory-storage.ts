import type { KubeObject } from 'riata/object';
import { type Clock, optionNames, refuseUnknownOptions } from 'riata/runtime';
import {
  CompactedError,
  type ListPage,
  type ListRange,
  type Seed,
  type Storage,
  type StorageEvent,
  type StorageSnapshot,
  type Stored,
} from './storage.js';

/** How much history to keep, and where to start. */
export interface MemoryStorageOptions {
  readonly clock: Clock;
  /** Compacts writes older than this, as kube-apiserver makes etcd do. @default 300000 (5 min) */
  readonly historyMs?: number;
  /** Maximum number of writes to keep, however recent. @default 100000 */
  readonly historyWrites?: number;
  /** The first revision minus one. A restarted server must not reuse revisions. @default 0 */
  readonly revision?: number;
  /** Objects to start with; history begins there. @default nothing */
  readonly from?: StorageSnapshot;
}

export const memoryStorageOptionNames = optionNames<MemoryStorageOptions>({
  clock: true,
  historyMs: true,
  historyWrites: true,
  revision: true,
  from: true,
});

/** Keeps all data in memory. */
export class MemoryStorage implements Storage {
  readonly #clock: Clock;
  readonly #historyMs: number;
  readonly #historyWrites: number;
  readonly #tables = new Map<string, Table>();
  /** Every write in the history, in order, so that its table can drop it when it expires. */
  #log: { readonly revision: number; readonly at: number }[] = [];
  readonly #observers = new Set<(resource: string, event: StorageEvent) => void>();
  #revision: number;
  #compacted = 0;
  /** Watches cannot start before this revision, since snapshots contain no events. */
  #oldestWatch = 0;

  constructor(options: MemoryStorageOptions) {
    refuseUnknownOptions('MemoryStorage', options, memoryStorageOptionNames);
    this.#clock = options.clock;
    this.#historyMs = options.historyMs ?? 300_000;
    this.#historyWrites = options.historyWrites ?? 100_000;
    this.#revision = options.revision ?? options.from?.revision ?? 0;
    this.#compacted = this.#revision;
    for (const [resource, objects] of options.from?.resources ?? []) this.#tables.set(resource, new Table(objects));
  }

  /**
   * Loads the versions that an earlier storage wrote, each with its revision, oldest first; `stored` is undefined for a
   * removal. Drops history older than `compacted`. Only for a new storage, before any other call.
   */
  restore(versions: Iterable<RestoredVersion>, revision: number, compacted: number): void {
    for (const version of versions) this.#table(version.resource).restore(version, compacted);
    this.#revision = revision;
    this.#oldestWatch = revision;
    // The remaining history expires from now on.
    this.#log.push({ revision, at: this.#clock.monotonic() });
    this.#compacted = compacted;
  }

  snapshot(): StorageSnapshot {
    const resources = new Map([...this.#tables].map(([resource, table]) => [resource, table.copy()]));
    return { revision: this.#revision, resources };
  }

  get revision(): number {
    return this.#revision;
  }

  get compacted(): number {
    return this.#compacted;
  }

  get(resource: string, key: string): Stored | undefined {
    return this.#tables.get(resource)?.get(key);
  }

  count(resource: string): number {
    return this.#tables.get(resource)?.size ?? 0;
  }

  list(resource: string, range: ListRange = {}): ListPage {
    const { revision = this.#revision } = range;
    if (revision < this.#compacted) throw new CompactedError(revision, this.#compacted);
    const table = this.#tables.get(resource);
    return table?.list({ ...range, revision }, revision === this.#revision) ?? emptyPage(revision);
  }

  put(resource: string, key: string, make: (revision: number) => KubeObject): Stored {
    const revision = this.#revision + 1;
    const after: Stored = { key, revision, object: make(revision) };
    this.#commit(resource, key, revision, after, undefined);
    return after;
  }

  seed(resource: string, objects: Seed): void {
    const first = this.#revision + 1;
    this.#revision += objects.count;
    this.#log.push({ revision: this.#revision, at: this.#clock.monotonic() });
    this.#table(resource).seed(first, objects);
  }

  remove(resource: string, key: string, make: (revision: number) => KubeObject): Stored {
    if (this.get(resource, key) === undefined)
      throw new Error(`storage: ${resource} ${key} is not there to be removed`);
    const revision = this.#revision + 1;
    const removed: Stored = { key, revision, object: make(revision) };
    this.#commit(resource, key, revision, undefined, removed);
    return removed;
  }

  watch(resource: string, from: number, listener: (event: StorageEvent) => void): Disposable {
    const oldest = Math.max(this.#compacted, this.#oldestWatch);
    if (from < oldest) throw new CompactedError(from, oldest);
    return this.#table(resource).watch(from, listener);
  }

  observe(listener: (resource: string, event: StorageEvent) => void): Disposable {
    this.#observers.add(listener);
    return { [Symbol.dispose]: () => void this.#observers.delete(listener) };
  }

  compact(revision: number): void {
    const target = Math.min(revision, this.#revision);
    if (target <= this.#compacted) return;
    this.#compacted = target;
    const first = this.#log.findIndex((entry) => entry.revision > target);
    this.#log = first < 0 ? [] : this.#log.slice(first);
    for (const table of this.#tables.values()) table.compact(target);
  }

  get durableRevision(): number {
    return this.#revision;
  }

  durable(): undefined {
    return undefined;
  }

  #table(resource: string): Table {
    const known = this.#tables.get(resource);
    if (known !== undefined) return known;
    const table = new Table();
    this.#tables.set(resource, table);
    return table;
  }

  #commit(resource: string, key: string, revision: number, after: Stored | undefined, removed: Stored | undefined) {
    this.#revision = revision;
    this.#log.push({ revision, at: this.#clock.monotonic() });
    const event = { revision, key, before: this.get(resource, key), after, removed };
    this.#table(resource).write(event);
    for (const observer of [...this.#observers]) observer(resource, event);
    this.#forget();
  }

  /** Compacts once the history exceeds its limit by a tenth, so that one pass serves many writes. */
  #forget(): void {
    const tooMany = this.#log.length - this.#historyWrites;
    if (tooMany > this.#historyWrites / 10) this.compact(this.#log[tooMany - 1]!.revision);
    const age = this.#clock.monotonic() - this.#log[0]!.at;
    if (age <= this.#historyMs * 1.1) return;
    const limit = this.#clock.monotonic() - this.#historyMs;
    this.compact(this.#log.findLast((entry) => entry.at <= limit)!.revision);
  }
}

/** One version to load; `stored` is undefined for a removal. */
export interface RestoredVersion {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  readonly stored: Stored | undefined;
}

/** The versions of one object in the history, oldest first; an undefined `stored` means that it did not exist. */
type Chain = { readonly revision: number; readonly stored: Stored | undefined }[];

/** One resource: its objects, their older versions, recent writes and watches. */
class Table {
  readonly #current: Map<string, Stored>;
  /** The sorted keys of `#current`; undefined when they must be sorted again. */
  #keys: string[] | undefined;
  /** Versions of keys that changed since the last compaction. Other keys have not changed since. */
  readonly #chains = new Map<string, Chain>();
  #events: StorageEvent[] = [];
  readonly #listeners = new Set<(event: StorageEvent) => void>();
  /** Seeded objects that were not created yet. */
  #seed: (() => void) | undefined;
  #seeded = 0;
  /** The compacted revision at the time of seeding. */
  #compactedBefore = 0;

  constructor(objects?: ReadonlyMap<string, Stored>) {
    this.#current = new Map(objects);
    this.#keys = objects === undefined ? [] : undefined;
  }

  copy(): ReadonlyMap<string, Stored> {
    this.#seed?.();
    return new Map(this.#current);
  }

  /** Loads a version that was written before, without an event. */
  restore({ key, revision, stored }: RestoredVersion, compacted: number): void {
    if (revision > compacted) {
      const before = this.#current.get(key);
      const chain = this.#chains.get(key) ?? [{ revision: before?.revision ?? 0, stored: before }];
      chain.push({ revision, stored });
      this.#chains.set(key, chain);
    }
    if (stored === undefined) this.#current.delete(key);
    else this.#current.set(key, stored);
    this.#keys = undefined;
  }

  get size(): number {
    return this.#current.size + this.#seeded;
  }

  seed(first: number, { count, make }: Seed): void {
    if (this.size > 0) throw new Error('storage: a resource that has objects cannot be seeded');
    this.#seeded = count;
    this.#seed = () => {
      this.#seed = undefined;
      this.#seeded = 0;
      make(first).forEach(([key, object], index) => {
        const after = { key, revision: first + index, object };
        this.write({ revision: after.revision, key, before: undefined, after, removed: undefined });
      });
      if (this.#compactedBefore > 0) this.compact(this.#compactedBefore);
    };
  }

  get(key: string): Stored | undefined {
    this.#seed?.();
    return this.#current.get(key);
  }

  write(event: StorageEvent): void {
    this.#seed?.();
    const { key, revision, before, after } = event;
    const chain = this.#chains.get(key) ?? [{ revision: before?.revision ?? 0, stored: before }];
    chain.push({ revision, stored: after });
    this.#chains.set(key, chain);
    if (after === undefined) {
      this.#current.delete(key);
      this.#dropKey(key);
    } else {
      this.#current.set(key, after);
      if (before === undefined) this.#addKey(key);
    }
    this.#events.push(event);
    // A listener may stop itself or start another one.
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener(event);
  }

  watch(from: number, listener: (event: StorageEvent) => void): Disposable {
    this.#seed?.();
    for (const event of this.#events.slice(firstAfter(this.#events, from))) listener(event);
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  compact(revision: number): void {
    if (this.#seed !== undefined) {
      this.#compactedBefore = revision;
      return;
    }
    this.#events = this.#events.slice(firstAfter(this.#events, revision));
    for (const [key, chain] of this.#chains) {
      const newest = chain.findLastIndex((version) => version.revision <= revision);
      if (newest === chain.length - 1) this.#chains.delete(key);
      else if (newest > 0) this.#chains.set(key, chain.slice(newest));
    }
  }

  list(range: ListRange & { readonly revision: number }, isNow: boolean): ListPage {
    this.#seed?.();
    const { prefix = '', after, limit, filter, revision } = range;
    const keys = isNow ? this.#sorted() : this.#keysAt();
    const items: Stored[] = [];
    let at = after === undefined ? lowerBound(keys, prefix) : upperBound(keys, after);
    for (; at < keys.length && keys[at]!.startsWith(prefix); at++) {
      const stored = this.#at(keys[at]!, revision, isNow);
      if (stored === undefined || (filter !== undefined && !filter(stored))) continue;
      if (limit !== undefined && items.length === limit) break;
      items.push(stored);
    }
    const remaining = limit === undefined ? 0 : this.#countFrom(keys, at, prefix, revision, isNow);
    return { items, revision, more: remaining > 0, remaining };
  }

  #countFrom(keys: readonly string[], from: number, prefix: string, revision: number, isNow: boolean): number {
    if (isNow) return Math.max(0, lowerBound(keys, `${prefix}\uffff`) - from);
    let count = 0;
    for (let at = from; at < keys.length && keys[at]!.startsWith(prefix); at++) {
      if (this.#at(keys[at]!, revision, false) !== undefined) count++;
    }
    return count;
  }

  #at(key: string, revision: number, isNow: boolean): Stored | undefined {
    if (isNow) return this.#current.get(key);
    const chain = this.#chains.get(key);
    if (chain === undefined) return this.#current.get(key);
    return chain.findLast((version) => version.revision <= revision)?.stored;
  }

  /** Keys of objects that exist now or existed within the history. */
  #keysAt(): string[] {
    const gone = [...this.#chains.keys()].filter((key) => !this.#current.has(key));
    return gone.length === 0 ? this.#sorted() : [...this.#current.keys(), ...gone].sort(byText);
  }

  #sorted(): string[] {
    this.#keys ??= [...this.#current.keys()].sort(byText);
    return this.#keys;
  }

  #addKey(key: string): void {
    if (this.#keys === undefined) return;
    const last = this.#keys.at(-1);
    if (last === undefined || last < key) this.#keys.push(key);
    else this.#keys.splice(lowerBound(this.#keys, key), 0, key);
  }

  #dropKey(key: string): void {
    if (this.#keys !== undefined) this.#keys.splice(lowerBound(this.#keys, key), 1);
  }
}

function emptyPage(revision: number): ListPage {
  return { items: [], revision, more: false, remaining: 0 };
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Index of the first key ≥ `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  return firstIndex(keys.length, (i) => keys[i]! >= key);
}

/** Index of the first key > `key`. */
function upperBound(keys: readonly string[], key: string): number {
  return firstIndex(keys.length, (i) => keys[i]! > key);
}

function firstAfter(events: readonly StorageEvent[], revision: number): number {
  return firstIndex(events.length, (i) => events[i]!.revision > revision);
}

/** Binary search: the first index that passes, given that all indexes behind it pass, too. */
function firstIndex(length: number, passes: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (passes(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
