import type { KubeObject } from 'riata/object';

/** One version of an object as it is stored. The object is frozen; its `resourceVersion` is the revision. */
export interface Stored {
  /** `namespace/name`, or `name` alone. */
  readonly key: string;
  /** The revision of the write that made this version. */
  readonly revision: number;
  readonly object: KubeObject;
}

/** What a write did. Revisions rise without gaps over all resources together. */
export interface StorageEvent {
  readonly revision: number;
  readonly key: string;
  /** The version before; undefined when the write made the object. */
  readonly before: Stored | undefined;
  /** The version after; undefined when the write removed the object. */
  readonly after: Stored | undefined;
  /** What is told of a removal: the last state, at the revision of the removal. */
  readonly removed: Stored | undefined;
}

/** Which objects of a resource are listed. */
export interface ListRange {
  /** Only keys that begin with this, e.g. `shop/`. @default all */
  readonly prefix?: string;
  /** Only keys behind this one: where the page before ended. */
  readonly after?: string;
  /** At most so many that pass the filter. @default no limit */
  readonly limit?: number;
  /** As things were at this revision. @default now */
  readonly revision?: number;
  /** Leaves others out. Not counted by `limit`. */
  readonly filter?: (stored: Stored) => boolean;
}

/** A page of a list. */
export interface ListPage {
  readonly items: readonly Stored[];
  /** The revision that the items are of. */
  readonly revision: number;
  /** Whether more keys follow behind the last one. */
  readonly more: boolean;
  /** How many keys follow, filter not applied. */
  readonly remaining: number;
}

/** Objects that exist from the start, without a write. */
export interface Seed {
  readonly count: number;
  /** The objects, by their keys; the first has the revision `first`. Called at most once. */
  make(first: number): readonly (readonly [key: string, object: KubeObject])[];
}

/**
 * Where objects live: a history of versions under one revision counter. Reads and writes are immediate, so that a
 * read, a decision and a write that follow each other without an `await` are one transaction. What outlives the process
 * writes it down later: the server answers no request and `watch` hands over no event before that is done.
 */
export interface Storage {
  /** The revision of the newest write. */
  readonly revision: number;
  /** Reads and watches below this revision are refused: their history is gone. */
  readonly compacted: number;
  get(resource: string, key: string): Stored | undefined;
  list(resource: string, range?: ListRange): ListPage;
  /** Number of objects now. */
  count(resource: string): number;
  /** Stores what `make` gives for the revision of this write. */
  put(resource: string, key: string, make: (revision: number) => KubeObject): Stored;
  /**
   * Stores new objects of a resource that has none yet, each with a revision of its own, as one `put` after the other
   * would. They may be created as late as the first read, write or watch of the resource. Observers are not notified.
   * @default the server stores them one by one
   */
  seed?(resource: string, objects: Seed): void;
  /** Removes an object; `make` gives its last state for the revision of the removal. Throws if there is none. */
  remove(resource: string, key: string, make: (revision: number) => KubeObject): Stored;
  /**
   * Hands over every durable write of `resource` after revision `from`, first those that were, then those that come, in
   * order. Throws {@link CompactedError} if some of them are gone.
   */
  watch(resource: string, from: number, listener: (event: StorageEvent) => void): Disposable;
  /** Hands over every write of every resource, as part of the write. */
  observe(listener: (resource: string, event: StorageEvent) => void): Disposable;
  /** Forgets what is older than `revision`: versions that were replaced by then, and the events up to it. */
  compact(revision: number): void;
  /** The newest revision that watches have been told of: all writes up to it are durable. */
  readonly durableRevision: number;
  /**
   * Resolves when all writes up to `revision` are durable and watches have been told of them; undefined if that is so.
   * Rejects while they cannot be stored.
   */
  durable(revision: number): Promise<void> | undefined;
  /** Why writes cannot be stored at present. @default nothing is wrong */
  readonly problem?: Error | undefined;
  /** What it holds now, for a storage that starts from there. @default the server cannot make snapshots of it */
  snapshot?(): StorageSnapshot;
}

/** The objects of a storage at one revision. Nobody changes them, so that any number of storages can start from it. */
export interface StorageSnapshot {
  readonly revision: number;
  /** By resource, and within it by key. */
  readonly resources: ReadonlyMap<string, ReadonlyMap<string, Stored>>;
}

/** A revision was asked for whose history is gone. */
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
