import type { KubeObject } from 'riata/object';

/** One stored version of an object. The object is frozen; its `resourceVersion` is the revision. */
export interface Stored {
  /** `namespace/name`, or `name` alone. */
  readonly key: string;
  /** The revision of the write that created this version. */
  readonly revision: number;
  readonly object: KubeObject;
}

/** One write. Revisions increase without gaps across all resources. */
export interface StorageEvent {
  readonly revision: number;
  readonly key: string;
  /** The version before the write; undefined if the write created the object. */
  readonly before: Stored | undefined;
  /** The version after the write; undefined if the write removed the object. */
  readonly after: Stored | undefined;
  /** The object that a DELETED event shows: the last state, at the revision of the removal. */
  readonly removed: Stored | undefined;
}

/** Selects the objects to list. */
export interface ListRange {
  /** Only keys with this prefix, e.g. `shop/`. @default all */
  readonly prefix?: string;
  /** Only keys after this one, where the previous page ended. */
  readonly after?: string;
  /** Maximum number of objects that pass the filter. @default no limit */
  readonly limit?: number;
  /** List the state at this revision. @default the current one */
  readonly revision?: number;
  /** Selects objects; others don't count towards `limit`. */
  readonly filter?: (stored: Stored) => boolean;
}

/** A page of a list. */
export interface ListPage {
  readonly items: readonly Stored[];
  /** The revision of the listed state. */
  readonly revision: number;
  /** Whether more keys follow. */
  readonly more: boolean;
  /** How many keys follow, before filtering. */
  readonly remaining: number;
}

/** Objects that exist from the start, without a write. */
export interface Seed {
  readonly count: number;
  /** Creates the objects by key; the first has revision `first`. Called at most once. */
  make(first: number): readonly (readonly [key: string, object: KubeObject])[];
}

/**
 * Stores objects as a history of versions with one revision counter. Reads and writes are synchronous, so a read, a
 * decision and a write without an `await` in between are one transaction. A durable storage persists writes later:
 * until it has, the server answers no request that depends on them, and `watch` delivers none of them.
 */
export interface Storage {
  /** The revision of the newest write. */
  readonly revision: number;
  /** Reads and watches below this revision fail, since their history was compacted. */
  readonly compacted: number;
  get(resource: string, key: string): Stored | undefined;
  list(resource: string, range?: ListRange): ListPage;
  /** Current number of objects. */
  count(resource: string): number;
  /** Stores the object that `make` returns for the revision of this write. */
  put(resource: string, key: string, make: (revision: number) => KubeObject): Stored;
  /**
   * Stores the first objects of a resource, each with a revision of its own, like a series of `put`. They may be
   * created as late as the first read, write or watch of the resource. Observers are not notified.
   * @default the server stores them one by one
   */
  seed?(resource: string, objects: Seed): void;
  /** Removes an object; `make` returns its last state for the revision of the removal. Throws if it doesn't exist. */
  remove(resource: string, key: string, make: (revision: number) => KubeObject): Stored;
  /**
   * Delivers every durable write of `resource` after revision `from`, past ones first, in order. Throws
   * {@link CompactedError} if some of them were compacted.
   */
  watch(resource: string, from: number, listener: (event: StorageEvent) => void): Disposable;
  /** Calls back synchronously on every write of every resource. */
  observe(listener: (resource: string, event: StorageEvent) => void): Disposable;
  /** Drops history before `revision`: versions that were replaced by then, and the events up to it. */
  compact(revision: number): void;
  /** The newest revision that was delivered to watches; all writes up to it are durable. */
  readonly durableRevision: number;
  /**
   * Resolves when all writes up to `revision` are durable and delivered to watches; returns undefined if they already
   * are. Rejects while they cannot be stored.
   */
  durable(revision: number): Promise<void> | undefined;
  /** Why writes cannot currently be stored. @default undefined: they can */
  readonly problem?: Error | undefined;
  /** A snapshot of the current state. @default the server doesn't support snapshots */
  snapshot?(): StorageSnapshot;
}

/** The objects of a storage at one revision. They are immutable, so any number of storages can start from it. */
export interface StorageSnapshot {
  readonly revision: number;
  /** By resource, and within it by key. */
  readonly resources: ReadonlyMap<string, ReadonlyMap<string, Stored>>;
}

/** The requested revision was compacted. */
export class CompactedError extends Error {
  readonly asked: number;
  readonly oldest: number;

  constructor(asked: number, oldest: number) {
    super(`revision ${asked} is compacted; the oldest is ${oldest}`);
    this.name = 'CompactedError';
    this.asked = asked;
    this.oldest = oldest;
  }
}
