import { equal, type JsonObject } from 'riata/object';
import type { ConversionParts } from '../resource/custom/webhook-converter.js';
import { deleteObject } from '../resource/delete-object.js';
import { kindParts } from '../resource/load-kind-parts.js';
import { metaOf, stringsOf, withMeta } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import { type Resource, resourceOfStored } from '../resource/resource.js';
import type { ServedResources } from '../resource/resource-table.js';
import type { WriteContext } from '../resource/write-context.js';
import type { Storage, StorageEvent, Stored } from '../storage/storage.js';
import type { WorkLoop } from './work-loop.js';

/** Dependencies of {@link CrdController}. */
export interface CrdControllerParts {
  readonly storage: Storage;
  readonly store: ObjectStore;
  readonly loop: WorkLoop;
  readonly definitions: Resource;
  readonly served: ServedResources;
  readonly conversion: ConversionParts;
  context(): WriteContext;
  /** Ends the watches of a table whose resource changed or is no longer served. */
  endWatches(table: string): void;
}

/**
 * Serves the resources of CustomResourceDefinitions as soon as they are stored, and deletes their objects with them.
 */
export class CrdController {
  readonly #at: CrdControllerParts;

  constructor(parts: CrdControllerParts) {
    this.#at = parts;
  }

  /** Observes every write of the storage. */
  observe(table: string, event: StorageEvent): void {
    const { definitions, loop } = this.#at;
    if (table !== definitions.table) {
      const { before, after } = event;
      // It may have been the last object of a definition that is being deleted.
      if (before !== undefined && after === undefined)
        loop.add(`definition of ${table}`, () => this.#finishTable(table));
      return;
    }
    const { key: name, before, after } = event;
    if (after === undefined) this.#at.served.setCustom(name, []);
    else this.#serve(after);
    if (before !== undefined && !equal(specOf(before), specOf(after))) this.#at.endWatches(tableOf(name));
    loop.add(`definition ${name}`, () => this.#finish(name));
  }

  /** Accepts the names of a definition and establishes it. Must observe writes after all other observers. */
  establish(table: string, { key, after }: StorageEvent): void {
    const { definitions, store } = this.#at;
    if (table !== definitions.table || after === undefined) return;
    if (after.object.metadata.deletionTimestamp !== undefined) return;
    const context = this.#at.context();
    const status = kindParts().acceptedStatus(after.object as unknown as JsonObject, context.now);
    if (status === undefined) return;
    const make = (live: JsonObject): JsonObject => ({ ...live, status });
    store.update(definitions, '', key, { subresource: 'status', make }, context);
  }

  /** Serves established definitions only. */
  #serve({ object, key }: Stored): void {
    const definition = object as unknown as JsonObject;
    this.#at.served.setCustom(
      key,
      kindParts().isEstablished(definition) ? kindParts().customResources(definition, this.#at.conversion) : [],
    );
  }

  #finishTable(table: string): void {
    const [group, plural] = table.split('/');
    if (group && plural) this.#finish(`${plural}.${group}`);
  }

  /** Deletes the objects of a definition that is being deleted, then removes its finalizer. */
  #finish(name: string): void {
    const { store, storage, definitions } = this.#at;
    const stored = store.find(definitions, '', name);
    if (stored?.object.metadata.deletionTimestamp === undefined) return;
    if (!stringsOf(stored.object.metadata.finalizers).includes(kindParts().cleanupFinalizer)) return;
    const definition = stored.object as unknown as JsonObject;
    const [resource] = kindParts().customResources(definition, this.#at.conversion);
    let left = 0;
    for (const item of resource === undefined ? [] : storage.list(resource.table).items) {
      const { namespace = '', name: itemName, deletionTimestamp } = item.object.metadata;
      if (resource !== undefined && deletionTimestamp === undefined) {
        deleteObject(store, resourceOfStored(resource, item.object), namespace, itemName, {}, this.#at.context());
      }
      if (resource !== undefined && store.findByKey(resource, item.key) !== undefined) left++;
    }
    if (left > 0) return;
    const finalizers = stringsOf(metaOf(definition).finalizers).filter((f) => f !== kindParts().cleanupFinalizer);
    const released = withMeta(definition, { finalizers: finalizers.length === 0 ? undefined : finalizers });
    if (finalizers.length === 0) store.remove(definitions, { ...stored, object: released as never });
    else store.replace(definitions, stored, released);
  }
}

function specOf(stored: Stored | undefined): unknown {
  return (stored?.object as JsonObject | undefined)?.spec;
}

/** The table of a definition's objects, from its name: `widgets.example.com` → `example.com/widgets`. */
function tableOf(name: string): string {
  const dot = name.indexOf('.');
  return `${name.slice(dot + 1)}/${name.slice(0, dot)}`;
}
