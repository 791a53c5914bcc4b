import { keyOf } from '../../object/key.js';
import type { KubeObject } from '../../object/meta.js';
import { freeze } from '../../object/value/freeze.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { SlicedWork } from '../../runtime/time/sliced-work.js';
import type { StoreDecoder } from '../decode/store-decoder.js';
import type { InformerStore } from '../store/informer-store.js';
import { type ChangeFlags, type ChangeType, isAnotherObject, StoredChange } from './change.js';
import { isDeletedFinalStateUnknown } from './deleted-final-state-unknown.js';
import type { Delta, ObjectDelta } from './delta.js';
import { deliverSome, type EventListener, type SharedProcessor } from './event-listener.js';

/** What a {@link DeltaApplier} works on. */
export interface DeltaApplierOptions<T extends KubeObject> {
  readonly store: InformerStore<T>;
  /** Makes equal parts of objects one before they are stored. */
  readonly decoder: StoreDecoder;
  /** The objects of lists have been through {@link admitListed} already. @default false */
  readonly areListsAdmitted?: boolean;
  readonly processor: SharedProcessor<T>;
  readonly clock: Scheduler;
  /** Called with objects that cannot be stored, such as those without a name; they are dropped. */
  readonly onBadObject: (error: unknown, obj: unknown) => void;
}

const initialFlags: ChangeFlags = { isInInitialList: true };
const vanishedFlags: ChangeFlags = { isFinalStateUnknown: true };
const recreatedFlags: ChangeFlags = { isRecreated: true };
const lostFlags: ChangeFlags = { isFinalStateUnknown: true, isRecreated: true };

/**
 * Applies the items of a queue to the store, and notifies the listeners (`processDeltas`, `processReplacedAllInfo`…).
 * Parts that are equal to those of the previous version are shared with it, so that `old.spec === new.spec` means that
 * a spec is the same, and neither takes memory twice.
 */
export class DeltaApplier<T extends KubeObject> {
  readonly #store: InformerStore<T>;
  readonly #decoder: StoreDecoder;
  readonly #areListsAdmitted: boolean;
  readonly #processor: SharedProcessor<T>;
  readonly #onBadObject: (error: unknown, obj: unknown) => void;
  /** Changes that not all listeners know of yet, as the time slice was over: delivered before anything else. */
  readonly #undelivered: Delivery<T>[] = [];
  /** Only one call of {@link apply} is in flight at a time. */
  readonly #work: SlicedWork;
  #stopped = false;

  constructor(options: DeltaApplierOptions<T>) {
    const { store, decoder, areListsAdmitted = false, processor, clock, onBadObject } = options;
    this.#store = store;
    this.#decoder = decoder;
    this.#areListsAdmitted = areListsAdmitted;
    this.#processor = processor;
    this.#onBadObject = onBadObject;
    this.#work = new SlicedWork(clock);
  }

  /** Ends the work in flight, at its next step. */
  stop(): void {
    this.#stopped = true;
  }

  /** At once, unless it takes long. */
  readonly apply = (deltas: readonly Delta<T>[], isInInitialList: boolean): void | Promise<void> => {
    this.#work.begin();
    const initial = isInInitialList ? initialFlags : undefined;
    for (let at = 0; at < deltas.length; at += 1) {
      const delta = deltas[at] as Delta<T>;
      if (!('object' in delta) || this.#isOver) return this.#applyRest(deltas, at, initial);
      this.#applyOne(delta, initial);
    }
    return this.#undelivered.length > 0 ? this.#applyRest(deltas, deltas.length, initial) : this.#work.end();
  };

  get #isOver(): boolean {
    return this.#undelivered.length > 0 || this.#work.isOver;
  }

  /** Waits for the next slice, as often as it takes to deliver what is undelivered; there is time left then. */
  async #rest(): Promise<void> {
    do {
      await this.#work.rest();
      for (let next = this.#undelivered[0]; next !== undefined; next = this.#undelivered[0]) {
        next.at = this.#deliver(next.change, next.to, next.at);
        if (next.at < next.to.length) break;
        this.#undelivered.shift();
      }
    } while (this.#isOver && !this.#stopped);
  }

  async #applyRest(deltas: readonly Delta<T>[], from: number, initial: ChangeFlags | undefined): Promise<void> {
    if (this.#isOver) await this.#rest();
    for (let at = from; at < deltas.length && !this.#stopped; at += 1) {
      const delta = deltas[at] as Delta<T>;
      if (delta.type === 'ReplacedAll') await this.#replaceAll(delta.objects, delta.resourceVersion, initial);
      else if (delta.type === 'SyncAll') await this.#syncAll();
      else if (delta.type === 'Bookmark') this.#store.bookmark(delta.resourceVersion);
      else this.#applyOne(delta, initial);
      if (this.#isOver) await this.#rest();
    }
    void this.#work.end();
  }

  /** A failure for one object must not stop the others. */
  #applyOne(delta: ObjectDelta<T>, initial: ChangeFlags | undefined): void {
    try {
      if (delta.type === 'Deleted') this.#delete(delta.object);
      else this.#put(delta.object, initial);
    } catch (error) {
      this.#onBadObject(error, delta.object);
    }
  }

  #put(obj: T, initial: ChangeFlags | undefined): void {
    const store = this.#store;
    const key = keyOf(obj);
    const old = store.peek(key);
    const next = shared(this.#decoder, obj, old);
    store.put(key, next, old);
    this.#notify(key, old, next, initial, this.#processor.listeners);
  }

  /** Deletions of unknown objects are dropped. */
  #delete(object: (ObjectDelta<T> & { readonly type: 'Deleted' })['object']): void {
    const isTombstone = isDeletedFinalStateUnknown(object);
    const key = isTombstone ? object.key : keyOf(object);
    const old = this.#store.peek(key);
    if (old === undefined) return;
    const isUnknown = isTombstone || isAnotherObject(old, object);
    const last = isUnknown ? old : object;
    this.#store.drop(key, last);
    const flags = isUnknown ? vanishedFlags : undefined;
    this.#distribute('Deleted', key, last, undefined, flags, this.#processor.listeners);
  }

  /** Builds the new state beside the old one; once it is whole, it replaces the old one and listeners are notified. */
  async #replaceAll(objects: readonly T[], resourceVersion: string, initial: ChangeFlags | undefined): Promise<void> {
    const store = this.#store;
    const next = store.startReplace();
    let keys: string[] = [];
    for (let at = 0; at < objects.length && !this.#stopped; at += 1) {
      const obj = objects[at] as T;
      try {
        const key = keyOf(obj);
        const old = store.peek(key);
        const admitted = old === undefined && this.#areListsAdmitted ? obj : shared(this.#decoder, obj, old);
        next.add(key, store.freezesEagerly ? freeze(admitted) : admitted);
        keys.push(key);
      } catch (error) {
        this.#onBadObject(error, obj);
      }
      if (this.#isOver) await this.#rest();
    }
    if (this.#stopped) return;
    // A name that is in the list twice: the last one counts.
    if (keys.length !== next.size) keys = next.listKeys();
    const previous = store.finishReplace(resourceVersion);
    // Later handlers start with the new state, and must not receive it again.
    const listeners = this.#processor.listeners;
    if (listeners.length === 0) return;
    for (const key of previous.listKeys()) {
      if (this.#stopped) return;
      if (!next.has(key)) this.#distribute('Deleted', key, previous.get(key), undefined, vanishedFlags, listeners);
      if (this.#isOver) await this.#rest();
    }
    for (let at = 0; at < keys.length && !this.#stopped; at += 1) {
      const key = keys[at] as string;
      const obj = next.get(key);
      if (obj !== undefined) this.#notify(key, previous.get(key), obj, initial, listeners);
      if (this.#isOver) await this.#rest();
    }
  }

  async #syncAll(): Promise<void> {
    for (const key of this.#store.listKeys()) {
      if (this.#stopped) return;
      const obj = this.#store.peek(key);
      if (obj !== undefined) this.#distribute('Sync', key, obj, obj, undefined, this.#processor.listeners);
      if (this.#isOver) await this.#rest();
    }
  }

  #notify(
    key: string,
    old: T | undefined,
    next: T,
    initial: ChangeFlags | undefined,
    to: readonly EventListener<T>[],
  ): void {
    if (old === undefined) {
      this.#distribute('Added', key, undefined, next, initial, to);
    } else if (isAnotherObject(old, next)) {
      this.#distribute('Deleted', key, old, undefined, lostFlags, to);
      this.#distribute('Added', key, undefined, next, recreatedFlags, to);
    } else {
      const isSame = old.metadata?.resourceVersion === next.metadata?.resourceVersion;
      this.#distribute(isSame ? 'Sync' : 'Updated', key, old, next, undefined, to);
    }
  }

  #distribute(
    type: ChangeType,
    key: string,
    old: T | undefined,
    next: T | undefined,
    flags: ChangeFlags | undefined,
    to: readonly EventListener<T>[],
  ): void {
    if (to.length === 0) return;
    const change = new StoredChange(type, key, old, next, flags);
    const at = this.#undelivered.length > 0 ? 0 : this.#deliver(change, to, 0);
    if (at < to.length) this.#undelivered.push({ change, to, at });
  }

  /** Returns the first listener that it came too late for, in this slice. */
  #deliver(change: StoredChange<T>, to: readonly EventListener<T>[], from: number): number {
    let at = deliverSome(change, to, from);
    while (at < to.length && !this.#work.isOver) at = deliverSome(change, to, at);
    return at;
  }
}

interface Delivery<T extends KubeObject> {
  readonly change: StoredChange<T>;
  readonly to: readonly EventListener<T>[];
  /** The first listener that does not know of it yet. */
  at: number;
}

/** An object with the same name and another UID is not the version before. */
function shared<T extends KubeObject>(decoder: StoreDecoder, next: T, old: T | undefined): T {
  return decoder.share(next, old !== undefined && isAnotherObject(old, next) ? undefined : old);
}

/**
 * For objects of a list, as they arrive: parts that they share with known objects need not be held until the list is
 * complete. The store may be newer by then; that is corrected when they are applied.
 */
export function admitListed<T extends KubeObject>(store: InformerStore<T>, decoder: StoreDecoder): (object: T) => T {
  return (object) => {
    try {
      const key = keyOf(object);
      return shared(decoder, object, store.size === 0 ? undefined : store.peek(key));
    } catch {
      return object; // The problem is reported when it is applied.
    }
  };
}
