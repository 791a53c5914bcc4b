import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { equal } from '../../value/equal.js';
import { getOwn } from '../../value/own.js';
import { type FieldSet, FieldSetBuilder } from '../fields/field-set.js';
import { fieldElement, type PathElement } from '../fields/path-element.js';
import { itemsByElement } from './list-items.js';
import { type ListType, listForm, type MapType, type MergeType, mapForm, narrow, scalarForm } from './merge-type.js';
import { scalarProblem } from './validate-typed.js';

/** The differences of two objects (`typed.Comparison`). No place is in more than one of the sets. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** The changes from `before` to `after`, both valid values of the type (`TypedValue.Compare`). */
export function compareTyped(before: Json, after: Json, type: MergeType): Comparison {
  const comparer = new Comparer();
  if (before !== after) comparer.compare(before, after, type);
  return {
    added: comparer.added.build(),
    modified: comparer.modified.build(),
    removed: comparer.removed.build(),
  };
}

type Maybe = Json | undefined;

class Comparer {
  readonly added = new FieldSetBuilder();
  readonly modified = new FieldSetBuilder();
  readonly removed = new FieldSetBuilder();
  readonly #path: PathElement[] = [];

  compare(left: Maybe, right: Maybe, type: MergeType): void {
    const leftForms = narrow(type, left);
    const rightForms = narrow(type, right);
    let leaf: boolean;
    if (right === undefined) {
      leaf = this.#as(leftForms, left, right, type);
    } else {
      // A value that changes its form counts under both.
      if (left !== undefined && leftForms !== rightForms) this.#as(leftForms, left, right, type);
      leaf = this.#as(rightForms, left, right, type);
    }
    if (leaf) return;
    if (left === undefined) this.added.add(this.#path);
    else if (right === undefined) this.removed.add(this.#path);
  }

  /** Returns whether the place was dealt with as one leaf. */
  #as(forms: number, left: Maybe, right: Maybe, type: MergeType): boolean {
    if (forms & mapForm) return this.#maps(left, right, type.map!);
    if (forms & scalarForm) {
      const wrong = (value: Maybe) => value !== undefined && scalarProblem(type.scalar!, value) !== undefined;
      return wrong(left) && wrong(right) ? false : this.#leaf(left, right);
    }
    return forms & listForm ? this.#lists(left, right, type.list!) : false;
  }

  #leaf(left: Maybe, right: Maybe): true {
    if (left === undefined) this.added.add(this.#path);
    else if (right === undefined) this.removed.add(this.#path);
    else if (!equal(left, right)) this.modified.add(this.#path);
    return true;
  }

  #maps(left: Maybe, right: Maybe, map: MapType): boolean {
    const before = isJsonObject(left) ? left : {};
    const after = isJsonObject(right) ? right : {};
    // Two empty maps are a leaf as well, since an empty map differs from null and from a missing one.
    if (map.atomic || (isEmpty(before) && isEmpty(after))) return this.#leaf(left, right);
    for (const name of Object.keys(before)) this.#field(name, before[name], getOwn(after, name) as Maybe, map);
    for (const name of Object.keys(after)) {
      if (getOwn(before, name) === undefined) this.#field(name, undefined, after[name], map);
    }
    return false;
  }

  #field(name: string, left: Maybe, right: Maybe, map: MapType): void {
    if (left === right) return;
    const type = map.field(name)?.type ?? map.values();
    if (type === undefined) return;
    this.#path.push(fieldElement(name));
    this.compare(left, right, type);
    this.#path.pop();
  }

  #lists(left: Maybe, right: Maybe, list: ListType): boolean {
    const before: readonly Json[] = Array.isArray(left) ? left : [];
    const after: readonly Json[] = Array.isArray(right) ? right : [];
    if (list.kind === 'atomic' || (before.length === 0 && after.length === 0)) return this.#leaf(left, right);
    const old = itemsByElement(list, before);
    const now = itemsByElement(list, after);
    for (const [element, items] of old) this.#items(element, items, now.get(element) ?? [], list);
    for (const [element, items] of now) if (!old.has(element)) this.#items(element, [], items, list);
    return false;
  }

  /** Duplicate items have no identity of their own: together they are one leaf. */
  #items(element: PathElement, before: readonly Json[], after: readonly Json[], list: ListType): void {
    this.#path.push(element);
    if (before.length <= 1 && after.length <= 1) {
      if (before[0] !== after[0]) this.compare(before[0], after[0], list.items());
    } else if (before.length >= 2 && after.length >= 2) {
      if (!equal(before, after)) this.modified.add(this.#path);
    } else if (before.length >= 2) {
      if (after.length > 0) this.compare(undefined, after[0], list.items());
      this.removed.add(this.#path);
    } else {
      if (before.length > 0) this.compare(before[0], undefined, list.items());
      this.added.add(this.#path);
    }
    this.#path.pop();
  }
}

function isEmpty(object: JsonObject): boolean {
  for (const name of Object.keys(object)) if (object[name] !== undefined) return false;
  return true;
}
