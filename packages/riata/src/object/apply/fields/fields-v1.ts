import { isJsonObject, type JsonObject } from '../../json.js';
import { maxDepth } from '../typed/validate-typed.js';
import { FieldSet } from './field-set.js';
import { FieldsV1Error, type PathElement, parseElement } from './path-element.js';

/** A FieldsV1 tree: keys are path elements, `.` marks a place that is a member and has members below it. */
export interface FieldsV1 {
  readonly [element: string]: FieldsV1;
}

// Trees written here are frozen, so a tree and its set stand for each other as long as either is in use. Most entries of
// an object stay as they are from one write to the next.
const treeOf = new WeakMap<FieldSet, FieldsV1>();
const setOf = new WeakMap<object, FieldSet>();

/**
 * Reads the `fieldsV1` of a managedFields entry. Kinds of elements that are not known are left out, as upstream does;
 * throws a `FieldsV1Error` for what is malformed.
 */
export function parseFieldsV1(fields: unknown): FieldSet {
  if (fields === undefined || fields === null) return FieldSet.empty;
  const known = typeof fields === 'object' ? setOf.get(fields) : undefined;
  return known ?? read(fields, 0).below ?? FieldSet.empty;
}

function read(fields: unknown, depth: number): { readonly member: boolean; readonly below: FieldSet | undefined } {
  if (fields === null) return { member: true, below: undefined };
  if (!isJsonObject(fields)) throw new FieldsV1Error(`expected an object, got ${JSON.stringify(fields)}`);
  if (depth > maxDepth) throw new FieldsV1Error(`fields are nested deeper than ${maxDepth} levels`);
  let member = false;
  let some = false;
  const level: [PathElement, boolean, FieldSet | undefined][] = [];
  for (const [key, value] of Object.entries(fields as JsonObject)) {
    if (key === '.') {
      member = true;
      continue;
    }
    const element = parseElement(key);
    if (element === undefined) continue;
    const child = read(value, depth + 1);
    level.push([element, child.member, child.below]);
    some = true;
  }
  // No children: the place itself is meant.
  return some ? { member, below: FieldSet.level(level) } : { member: true, below: undefined };
}

/** Writes a set as the `fieldsV1` of a managedFields entry, sorted as upstream does. The result is frozen. */
export function formatFieldsV1(set: FieldSet): FieldsV1 {
  let tree = treeOf.get(set);
  if (tree === undefined) {
    tree = write(set, {});
    treeOf.set(set, tree);
    setOf.set(tree, set);
  }
  return tree;
}

function write(set: FieldSet, out: Record<string, FieldsV1>): FieldsV1 {
  for (const element of set.sortedElements()) {
    const below = set.below(element);
    if (below === undefined) out[element] = leaf;
    else out[element] = write(below, set.isMember(element) ? { '.': leaf } : {});
  }
  return Object.freeze(out);
}

const leaf: FieldsV1 = Object.freeze({});
