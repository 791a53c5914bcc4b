import type { Cache } from '../../cache/cache.js';
import type { Change } from '../../cache/informer/change.js';
import type { KubeObject } from '../../object/meta.js';
import type { Runtime } from '../../runtime/runtime.js';
import { ownKindSource } from '../source/kind-source.js';
import type { SyncingSource } from '../source/source.js';
import { type ControllerDefinition, referenceKeys, type WatchDefinition } from './controller-definition.js';

/** Which objects refer to a key, kept up to date by their changes. */
export class ReferenceIndex {
  readonly #referencesOf: (object: KubeObject) => readonly string[];
  /** The references of each object; objects without references are not in it. */
  readonly #references = new Map<string, readonly string[]>();
  readonly #referring = new Map<string, Set<string>>();

  constructor(referencesOf: (object: KubeObject) => readonly string[]) {
    this.#referencesOf = referencesOf;
  }

  /** Throws, unchanged, what the function throws: the object counts as one that refers to what it did before. */
  take({ key, new: now }: Change<KubeObject>): void {
    const references = now === undefined ? [] : this.#referencesOf(now);
    for (const reference of this.#references.get(key) ?? []) this.#drop(reference, key);
    this.#references.delete(key);
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
  {
    cache,
    cluster,
    runtime,
  }: { readonly cache: Cache; readonly cluster: string | undefined; readonly runtime: Runtime },
): { readonly index: ReferenceIndex; readonly source: SyncingSource } {
  const index = new ReferenceIndex((object) => referenceKeys(references(object), kind, object.metadata));
  const take = (change: Change<KubeObject>) => {
    if (change.type !== 'Sync') index.take(change);
  };
  const name = `references to ${kind.kind}`;
  // An object's references may have changed before they were indexed.
  const options = {
    name,
    handlerName: 'referencedBy',
    enqueueRecovered: true,
    isQuiet: true,
    isFixed: true,
    cluster,
    runtime,
  };
  return { index, source: ownKindSource<KubeObject>(cache, definition.kind, take, options) };
}
