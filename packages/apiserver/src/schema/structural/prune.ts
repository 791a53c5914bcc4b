import { isJsonObject, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import { setMember } from './set-member.js';

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** The pruned value, and the paths of dropped fields. */
export interface Pruned<T> {
  readonly object: T;
  /** Sorted, e.g. `spec.containers[0].foo`. */
  readonly unknown: readonly string[];
}

/**
 * A custom resource without the fields that its schema does not name (`pruning.PruneWithOptions`). `apiVersion`, `kind`
 * and `metadata` are left alone, at the root and in embedded resources; where unknown fields are preserved, named
 * fields are still pruned below. Unchanged parts are shared with the argument.
 */
export function prune(object: JsonObject, schema: StructuralSchema | undefined): Pruned<JsonObject> {
  const pruner = new Pruner();
  const kept = pruner.pruneObject(object, schema ?? {}, '', true);
  return { object: kept, unknown: pruner.unknown.sort() };
}

/** The value of one field, e.g. a default, pruned by the field's schema. */
export function pruneValue(value: Json, schema: StructuralSchema | undefined): Pruned<Json> {
  const pruner = new Pruner();
  const kept = pruner.prune(value, schema, '');
  return { object: kept, unknown: pruner.unknown.sort() };
}

class Pruner {
  readonly unknown: string[] = [];

  prune(value: Json, schema: StructuralSchema | undefined, path: string): Json {
    if (Array.isArray(value)) return this.#list(value, schema, path);
    if (isJsonObject(value)) return this.pruneObject(value, schema, path, false);
    return value;
  }

  #list(list: readonly Json[], schema: StructuralSchema | undefined, path: string): Json {
    const open = schema?.['x-kubernetes-preserve-unknown-fields'];
    const items = schema?.items;
    // Items without a schema stay as they are in an open list, and lose their fields in any other.
    if (open && items === undefined) return list as Json;
    const kept = list.map((item, index) => {
      const at = `${path}[${index}]`;
      return open ? this.#openItem(item, items as StructuralSchema, at) : this.prune(item, items, at);
    });
    return kept.every((item, index) => item === list[index]) ? (list as Json) : kept;
  }

  /** In an open list, openness extends to the items, whatever their schema says. */
  #openItem(item: Json, schema: StructuralSchema, path: string): Json {
    if (Array.isArray(item)) return this.#list(item, { ...open, items: schema.items }, path);
    return isJsonObject(item) ? this.pruneObject(item, schema, path, false, true) : item;
  }

  pruneObject(
    from: JsonObject,
    schema: StructuralSchema | undefined,
    path: string,
    root: boolean,
    keepsUnknown = schema?.['x-kubernetes-preserve-unknown-fields'] === true,
  ): JsonObject {
    const embedded = root || schema?.['x-kubernetes-embedded-resource'] === true;
    const properties = schema?.properties;
    const others = schema?.additionalProperties as StructuralSchema | boolean | undefined;
    const kept: Record<string, Json> = {};
    let changed = false;
    for (const key of Object.keys(from)) {
      const value = from[key] as Json;
      const at = path === '' ? key : `${path}.${key}`;
      let left: Json = value;
      if (embedded && metaFields.has(key)) left = value;
      else if (properties !== undefined && Object.hasOwn(properties, key))
        left = this.prune(value, properties[key], at);
      else if (others) left = this.prune(value, typeof others === 'object' ? others : undefined, at);
      else if (!keepsUnknown) {
        this.unknown.push(at);
        changed = true;
        continue;
      }
      if (left !== value) changed = true;
      setMember(kept, key, left);
    }
    return changed ? kept : from;
  }
}

const open = { 'x-kubernetes-preserve-unknown-fields': true } as const;
