import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { defaultKeyFunc, type KeyFunc, keyed, resourceVersionOf } from '../store/key-func.js';
import type { KeyListerGetter } from '../store/store.js';
import { DeletedFinalStateUnknown, isDeletedFinalStateUnknown } from './deleted-final-state-unknown.js';
import type { Delta, ObjectDelta } from './delta.js';
import { DeltaLine, type LinedDelta } from './delta-line.js';
import { PopGate, type PopOptions, type PopProcessFunc, type Queue } from './queue.js';
import { SyncedFlag } from './synced-flag.js';

/** Options of an {@link OrderedFIFO} (`cache.RealFIFOOptions`). */
export interface OrderedFIFOOptions<T> {
  /** @default keyOf: `namespace/name` */
  readonly keyFunc?: KeyFunc<T>;
  /**
   * The objects that the reader of the queue knows. If given, `replace` and `resync` are queued object by object, as in
   * a `DeltaFIFO`, and bookmarks are not queued. @default none: atomic, `ReplacedAll`, `SyncAll` and `Bookmark`
   */
  readonly knownObjects?: KeyListerGetter<T>;
  /** Applied to every object once before it is queued (`cache.TransformFunc`). @default none */
  readonly transform?: (obj: T) => T;
  /** The most changes that `popBatch` hands out at once. @default 1000 */
  readonly batchSize?: number;
}

export const orderedFIFOOptionNames = optionNames<OrderedFIFOOptions<unknown>>({
  keyFunc: true,
  knownObjects: true,
  transform: true,
  batchSize: true,
});

/**
 * A queue of changes that keeps their order (`cache.RealFIFO`, with `AtomicEvents` unless `knownObjects` are given):
 * nothing is merged, and an object comes as often as it changed. Informers use it: the states that a reader sees of two
 * objects existed together at some time.
 *
 * An item that is requeued by a `RequeueError` comes next again. If a method throws, nothing changed.
 */
export class OrderedFIFO<T> implements Queue<T, readonly Delta<T>[]> {
  readonly #keyOf: KeyFunc<T | DeletedFinalStateUnknown<T>>;
  readonly #knownObjects: KeyListerGetter<T> | undefined;
  readonly #transform: ((obj: T) => T) | undefined;
  readonly #batchSize: number;
  readonly #line = new DeltaLine<T>();
  readonly #gate = new PopGate(() => this.#line.length > 0);
  readonly #synced = new SyncedFlag();
  /** The item in flight: the reader may not know it yet. */
  #underway: readonly LinedDelta<T>[] = [];
  #populated = false;
  /** How many of the first queued changes belong to the first batch. */
  #initial = 0;
  #resourceVersion = '';

  constructor(options: OrderedFIFOOptions<T> = {}) {
    refuseUnknownOptions('OrderedFIFO', options, orderedFIFOOptionNames);
    const { keyFunc = defaultKeyFunc, knownObjects, transform, batchSize = 1000 } = options;
    if (!(batchSize >= 1)) throw new RangeError(`OrderedFIFO: batchSize must be ≥ 1, got ${batchSize}`);
    this.#keyOf = keyed(keyFunc);
    this.#knownObjects = knownObjects;
    this.#transform = transform;
    this.#batchSize = batchSize;
  }

  add(obj: T): void {
    this.#append({ key: this.#keyOf(obj), delta: { type: 'Added', object: this.#transformed(obj) } });
    this.#changed(resourceVersionOf(obj));
  }

  update(obj: T): void {
    this.#append({ key: this.#keyOf(obj), delta: { type: 'Updated', object: this.#transformed(obj) } });
    this.#changed(resourceVersionOf(obj));
  }

  delete(obj: T | DeletedFinalStateUnknown<T>): void {
    const object = isDeletedFinalStateUnknown(obj) ? obj : this.#transformed(obj);
    this.#append({ key: this.#keyOf(obj), delta: { type: 'Deleted', object } });
    this.#changed(resourceVersionOf(obj));
  }

  /** Puts back what `pop` or `popBatch` handed out, in front; changes that are still queued are not duplicated. */
  addIfNotPresent(deltas: readonly Delta<T>[]): void {
    const present = new Set(Array.from(this.#line, ({ delta }) => delta));
    const missing = deltas.filter((delta) => !present.has(delta));
    this.#line.unshift(
      missing.map((delta) => ({ key: 'object' in delta ? this.#keyOf(delta.object) : undefined, delta })),
    );
    if (this.#initial > 0) this.#initial += missing.length;
    this.#changed(undefined);
  }

  replace(list: readonly T[], resourceVersion: string): void {
    const known = this.#knownObjects;
    const objects = this.#transform === undefined ? list : list.map((obj) => this.#transformed(obj));
    if (known === undefined) this.#append({ key: undefined, delta: { type: 'ReplacedAll', objects, resourceVersion } });
    else for (const entry of this.#replacement(list, objects, known)) this.#append(entry);
    if (!this.#populated) this.#initial = this.#line.length;
    this.#changed(resourceVersion);
  }

  resync(): void {
    if (this.#knownObjects === undefined) this.#append({ key: undefined, delta: { type: 'SyncAll' } });
    else this.#resyncKnown(this.#knownObjects);
    this.#gate.wake();
  }

  bookmark(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
    if (this.#knownObjects !== undefined) return;
    this.#append({ key: undefined, delta: { type: 'Bookmark', resourceVersion } });
    this.#gate.wake();
  }

  /** As in every {@link Queue}: one change at a time, in an array of one. */
  pop(process: PopProcessFunc<readonly Delta<T>[]>, options?: PopOptions): Promise<readonly Delta<T>[]> {
    return this.#pop(() => this.#line.takeWhile(1, () => true), process, options);
  }

  /**
   * As `pop`, with several changes at once (`PopBatch`): as many as there are, at most `batchSize`, of different objects,
   * and never both of the first batch and of what came later. `ReplacedAll`, `SyncAll` and `Bookmark` come alone.
   */
  popBatch(process: PopProcessFunc<readonly Delta<T>[]>, options?: PopOptions): Promise<readonly Delta<T>[]> {
    return this.#pop(() => this.#takeBatch(), process, options);
  }

  /** Every queued change, each in an array of one. */
  list(): (readonly Delta<T>[])[] {
    return Array.from(this.#line, ({ delta }) => [delta]);
  }

  /** Keys of the objects that have a queued change of their own. */
  listKeys(): string[] {
    const keys = new Set<string>();
    for (const { key } of this.#line) if (key !== undefined) keys.add(key);
    return [...keys];
  }

  /** The queued changes of the object, oldest first. */
  get(obj: T): readonly Delta<T>[] | undefined {
    return this.getByKey(this.#keyOf(obj));
  }

  getByKey(key: string): readonly Delta<T>[] | undefined {
    const deltas: Delta<T>[] = [];
    for (const entry of this.#line) if (entry.key === key) deltas.push(entry.delta);
    return deltas.length === 0 ? undefined : deltas;
  }

  lastStoreSyncResourceVersion(): string {
    return this.#resourceVersion;
  }

  hasSynced(): boolean {
    return this.#synced.raised;
  }

  async synced(options?: PopOptions): Promise<void> {
    await this.#synced.wait(options?.signal);
  }

  close(): void {
    this.#gate.close();
  }

  isClosed(): boolean {
    return this.#gate.closed;
  }

  async #pop(
    take: () => LinedDelta<T>[],
    process: PopProcessFunc<readonly Delta<T>[]>,
    options: PopOptions | undefined,
  ): Promise<readonly Delta<T>[]> {
    let deltas: readonly Delta<T>[] = [];
    await this.#gate.pass(
      take,
      (taken) => {
        this.#underway = taken;
        deltas = taken.map(({ delta }) => delta);
        return process(deltas, !this.#synced.raised);
      },
      (taken, putBack) => {
        this.#underway = [];
        if (putBack) this.#line.unshift(taken);
        else this.#processed(taken.length);
      },
      options?.signal,
    );
    return deltas;
  }

  #takeBatch(): LinedDelta<T>[] {
    // Most batches by far: a watch that is followed.
    if (this.#line.length === 1) return this.#line.takeWhile(1, () => true);
    const keys = new Set<string>();
    const limit = this.#initial > 0 ? Math.min(this.#initial, this.#batchSize) : this.#batchSize;
    let isClosed = false;
    return this.#line.takeWhile(limit, ({ key }, at) => {
      if (isClosed) return false;
      if (key === undefined) {
        isClosed = true;
        return at === 0;
      }
      if (keys.has(key)) return false;
      keys.add(key);
      return true;
    });
  }

  #processed(count: number): void {
    if (this.#initial > 0) this.#initial -= count;
    this.#checkSynced();
  }

  #changed(resourceVersion: string | undefined): void {
    if (resourceVersion !== undefined) this.#resourceVersion = resourceVersion;
    this.#populated = true;
    this.#checkSynced();
    this.#gate.wake();
  }

  #checkSynced(): void {
    if (this.#populated && this.#initial === 0 && !this.#synced.raised) this.#synced.raise();
  }

  /** Object by object: deletions of what is queued and of what is known, then the list. */
  #replacement(list: readonly T[], objects: readonly T[], known: KeyListerGetter<T>): LinedDelta<T>[] {
    const replaced = list.map((obj) => this.#keyOf(obj));
    const keys = new Set(replaced);
    const entries: LinedDelta<T>[] = [];
    const vanish = (key: string, obj: T | undefined) =>
      entries.push({ key, delta: { type: 'Deleted', object: new DeletedFinalStateUnknown(key, obj) } });
    const last = this.#lastOfEach();
    for (const [key, delta] of last) {
      if (!keys.has(key) && delta.type !== 'Deleted') vanish(key, delta.object);
    }
    for (const key of known.listKeys()) if (!keys.has(key) && !last.has(key)) vanish(key, known.getByKey(key));
    for (const [at, object] of objects.entries())
      entries.push({ key: replaced[at], delta: { type: 'Replaced', object } });
    return entries;
  }

  #resyncKnown(known: KeyListerGetter<T>): void {
    const last = this.#lastOfEach();
    for (const knownKey of known.listKeys()) {
      const object = known.getByKey(knownKey);
      if (object === undefined) continue;
      const key = this.#keyOf(object);
      // A queued or in-flight change is newer than the known state: an older state must not come after it.
      if (!last.has(key)) this.#append({ key, delta: { type: 'Sync', object } });
    }
  }

  /** The last change of each object, of those in flight and queued. */
  #lastOfEach(): Map<string, ObjectDelta<T>> {
    const last = new Map<string, ObjectDelta<T>>();
    for (const { key, delta } of [...this.#underway, ...this.#line])
      if (key !== undefined && 'object' in delta) last.set(key, delta);
    return last;
  }

  #append(entry: LinedDelta<T>): void {
    this.#line.push(entry);
  }

  #transformed(obj: T): T {
    return this.#transform === undefined ? obj : this.#transform(obj);
  }
}
