import type { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import { createStore } from '../store/indexer.js';
import type { KeyFunc } from '../store/key-func.js';
import type { Store } from '../store/store.js';

/**
 * Turns single changes into whole states (`cache.UndeltaStore`): a store that passes all its objects to a function,
 * after each change. For consumers that need everything each time, such as a file that is written as a whole; a
 * Reflector fills it. The function is called before the method that changed something returns, and its errors come out
 * of that method; the change stays.
 *
 * @example
 * const store = new UndeltaStore<Pod>((pods) => writeTargets(pods));
 * await new Reflector(listWatch(client, Pod), store, { kind: Pod }).run({ signal });
 */
export class UndeltaStore<T> implements Store<T> {
  readonly #store: Store<T>;
  readonly #push: (objects: T[]) => void;

  /**
   * @param push gets a list of its own each time (`PushFunc`)
   * @param keyFunc by default `keyOf`: `namespace/name`
   */
  constructor(push: (objects: T[]) => void, keyFunc?: KeyFunc<T>) {
    this.#store = createStore<T>(keyFunc === undefined ? {} : { keyFunc });
    this.#push = push;
  }

  add(obj: T): void {
    this.#store.add(obj);
    this.#push(this.#store.list());
  }

  update(obj: T): void {
    this.#store.update(obj);
    this.#push(this.#store.list());
  }

  /** Pushes also if there was none. */
  delete(obj: T | DeletedFinalStateUnknown<T>): void {
    this.#store.delete(obj);
    this.#push(this.#store.list());
  }

  replace(list: readonly T[], resourceVersion: string): void {
    this.#store.replace(list, resourceVersion);
    this.#push(this.#store.list());
  }

  /** Pushes nothing: no object has changed. */
  bookmark(resourceVersion: string): void {
    this.#store.bookmark(resourceVersion);
  }

  /** Pushes nothing. */
  resync(): void {}

  list(): T[] {
    return this.#store.list();
  }

  listKeys(): string[] {
    return this.#store.listKeys();
  }

  get(obj: T): T | undefined {
    return this.#store.get(obj);
  }

  getByKey(key: string): T | undefined {
    return this.#store.getByKey(key);
  }

  lastStoreSyncResourceVersion(): string {
    return this.#store.lastStoreSyncResourceVersion();
  }
}
