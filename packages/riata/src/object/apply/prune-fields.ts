import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { ApplyError } from './apply-error.js';
import { FieldSet } from './fields/field-set.js';
import { fieldName, type PathElement } from './fields/path-element.js';
import type { Typed, VersionConverter } from './kind-versions.js';
import type { ManagedSet, Managers } from './managers.js';
import { type MergeType, typeOfField } from './typed/merge-type.js';
import { removeItems } from './typed/remove-items.js';
import { toFieldSet } from './typed/to-field-set.js';

/**
 * Removes what an applier applied last time, does not apply this time, and no other manager owns (`prune` of
 * `merge.Updater`). `managers` holds what it applies this time.
 */
export function pruneFields(
  merged: Typed,
  last: Pick<ManagedSet, 'apiVersion' | 'fields'>,
  managers: Managers,
  apiVersion: string,
  converter: VersionConverter,
): Typed {
  const then = converter.convert(merged, last.apiVersion);
  if (then === undefined) return merged;
  const lastFields = withNamedFields(last.fields, then.type);
  const known = new KnownFields();
  const bare = remove(then, lastFields);
  const owned = addBackOwned(then, bare, last.apiVersion, managers, converter, known);
  const dangling = addBackDangling(then, owned, last.apiVersion, lastFields, converter, known);
  return converter.convert(dangling, apiVersion) ?? dangling;
}

/** Restores what other managers, or the applier's new configuration, own; version by version, this one first. */
function addBackOwned(
  merged: Typed,
  pruned: Typed,
  apiVersion: string,
  managers: Managers,
  converter: VersionConverter,
  known: KnownFields,
): Typed {
  const owned = new Map<string, FieldSet>([[apiVersion, FieldSet.empty]]);
  for (const set of managers.values()) {
    owned.set(set.apiVersion, (owned.get(set.apiVersion) ?? FieldSet.empty).union(set.fields));
  }
  if (owned.get(apiVersion)?.isEmpty) owned.delete(apiVersion);
  let whole = merged;
  let part = pruned;
  for (const [version, fields] of owned) {
    const wholeThere = converter.convert(whole, version);
    if (wholeThere === undefined) continue;
    whole = wholeThere;
    const partThere = converter.convert(part, version);
    if (partThere === undefined) continue;
    const kept = known.of(partThere).union(withNamedFields(fields, whole.type));
    part = remove(whole, known.of(whole).difference(kept));
  }
  return part;
}

/** Restores what the applier did not own last time: it has no owner, but the applier must not remove it. */
function addBackDangling(
  merged: Typed,
  pruned: Typed,
  apiVersion: string,
  last: FieldSet,
  converter: VersionConverter,
  known: KnownFields,
): Typed {
  const there = converter.convert(pruned, apiVersion);
  if (there === undefined) return merged;
  return remove(merged, known.of(merged).difference(known.of(there)).intersection(last));
}

/** The fields of objects with the declared ones above them; computed once for each object. */
class KnownFields {
  readonly #known = new Map<Typed, FieldSet>();

  of(typed: Typed): FieldSet {
    let fields = this.#known.get(typed);
    if (fields === undefined) {
      fields = withNamedFields(toFieldSet(typed.object, typed.type), typed.type);
      this.#known.set(typed, fields);
    }
    return fields;
  }
}

function remove(typed: Typed, fields: FieldSet): Typed {
  return { object: asObject(removeItems(typed.object, fields, typed.type)), type: typed.type };
}

function asObject(value: Json): JsonObject {
  if (isJsonObject(value)) return value;
  throw new ApplyError(500, 'failed to convert value to unstructured for type <nil>');
}

/**
 * The set with every declared field that is above a member as a member too (`EnsureNamedFieldsAreMembers`): with
 * `.spec.replicas` also `.spec`, which an applier never owns alone. Keys of maps and items of lists stay as they are.
 */
export function withNamedFields(set: FieldSet, type: MergeType | undefined): FieldSet {
  const level: [PathElement, boolean, FieldSet | undefined][] = [];
  for (const element of set.elements()) {
    const below = set.below(element);
    let member = set.isMember(element);
    if (below === undefined) {
      level.push([element, member, undefined]);
      continue;
    }
    const name = fieldName(element);
    let inner: MergeType | undefined;
    if (name === undefined) {
      inner = element.startsWith('k:') ? type?.list?.items() : undefined;
    } else if (type?.map !== undefined) {
      member ||= type.map.field(name) !== undefined;
      inner = typeOfField(type.map, name);
    }
    level.push([element, member, withNamedFields(below, inner)]);
  }
  return FieldSet.level(level);
}
