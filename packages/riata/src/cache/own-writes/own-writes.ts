import { compareResourceVersions } from '../../object/compare-resource-versions.js';
import type { KubeObject, ObjectMeta } from '../../object/meta.js';
import { freeze } from '../../object/value/freeze.js';
import type { Metrics } from '../../runtime/metrics.js';
import { abortable } from '../../runtime/signals.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { OwnWriteMetrics } from './own-write-metrics.js';
import { expiryMs, type UncertainWrite, type UncertainWriteEntry, UncertainWrites } from './uncertain-writes.js';

/** How many deleted objects of one name are remembered; the watch is never that far behind. */
const mostGone = 16;

/** The state of one object by own writes. */
interface Entry<T> {
  /** None: not to be seen. */
  readonly object: T | undefined;
  readonly uid: string;
  /** Unknown for most deletions. */
  readonly resourceVersion: string | undefined;
  /** Deleted: this UID never comes back. */
  readonly isGone: boolean;
  /** Of deletions without a revision: a revision that is known to be older. */
  readonly after?: string;
  /** Of deletions: objects of that name that were deleted as well; the watch may show any of them still. */
  readonly alsoGone?: readonly string[];
  readonly sinceMs: number;
}

/** Options of {@link OwnWrites}. */
export interface OwnWritesOptions {
  readonly clock: Scheduler;
  readonly metrics: Metrics;
  /** Names the metrics' series, e.g. `pods`. */
  readonly name: string;
  /**
   * The object that the watch has shown under a key. By it a deletion is noticed of an object that the watch has not shown
   * yet: whether what it has shown came before or after is {@link OwnWrites.uncertainWriteOf | uncertain} then.
   * @default not known
   */
  readonly shown?: (key: string) => KubeObject | undefined;
}

/**
 * What this process has written and the watch has not shown yet (`cache.MutationCache`): laid over the state of the
 * watch, it gives a view in which own writes are visible at once. Handlers never see it.
 *
 * Every write is kept until the watch has reached its resourceVersion, so answers may come late, twice and in any
 * order. A deletion holds for its UID alone: a new object under the same name is visible.
 */
export class OwnWrites<T extends KubeObject> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #uncertain: UncertainWrites;
  readonly #waiting = new Set<{ readonly resourceVersion: string; resolve(): void }>();
  readonly #clock: Scheduler;
  readonly #metrics: OwnWriteMetrics;
  readonly #shown: (key: string) => KubeObject | undefined;
  /** Everything up to here has been shown by the watch. */
  #shownUpTo = '';

  constructor(options: OwnWritesOptions) {
    this.#clock = options.clock;
    this.#uncertain = new UncertainWrites(options.clock, (resourceVersion) => this.#isShown(resourceVersion));
    this.#metrics = new OwnWriteMetrics(options.metrics, options.name);
    this.#shown = options.shown ?? (() => undefined);
  }

  /** How many objects own writes have changed, at most. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * The server has stored an object. `object` is how the cache is to show it; taken over, and frozen. None: the cache's
   * selection leaves such an object out.
   */
  written(key: string, { uid, resourceVersion }: ObjectMeta, object: T | undefined): void {
    if (this.#isShown(resourceVersion)) return;
    const prior = this.#entries.get(key);
    if (prior !== undefined) {
      if (isGone(prior, uid)) return;
      const priorVersion = prior.resourceVersion ?? prior.after;
      if (priorVersion !== undefined && isNewer(priorVersion, resourceVersion)) return;
    }
    const sinceMs = this.#clock.monotonic();
    this.#set(key, { object: freeze(object), uid, resourceVersion, isGone: false, sinceMs });
  }

  /** The object with this UID was deleted. */
  deleted(key: string, uid: string, resourceVersion?: string): void {
    if (resourceVersion !== undefined && this.#isShown(resourceVersion)) return;
    const prior = this.#entries.get(key);
    if (prior !== undefined && prior.uid !== uid) {
      if (resourceVersion !== undefined && prior.resourceVersion !== undefined) {
        if (isNewer(prior.resourceVersion, resourceVersion)) return;
      } else if (!prior.isGone) {
        // Which of the two came first is unknown.
        if (prior.object !== undefined) this.markUncertain(key);
        return;
      }
    }
    if (prior !== undefined && isGone(prior, uid) && resourceVersion === undefined) return;
    let after = prior?.resourceVersion ?? prior?.after;
    const sinceMs = this.#clock.monotonic();
    const alsoGone = prior?.isGone ? goneIn(prior).filter((other) => other !== uid) : [];
    // Of two deletions the one without a revision may be the later one: the watch has to show both.
    const isLast = prior?.isGone !== true || prior.resourceVersion !== undefined || alsoGone.length === 0;
    if (!isLast && resourceVersion !== undefined) after = newerOf(after, resourceVersion);
    const known = isLast ? resourceVersion : undefined;
    const entry: Entry<T> = { object: undefined, uid, resourceVersion: known, isGone: true, after, alsoGone, sinceMs };
    this.#set(key, entry);
    this.#markUncertainUnlessOlder(key, entry);
  }

  /** This object was or may have been changed; its state is unknown. */
  markUncertain(key: string, resourceVersion?: string): void {
    this.#uncertain.add(key, resourceVersion);
  }

  /** An unknown set of objects was or may have been changed. */
  markAllUncertain(resourceVersion?: string): void {
    this.#uncertain.addAll(resourceVersion);
  }

  /** The uncertain write to resolve before this object is read; without a key, the one about all objects. */
  uncertainWriteOf(key?: string): UncertainWrite | undefined {
    return this.#uncertain.of(key);
  }

  /** Keys of objects with an uncertain write of their own. */
  uncertainKeys(): string[] {
    return this.#uncertain.keys();
  }

  /** All uncertain writes, about single objects and about all. */
  uncertainWrites(): readonly UncertainWriteEntry[] {
    return this.#uncertain.open();
  }

  /** The server was at this revision after these writes: they are certain when the watch has reached it. */
  boundUncertainWrites(open: readonly UncertainWriteEntry[], resourceVersion: string): void {
    this.#uncertain.bound(open, resourceVersion);
  }

  /**
   * The server was asked about an uncertain write: for one object, or, without a key, for all. Later writes stay uncertain. A
   * write about all objects may be settled for one of them.
   */
  settle(write: UncertainWrite, key?: string): void {
    this.#uncertain.settle(write, key);
  }

  /** The watch has shown this version of the object. */
  shown(key: string, resourceVersion: string): void {
    this.#advance(resourceVersion);
    if (this.#entries.size > 0) {
      const entry = this.#entries.get(key);
      if (entry?.resourceVersion === resourceVersion) this.#drop(key, entry);
      else if (entry !== undefined) this.#markUncertainUnlessOlder(key, entry);
      this.#sweepSome();
    }
    this.#advanced();
  }

  /** The watch has shown that the object with this UID was deleted. */
  shownDeleted(key: string, uid: string | undefined, resourceVersion: string | undefined): void {
    if (resourceVersion !== undefined) this.#advance(resourceVersion);
    if (this.#entries.size > 0) {
      const entry = this.#entries.get(key);
      if (entry?.isGone && entry.resourceVersion === undefined) {
        const [next, ...others] = goneIn(entry).filter((gone) => gone !== uid);
        if (next === undefined) this.#drop(key, entry);
        else this.#entries.set(key, { ...entry, uid: next, alsoGone: others });
      } else if (entry !== undefined && entry.uid === uid) {
        if (entry.isGone || !isComparable(entry, this.#shownUpTo)) this.#drop(key, entry);
      }
      this.#sweepSome();
    }
    this.#advanced();
  }

  /** The watch has shown everything up to here: a bookmark. */
  shownUpTo(resourceVersion: string): void {
    this.#shownUpTo = resourceVersion;
    for (const [key, entry] of this.#entries) if (this.#isOver(entry)) this.#drop(key, entry);
    this.#advanced();
  }

  /**
   * All objects have been listed again. Returns objects of own writes that were visible until now and that only the
   * list reports: where it does not have one, the object was created and deleted in a gap of the watch.
   */
  shownAll(resourceVersion: string): readonly (readonly [key: string, object: T])[] {
    this.#shownUpTo = resourceVersion;
    const seen: (readonly [string, T])[] = [];
    for (const [key, entry] of this.#entries) {
      if (!this.#isOver(entry) && isComparable(entry, resourceVersion)) {
        this.#markUncertainUnlessOlder(key, entry);
        continue;
      }
      if (entry.object !== undefined) seen.push([key, entry.object]);
      this.#drop(key, entry);
    }
    this.#advanced();
    return seen;
  }

  /** Resolves when the watch has come to this revision. Rejects with the signal's reason. */
  async reached(resourceVersion: string, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (this.#isShown(resourceVersion)) return;
    const waiter = { resourceVersion, resolve: () => {} };
    this.#waiting.add(waiter);
    try {
      await abortable(new Promise<void>((resolve) => Object.assign(waiter, { resolve })), options.signal);
    } finally {
      this.#waiting.delete(waiter);
    }
  }

  /** The object to show under this key, given the state of the watch. */
  view(key: string, base: T | undefined): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return base;
    if (this.#isOver(entry)) {
      this.#drop(key, entry);
      return base;
    }
    if (entry.object !== undefined || entry.resourceVersion !== undefined || base === undefined) return entry.object;
    if (base.metadata.uid === entry.uid || entry.alsoGone?.includes(base.metadata.uid)) return undefined;
    return entry.after !== undefined && !isNewer(base.metadata.resourceVersion, entry.after) ? undefined : base;
  }

  /** Keys of the objects that may look different from what the watch has shown. */
  keys(): string[] {
    return [...this.#entries.keys()];
  }

  /** Was the object that the watch shows there before the one that was deleted, or is it there after it? */
  #markUncertainUnlessOlder(key: string, entry: Entry<T>): void {
    if (!entry.isGone || entry.resourceVersion !== undefined) return;
    const identity = this.#shown(key)?.metadata;
    if (!identity?.uid || isGone(entry, identity.uid)) return;
    const isOlder = entry.after !== undefined && !isNewer(identity.resourceVersion ?? '', entry.after);
    if (!isOlder) this.markUncertain(key);
  }

  #isShown(resourceVersion: string): boolean {
    const order = compareResourceVersions(resourceVersion, this.#shownUpTo);
    return order !== undefined && order <= 0;
  }

  #isOver(entry: Entry<T>): boolean {
    if (entry.resourceVersion !== undefined) return this.#isShown(entry.resourceVersion);
    return this.#clock.monotonic() - entry.sinceMs > expiryMs;
  }

  /** The oldest two: enough for what is over to go as fast as it comes, at a cost that does not grow. */
  #sweepSome(): void {
    let count = 0;
    for (const [key, entry] of this.#entries) {
      if (this.#isOver(entry)) this.#drop(key, entry);
      count += 1;
      if (count === 2) return;
    }
  }

  /** A missed deletion is reported with an older version: that is no step back. */
  #advance(resourceVersion: string): void {
    const order = compareResourceVersions(resourceVersion, this.#shownUpTo);
    if (order === undefined || order > 0) this.#shownUpTo = resourceVersion;
  }

  #advanced(): void {
    this.#uncertain.advanced();
    for (const waiter of this.#waiting) if (this.#isShown(waiter.resourceVersion)) waiter.resolve();
  }

  #set(key: string, entry: Entry<T>): void {
    // Put at the end: the oldest ones are swept first.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#metrics.count(this.#entries.size);
  }

  #drop(key: string, entry: Entry<T>): void {
    this.#entries.delete(key);
    this.#metrics.dropped(this.#clock.monotonic() - entry.sinceMs, this.#entries.size);
  }
}

/** The UIDs of a deletion, the last one first. */
function goneIn({ uid, alsoGone = [] }: Entry<unknown>): string[] {
  return [uid, ...alsoGone].slice(0, mostGone);
}

function newerOf(a: string | undefined, b: string): string {
  return a !== undefined && isNewer(a, b) ? a : b;
}

function isGone({ isGone, uid, alsoGone }: Entry<unknown>, desired: string): boolean {
  return isGone && (uid === desired || alsoGone?.includes(desired) === true);
}

function isNewer(a: string, b: string): boolean {
  const order = compareResourceVersions(a, b);
  return order !== undefined && order > 0;
}

/** Whether its revision shows when the watch has reached it. */
function isComparable(entry: Entry<unknown>, resourceVersion: string): boolean {
  return (
    entry.resourceVersion === undefined || compareResourceVersions(entry.resourceVersion, resourceVersion) !== undefined
  );
}
