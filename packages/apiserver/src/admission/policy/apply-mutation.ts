import {
  formatProblems,
  isJsonObject,
  type Json,
  type JsonObject,
  type MergeType,
  mergeTyped,
  type TypeProblem,
  validateTyped,
} from 'riata/object';
import { CelError } from '../../cel/language/cel-error.js';
import { valueToJson } from '../../cel/language/json-value.js';
import { isList, isMapping, itemsOf, type Mapping, type Value } from '../../cel/language/value.js';
import { applyJsonPatchSteps, ImpossiblePatchError } from '../../resource/json-patch-steps.js';
import { UnreadableError } from '../../resource/read-object.js';
import { type Resource, withDefaults } from '../../resource/resource.js';
import { unknownComplaint } from '../../schema/strict-fields.js';
import { internal } from '../../status/refusal.js';
import type { Steps } from '../../steps.js';
import { MutationError } from './mutation-error.js';

/** Merges an expression's apply configuration into an object. Throws a {@link MutationError}. */
export function* applyConfiguration(object: JsonObject, made: Value, resource: Resource): Steps<JsonObject> {
  const mismatches = typeMismatches(made, [(made as Mapping).typeName ?? '']);
  if (mismatches.length > 0) throw new MutationError(`type mismatch: ${mismatches.join('\n')}`);
  const { apiVersion, kind } = resource;
  const intent: JsonObject = { ...(jsonOf(made) as JsonObject), apiVersion, kind };
  const { type } = resource.schema.tracking;
  const failed = (why: string) => new MutationError(`error applying patch: ${why}`);
  const problems = [...nullProblems(intent, type, ''), ...validateTyped(intent, type)];
  if (problems.length > 0) throw failed(`failed to convert patch object to typed object: ${formatProblems(problems)}`);
  const atomics = findAtomics(intent, type, '');
  if (atomics.length > 0) {
    throw failed(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`);
  }
  const merged = mergeTyped(object, intent, type);
  return yield* decoded(isJsonObject(merged) ? merged : object, resource, false);
}

/** Applies an expression's JSON patch. Throws a {@link MutationError}, or a `Refusal`. */
export function* applyPatches(object: JsonObject, made: Value, resource: Resource): Steps<JsonObject> {
  const steps = isList(made) ? itemsOf(made).map(stepOf) : [];
  try {
    const patched = applyJsonPatchSteps(object, steps);
    return yield* decoded(isJsonObject(patched) ? patched : {}, resource, true);
  } catch (error) {
    if (!(error instanceof ImpossiblePatchError)) throw error;
    // A failed test is not an error: the patch is not for this object.
    if (error.message.endsWith('test failed')) return object;
    throw new MutationError(`JSON Patch: ${error.message}`);
  }
}

function stepOf(made: Value): JsonObject {
  const of = made as Mapping;
  const value = of.get('value');
  if (value !== undefined && isMapping(value) && value.typeName !== undefined) {
    const mismatches = typeMismatches(value, [value.typeName]);
    if (mismatches.length > 0) throw new MutationError(`type mismatch: ${mismatches.join('\n')}`);
  }
  const from = String(of.get('from') ?? '');
  return {
    op: String(of.get('op') ?? ''),
    path: String(of.get('path') ?? ''),
    ...(from === '' ? {} : { from }),
    ...(value === undefined ? {} : { value: jsonOf(value) }),
  };
}

function jsonOf(value: Value): Json {
  try {
    return valueToJson(value);
  } catch (error) {
    if (error instanceof CelError) throw new MutationError(error.message);
    throw error;
  }
}

/** Finds objects whose type name does not match their path: `Object{spec: Object.status{}}`. */
function typeMismatches(value: Value, path: readonly string[]): readonly string[] {
  if (isList(value)) return itemsOf(value).flatMap((item) => typeMismatches(item, path));
  if (!isMapping(value)) return [];
  const { typeName } = value;
  const expected = path.join('.');
  const own =
    typeName === undefined || typeName === expected
      ? []
      : [
          `unexpected type name "${typeName}", expected "${expected}", which matches field name path from root Object type`,
        ];
  const below = value.keys().flatMap((key) => {
    const at = typeName === undefined ? path : [...path, String(key)];
    return typeMismatches(value.get(key) as Value, at);
  });
  return [...own, ...below];
}

/** Refuses null, which upstream treats as a value that fits no field. */
function nullProblems(value: Json, type: MergeType, path: string): readonly TypeProblem[] {
  if (value === null) {
    if (type.map !== undefined) return [{ path, message: 'expected map, got &{NULL_VALUE}' }];
    if (type.list !== undefined) return [{ path, message: 'expected list, got &{NULL_VALUE}' }];
    return type.scalar === 'boolean' ? [{ path, message: 'expected boolean, got &{NULL_VALUE}' }] : [];
  }
  if (!isJsonObject(value) || type.map === undefined) return [];
  const { map } = type;
  return Object.entries(value).flatMap(([name, member]) => {
    const below = map.field(name)?.type ?? map.values();
    return below === undefined || member === undefined ? [] : nullProblems(member, below, `${path}.${name}`);
  });
}

/** Finds atomic values that would be replaced as a whole, which would drop fields that are not set. */
function findAtomics(value: Json, type: MergeType, path: string): readonly string[] {
  if (Array.isArray(value) && type.list !== undefined) {
    const { list } = type;
    return [
      ...(list.kind === 'atomic' ? [path] : []),
      ...value.flatMap((item, index) => findAtomics(item as Json, list.items(), `${path}[${index}]`)),
    ];
  }
  if (!isJsonObject(value) || type.map === undefined) return [];
  const { map } = type;
  return [
    ...(map.atomic ? [path] : []),
    ...Object.entries(value).flatMap(([name, member]) => {
      const field = map.field(name);
      return field === undefined || member === undefined ? [] : findAtomics(member, field.type, `${path}.${name}`);
    }),
  ];
}

/** Decodes a changed object like any other, with defaults. */
function* decoded(changed: JsonObject, resource: Resource, isStrict: boolean): Steps<JsonObject> {
  try {
    const { object, unknown } = yield* resource.schema.read(changed);
    if (isStrict && resource.builtIn && unknown.length > 0) {
      throw internal(`strict decoding error: ${unknown.map(unknownComplaint).join(', ')}`);
    }
    return withDefaults(resource, object);
  } catch (error) {
    if (error instanceof UnreadableError) throw internal(error.message);
    throw error;
  }
}
