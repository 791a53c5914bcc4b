import { apiServiceName, isOwnCustomService, ownApiService } from '../resource/built-in/own-api-services.js';
import type { ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import type { ResourceTable } from '../resource/resource-table.js';
import type { WriteContext } from '../resource/write-context.js';
import type { Storage } from '../storage/storage.js';

/** Dependencies of {@link ApiServices}. */
export interface ApiServicesParts {
  readonly storage: Storage;
  readonly store: ObjectStore;
  readonly served: ResourceTable;
  readonly definitions: Resource;
  readonly services: Resource;
  readonly context: () => WriteContext;
}

/** Keeps an APIService for each version of a group that is served, as kube-apiserver's autoregistration does. */
export class ApiServices {
  readonly #at: ApiServicesParts;
  #generation = 0;

  constructor(parts: ApiServicesParts) {
    this.#at = parts;
  }

  /** Creates the APIServices of built-in groups. */
  fill(): void {
    this.#add(false);
  }

  /** Handles a write, after the table of resources was updated. May write, too. */
  observe(table: string): void {
    const { storage, store, served, definitions, services } = this.#at;
    if (table !== definitions.table || served.generation === this.#generation) return;
    this.#generation = served.generation;
    this.#add(true);
    const desired = new Set(this.#versions(true).map(([group, version]) => apiServiceName(group, version)));
    for (const stored of storage.list(services.table).items) {
      const { name, labels } = stored.object.metadata;
      if (isOwnCustomService(labels) && !desired.has(name)) store.remove(services, stored);
    }
  }

  #add(custom: boolean): void {
    const { store, services } = this.#at;
    const context = this.#at.context();
    for (const [group, version] of this.#versions(custom)) {
      if (store.find(services, '', apiServiceName(group, version)) !== undefined) continue;
      const own = ownApiService(group, version, custom, context.now);
      if (own !== undefined) store.place(services, '', own, context);
    }
  }

  #versions(custom: boolean): readonly (readonly [group: string, version: string])[] {
    const groups = this.#at.served.groups().filter((group) => group.custom === custom);
    return groups.flatMap(({ name, versions }) => versions.map((version) => [name, version] as const));
  }
}
