import { isJsonObject, type JsonObject } from '../../json.js';
import { Stamped } from '../../value/stamped.js';
import { maxDepth } from '../typed/validate-typed.js';
import { FieldSet } from './field-set.js';
import { FieldsV1Error, type PathElement, parseElement } from './path-element.js';

/** A FieldsV1 tree: keys are path elements, `.` marks a place that is a member and has members below it. */
export interface FieldsV1 {
  readonly [element: string]: FieldsV1;
}

/** A tree that knows its set. Trees written here are frozen, and most entries of an object don't change between writes. */
class TreeOfSet extends Stamped {
  readonly #set: FieldSet;

  constructor(tree: FieldsV1, set: FieldSet) {
    super(tree);
    this.#set = set;
  }

  static setOf(tree: object): FieldSet | undefined {
    return #set in tree ? tree.#set : undefined;
  }
}

/** A set that knows its tree. */
class SetOfTree extends Stamped {
  readonly #tree: FieldsV1;

  constructor(set: FieldSet, tree: FieldsV1) {
    super(set);
    this.#tree = tree;
  }

  static treeOf(set: FieldSet): FieldsV1 | undefined {
    return #tree in set ? set.#tree : undefined;
  }
}

/**
 * Reads the `fieldsV1` of a managedFields entry. Kinds of elements that are not known are left out, as upstream does;
 * throws a `FieldsV1Error` for what is malformed.
 */
export function parseFieldsV1(fields: unknown): FieldSet {
  if (fields === undefined || fields === null) return FieldSet.empty;
  const known = typeof fields === 'object' ? TreeOfSet.setOf(fields) : undefined;
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
  if (set.isEmpty) return leaf;
  const known = SetOfTree.treeOf(set);
  if (known !== undefined) return known;
  const tree: Record<string, FieldsV1> = {};
  new TreeOfSet(tree, set);
  write(set, tree);
  new SetOfTree(set, tree);
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
