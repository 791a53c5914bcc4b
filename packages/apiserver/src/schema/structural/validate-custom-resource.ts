import { isJsonObject, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import { append } from '../../status/append.js';
import { type FieldError, invalid } from '../../status/field-error.js';
import type { Steps } from '../../steps.js';
import { checkListTypes } from './check-list-types.js';
import { checkEmbedded } from './embedded-resources.js';
import { validateValue } from './validate-value.js';

/** Where a CRD says that the replicas are. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** The facts about a custom resource. */
export interface CustomResourceRules {
  readonly schema: StructuralSchema;
  readonly scale?: ScalePaths | undefined;
  /** The rules of `x-kubernetes-validations`; undefined when the schema has none. Not asked when the object is invalid in basic ways. */
  readonly rules?: ((object: JsonObject, old: JsonObject | undefined) => Steps<readonly FieldError[]>) | undefined;
}

/** The problems of a custom resource apart from its kind and metadata; `old` is its stored form. */
export function* checkContent(
  object: JsonObject,
  old: JsonObject | undefined,
  rules: CustomResourceRules,
): Steps<FieldError[]> {
  const { schema, scale } = rules;
  return yield* withRules(object, old, rules.rules, [
    ...validateValue(object, schema, { old }),
    ...checkScaleSpec(object, scale),
    ...checkScaleStatus(object, scale),
    ...checkEmbedded(object, schema),
    ...changedListTypes(object, old, schema),
  ]);
}

/** The problems of the status of a custom resource, when only that is written. */
export function* checkStatusContent(
  object: JsonObject,
  old: JsonObject,
  rules: CustomResourceRules,
): Steps<FieldError[]> {
  const status = rules.schema.properties?.status;
  const errors: FieldError[] = [];
  if (object.status !== undefined && status !== undefined) {
    append(errors, validateValue(object.status as Json, status, { old: old.status, path: 'status' }));
  }
  errors.push(...checkScaleStatus(object, rules.scale), ...changedListTypes(object, old, rules.schema));
  return yield* withRules(object, old, rules.rules, errors);
}

/** Kinds of errors after which CEL rules are not run. */
const blocking: ReadonlySet<FieldError['type']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

function* withRules(
  object: JsonObject,
  old: JsonObject | undefined,
  rules: CustomResourceRules['rules'],
  errors: FieldError[],
): Steps<FieldError[]> {
  if (rules === undefined) return errors;
  if (!errors.some((error) => blocking.has(error.type))) return [...errors, ...(yield* rules(object, old))];
  const detail =
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
  return [...errors, invalid('<nil>', null, detail)];
}

/** Doubles are let pass if there were some before. */
function changedListTypes(object: JsonObject, old: JsonObject | undefined, schema: StructuralSchema): FieldError[] {
  const errors = checkListTypes(object, schema);
  return errors.length > 0 && old !== undefined && checkListTypes(old, schema).length > 0 ? [] : errors;
}

function checkScaleSpec(object: JsonObject, scale: ScalePaths | undefined): FieldError[] {
  return scale === undefined ? [] : checkReplicas(object, scale.specReplicasPath);
}

function checkScaleStatus(object: JsonObject, scale: ScalePaths | undefined): FieldError[] {
  if (scale === undefined) return [];
  const errors = checkReplicas(object, scale.statusReplicasPath);
  if (scale.labelSelectorPath !== undefined) {
    const [value, problem] = nested(object, scale.labelSelectorPath, 'string');
    if (problem !== undefined) errors.push(invalid(scale.labelSelectorPath, value ?? '', problem));
  }
  return errors;
}

function checkReplicas(object: JsonObject, path: string): FieldError[] {
  const [value, problem] = nested(object, path, 'int64');
  if (problem !== undefined) return [invalid(path, 0, problem)];
  const replicas = typeof value === 'number' ? value : 0;
  if (replicas < 0) return [invalid(path, replicas, 'should be a non-negative integer')];
  if (replicas > 0x7fff_ffff) return [invalid(path, replicas, `should be less than or equal to ${0x7fff_ffff}`)];
  return [];
}

/** The value at a path such as `.spec.replicas`, and what is wrong with it as one of that Go type. */
function nested(object: JsonObject, path: string, type: 'int64' | 'string'): [value?: Json, problem?: string] {
  const names = path.replace(/^\./, '').split('.');
  let at: Json = object;
  for (const [index, name] of names.entries()) {
    if (!isJsonObject(at)) {
      const where = `.${names.slice(0, index + 1).join('.')}`;
      return [
        undefined,
        `${where} accessor error: ${goValue(at)} is of the type ${goTypeOf(at)}, expected map[string]interface{}`,
      ];
    }
    if (!Object.hasOwn(at, name)) return [];
    at = at[name] as Json;
  }
  const fits = type === 'string' ? typeof at === 'string' : typeof at === 'number' && Number.isInteger(at);
  if (fits) return [at];
  return [
    undefined,
    `.${names.join('.')} accessor error: ${goValue(at)} is of the type ${goTypeOf(at)}, expected ${type}`,
  ];
}

function goTypeOf(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}

function goValue(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${members.map(([key, member]) => `${key}:${goValue(member as Json)}`).join(' ')}]`;
}
