import type { Cache } from '../cache/cache.js';
import type { Change } from '../cache/change.js';
import type { KubeObject } from '../object/meta.js';
import { silentLogger } from '../runtime/logger.js';
import type { Runtime } from '../runtime/runtime.js';
import { type ControllerDefinition, referenceKeys, type WatchDefinition } from './definition.js';
import { failureFields } from './failure-fields.js';
import { kindSource } from './kind-source.js';
import type { SyncingSource } from './source.js';

/** Which objects refer to a key, kept up to date by what is told of those objects. */
export class ReferenceIndex {
  readonly #referencesOf: (object: KubeObject) => readonly string[];
  readonly #onError: (error: unknown, key: string) => void;
  /** What each object refers to; those that refer to nothing are not there. */
  readonly #references = new Map<string, readonly string[]>();
  readonly #referring = new Map<string, Set<string>>();

  /** `onError` hears of objects whose references cannot be told: they count as none. */
  constructor(referencesOf: (object: KubeObject) => readonly string[], onError: (error: unknown, key: string) => void) {
    this.#referencesOf = referencesOf;
    this.#onError = onError;
  }

  take({ type, key, new: now }: Change<KubeObject>): void {
    if (type === 'Sync') return;
    for (const reference of this.#references.get(key) ?? []) this.#drop(reference, key);
    this.#references.delete(key);
    const references = now === undefined ? [] : this.#read(now, key);
    if (references.length === 0) return;
    this.#references.set(key, references);
    for (const reference of references) {
      const referring = this.#referring.get(reference);
      if (referring === undefined) this.#referring.set(reference, new Set([key]));
      else referring.add(key);
    }
  }

  /** Keys of the objects that refer to this one. */
  referringTo(key: string): Iterable<string> {
    return this.#referring.get(key) ?? [];
  }

  #read(object: KubeObject, key: string): readonly string[] {
    try {
      return this.#referencesOf(object);
    } catch (error) {
      this.#onError(error, key);
      return [];
    }
  }

  #drop(reference: string, key: string): void {
    const referring = this.#referring.get(reference);
    referring?.delete(key);
    if (referring?.size === 0) this.#referring.delete(reference);
  }
}

/**
 * Fills an index as long as it runs. It is the controller's own, not one of the cache, so that controllers of one kind do
 * not meet in it, and it goes with the controller.
 */
export function referenceSource(
  definition: ControllerDefinition,
  { kind, references }: Extract<WatchDefinition, { readonly through: 'reference' }>,
  cache: Cache,
  runtime: Runtime,
): { readonly index: ReferenceIndex; readonly source: SyncingSource } {
  const name = `references to ${kind.kind}`;
  const onError = (error: unknown, key: string) =>
    runtime.log.error('referencedBy failed: the object counts as one that refers to nothing', {
      ...{ source: name, key },
      ...failureFields(error),
    });
  const index = new ReferenceIndex((object) => referenceKeys(references(object), kind, object.metadata), onError);
  const take = (change: Change<KubeObject>) => index.take(change);
  // That the kind is not served yet is told by the controller's own watch of it.
  const quiet = { ...runtime, log: silentLogger };
  return { index, source: kindSource<KubeObject>(cache, definition.kind, take, { name, runtime: quiet }) };
}
