import type { KubeObject } from '../../object/meta.js';
import type { Logger } from '../../runtime/log/logger.js';
import { thrownAt } from '../../runtime/log/user-frame.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type FailingObject, FailingObjects } from './failing-objects.js';
import { informerFailures } from './withheld-objects.js';

/** The part of a store that {@link IndexFailures} needs. */
export interface IndexedObjects {
  /** Whether the object is in the store, and not in the index as its function failed for it. */
  isUnindexed(index: string, key: string): boolean;
  /** Calls the index function for an object again, and files it. */
  reindex(index: string, key: string): void;
}

interface Unindexed {
  readonly index: string;
  readonly key: string;
}

/**
 * Objects that an index function fails for: in the store, but not in that index. Each is retried with backoff, and with
 * every newer version, and forgotten once it is deleted.
 */
export class IndexFailures<T extends KubeObject> {
  readonly #objects: () => IndexedObjects;
  readonly #failing: FailingObjects<Unindexed>;
  readonly #count: ReturnType<typeof informerFailures>;
  readonly #informer: string;
  readonly #log: Logger;

  constructor(informer: string, { log, ...runtime }: Runtime, objects: () => IndexedObjects) {
    this.#informer = informer;
    this.#log = log;
    this.#objects = objects;
    this.#count = informerFailures(runtime.metrics, informer);
    this.#failing = new FailingObjects<Unindexed>(runtime, (_, { index, key }) => this.#retry(index, key));
  }

  get size(): number {
    return this.#failing.size;
  }

  list(most?: number): readonly FailingObject[] {
    return this.#failing.list(most);
  }

  /** How many objects are not in an index. */
  sizeOf(index: string): number {
    let size = 0;
    for (const [, unindexed] of this.#failing) if (unindexed.index === index) size += 1;
    return size;
  }

  /** An index function failed for an object. */
  failed(error: unknown, index: string, key: string, object: T): void {
    const id = idOf(index, key);
    const func = `index ${JSON.stringify(index)}`;
    const at = thrownAt(error);
    const failure = { key, function: func, error, ...(at !== undefined && { at }) };
    const { attempt, retryMs, isNews } = this.#failing.add(id, { index, key }, failure);
    this.#count(func).inc();
    const where = { informer: this.#informer, kind: object.kind, key, function: func };
    const details = { ...where, attempt, retryMs, error, ...(at !== undefined && { at }) };
    const words = 'index function failed for an object, which is missing from the index until a retry works';
    if (isNews) this.#log.error(words, details);
    else this.#log.debug(words, details);
  }

  /** Objects were put into the store or taken out of it. Without a key: all of them. */
  changed(key?: string): void {
    if (this.#failing.size === 0) return;
    const objects = this.#objects();
    for (const [id, unindexed] of [...this.#failing]) {
      if (key !== undefined && unindexed.key !== key) continue;
      if (!objects.isUnindexed(unindexed.index, unindexed.key)) this.#failing.delete(id);
    }
  }

  close(): void {
    this.#failing.close();
  }

  /** If it fails again, {@link failed} is called. */
  #retry(index: string, key: string): void {
    const objects = this.#objects();
    if (objects.isUnindexed(index, key)) objects.reindex(index, key);
    if (objects.isUnindexed(index, key)) return;
    this.#failing.recovered(idOf(index, key));
    this.#log.info('index function succeeded, object is in the index again', { informer: this.#informer, index, key });
  }
}

function idOf(index: string, key: string): string {
  return `${index} ${key}`;
}
