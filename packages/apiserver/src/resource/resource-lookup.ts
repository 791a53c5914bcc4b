import type { Resource } from './resource.js';
import type { ResourceTable } from './resource-table.js';

/** Finds served resources by table and by kind, while custom ones come and go. */
export class ResourceLookup {
  readonly #served: ResourceTable;
  #generation = -1;
  #tables: ReadonlyMap<string, Resource> = new Map();
  #kinds: ReadonlyMap<string, Resource> = new Map();

  constructor(served: ResourceTable) {
    this.#served = served;
  }

  /** One resource for each table. */
  get tables(): ReadonlyMap<string, Resource> {
    this.#update();
    return this.#tables;
  }

  /** By `apiVersion` and kind, e.g. `apps/v1 Deployment`. */
  get kinds(): ReadonlyMap<string, Resource> {
    this.#update();
    return this.#kinds;
  }

  #update(): void {
    const { generation } = this.#served;
    if (generation === this.#generation) return;
    const [tables, kinds] = [new Map<string, Resource>(), new Map<string, Resource>()];
    for (const { name, versions } of this.#served.groups()) {
      for (const resource of versions.flatMap((version) => [...this.#served.resources(name, version)])) {
        if (!tables.has(resource.table)) tables.set(resource.table, resource);
        const kind = `${resource.apiVersion} ${resource.kind}`;
        if (!kinds.has(kind)) kinds.set(kind, resource);
      }
    }
    [this.#generation, this.#tables, this.#kinds] = [generation, tables, kinds];
  }
}
