import type { WriteObject } from '../../client/interfaces.js';
import { type GroupKind, parseApiVersion } from '../../object/gvk.js';

/** Names one object in an {@link ObjectSet}. */
export interface ObjectSetKey extends GroupKind {
  readonly namespace?: string;
  readonly name: string;
}

/**
 * Objects of any kind, each once, in insertion order (`objectset.ObjectSet`). An object is identified by group, kind,
 * namespace and name: adding it again, in any version, replaces it.
 */
export class ObjectSet implements Iterable<WriteObject> {
  readonly #objects = new Map<string, WriteObject>();

  constructor(objects: Iterable<WriteObject | undefined> = []) {
    this.add(...objects);
  }

  /** Adds objects; undefined is left out (`Add`). Throws a `TypeError` for one without a name. */
  add(...objects: readonly (WriteObject | undefined)[]): this {
    for (const object of objects) if (object !== undefined) this.#objects.set(keyText(keyOfObject(object)), object);
    return this;
  }

  get(key: ObjectSetKey): WriteObject | undefined {
    return this.#objects.get(keyText(key));
  }

  /** (`Contains`) */
  has(key: ObjectSetKey): boolean {
    return this.#objects.has(keyText(key));
  }

  delete(key: ObjectSetKey): boolean {
    return this.#objects.delete(keyText(key));
  }

  /** (`Len`) */
  get size(): number {
    return this.#objects.size;
  }

  /** All objects, in order (`All`). */
  [Symbol.iterator](): IterableIterator<WriteObject> {
    return this.#objects.values();
  }

  /** By `apiVersion/kind`, kinds in the order in which they first came (`ObjectsByGVK`). */
  byKind(): ReadonlyMap<string, readonly WriteObject[]> {
    const kinds = new Map<string, WriteObject[]>();
    for (const object of this) {
      const id = `${object.apiVersion}/${object.kind}`;
      const list = kinds.get(id);
      if (list === undefined) kinds.set(id, [object]);
      else list.push(object);
    }
    return kinds;
  }
}

function keyOfObject({ apiVersion, kind, metadata }: WriteObject): ObjectSetKey {
  const { namespace, name } = metadata;
  if (!name) throw new TypeError(`object set: a ${kind} must have metadata.name, which identifies it in the set`);
  return { group: parseApiVersion(apiVersion).group, kind, ...(namespace === undefined ? {} : { namespace }), name };
}

function keyText({ group, kind, namespace = '', name }: ObjectSetKey): string {
  return `${group}/${kind}/${namespace}/${name}`;
}
