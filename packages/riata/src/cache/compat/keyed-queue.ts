import type { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import { PopGate, type PopOptions, type PopProcessFunc, type Queue } from '../informer/queue.js';
import { SyncedFlag } from '../informer/synced-flag.js';
import { type KeyFunc, keyed } from '../store/key-func.js';

/** What `FIFO` and `DeltaFIFO` share: a queue of keys, each once, with a value. */
export abstract class KeyedQueue<T, A> implements Queue<T, A> {
  /** The line: a `Map` keeps the order in which its keys came in. */
  #items = new Map<string, A>();
  /** Stays at the front of the line. A new one for each pop would walk over what earlier pops have left empty. */
  #front = this.#items.entries();
  readonly #gate = new PopGate(() => this.#items.size > 0);
  readonly #synced = new SyncedFlag();
  /** Keys of the first batch that are still to be processed. */
  readonly #initial = new Set<string>();
  #underway: readonly [key: string, item: A] | undefined;
  #populated = false;
  #resourceVersion = '';
  /** Also of tombstones; throws a `KeyError`. */
  protected readonly keyOf: KeyFunc<T | DeletedFinalStateUnknown<T>>;

  protected constructor(keyFunc: KeyFunc<T>) {
    this.keyOf = keyed(keyFunc);
  }

  abstract add(obj: T): void;
  abstract update(obj: T): void;
  abstract delete(obj: T | DeletedFinalStateUnknown<T>): void;
  abstract replace(list: readonly T[], resourceVersion: string): void;
  abstract resync(): void;
  abstract addIfNotPresent(item: A): void;
  /** The value that a reader gets: a copy where it still changes. */
  protected abstract copy(item: A): A;
  /** The fate of a requeued item when there is something newer for its key. */
  protected abstract merged(putBack: A, newer: A): A;

  async pop(process: PopProcessFunc<A>, options?: PopOptions): Promise<A> {
    const [, item] = await this.#gate.pass(
      () => {
        this.#underway = this.#shift();
        return this.#underway;
      },
      ([key, item]) => process(item, this.#initial.has(key)),
      ([key, item], putBack) => {
        this.#underway = undefined;
        if (putBack) this.#putBack(key, item);
        else this.#processed(key);
      },
      options?.signal,
    );
    return item;
  }

  list(): A[] {
    return Array.from(this.#items.values(), (item) => this.copy(item));
  }

  listKeys(): string[] {
    return [...this.#items.keys()];
  }

  get(obj: T): A | undefined {
    return this.getByKey(this.keyOf(obj));
  }

  getByKey(key: string): A | undefined {
    const item = this.#items.get(key);
    return item === undefined ? undefined : this.copy(item);
  }

  bookmark(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
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

  /** The value that waits under this key, not a copy. */
  protected waiting(key: string): A | undefined {
    return this.#items.get(key);
  }

  /** The item in flight, if it is under this key: its reader may not have seen it yet. */
  protected underway(key: string): A | undefined {
    return this.#underway?.[0] === key ? this.#underway[1] : undefined;
  }

  /** The key of what is being processed. */
  protected underwayKey(): string | undefined {
    return this.#underway?.[0];
  }

  /** Keys and items in line; may change while it is read. */
  protected entries(): Iterable<[string, A]> {
    return this.#items.entries();
  }

  /** A queued key keeps its place. Wakes no reader: {@link changed} does that. */
  protected put(key: string, item: A): void {
    this.#items.set(key, item);
  }

  protected drop(key: string): void {
    this.#items.delete(key);
    // It will not be popped: waiting for that would be for ever.
    this.#processed(key);
  }

  /** After a change: if it was the first, there is no first batch to wait for. */
  protected changed(resourceVersion?: string): void {
    if (resourceVersion !== undefined) this.#resourceVersion = resourceVersion;
    this.#populated = true;
    this.#checkSynced();
    this.#gate.wake();
  }

  /** Lets readers know of what was put in line when it is no change. */
  protected wake(): void {
    this.#gate.wake();
  }

  /** A new line in place of this one; it is the first batch if that was not yet processed. */
  protected renew(items: Map<string, A>, resourceVersion: string): void {
    const isFirst = !this.#populated || this.#initial.size > 0;
    this.#items = items;
    this.#front = items.entries();
    this.#initial.clear();
    if (isFirst) for (const key of items.keys()) this.#initial.add(key);
    this.changed(resourceVersion);
  }

  /** After a `replace`: if it was the first change, what is in line now is the first batch. */
  protected replaced(resourceVersion: string): void {
    if (!this.#populated) for (const key of this.#items.keys()) this.#initial.add(key);
    this.changed(resourceVersion);
  }

  #shift(): [key: string, item: A] | undefined {
    let next = this.#front.next();
    if (next.done) {
      // It had come to an end, and does not notice what was added since.
      this.#front = this.#items.entries();
      next = this.#front.next();
      if (next.done) return undefined;
    }
    this.#items.delete(next.value[0]);
    return next.value;
  }

  #putBack(key: string, item: A): void {
    const newer = this.#items.get(key);
    this.#items.set(key, newer === undefined ? this.copy(item) : this.merged(item, newer));
  }

  #processed(key: string): void {
    if (this.#initial.delete(key)) this.#checkSynced();
  }

  #checkSynced(): void {
    if (this.#populated && this.#initial.size === 0 && !this.#synced.raised) this.#synced.raise();
  }
}
