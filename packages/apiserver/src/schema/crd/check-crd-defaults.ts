import { equal, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import { checkDefaultRules } from '../../cel/rules/check-rules.js';
import { append } from '../../status/append.js';
import { type FieldError, invalid } from '../../status/field-error.js';
import type { Steps } from '../../steps.js';
import { IllTypedError } from '../built-in/decode-typed.js';
import { checkEmbedded, coerceEmbedded } from '../structural/embedded-resources.js';
import { prune, pruneValue } from '../structural/prune.js';
import { validateValue } from '../structural/validate-value.js';

/** The problems of the defaults in a structural schema (`defaulting.ValidateDefaults`): each must fit its schema. */
export function checkCrdDefaults(schema: StructuralSchema, path: string): Steps<FieldError[]> {
  return checkNode({ ...schema, 'x-kubernetes-embedded-resource': true }, path, false);
}

function* checkNode(schema: StructuralSchema, path: string, insideMeta: boolean): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const inside = insideMeta && !embedded;
  if (schema.default !== undefined && schema.default !== null) {
    append(errors, yield* checkDefault(schema.default, schema, `${path}.default`, inside));
  }
  if (schema.items !== undefined) append(errors, yield* checkNode(schema.items, `${path}.items`, inside));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const own = embedded && (name === 'metadata' || name === 'apiVersion' || name === 'kind');
    append(errors, yield* checkNode(property, `${path}.properties[${name}]`, inside || own));
  }
  return errors;
}

function* checkDefault(value: Json, schema: StructuralSchema, path: string, insideMeta: boolean): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  if (!insideMeta) {
    const embedded = schema['x-kubernetes-embedded-resource'] === true;
    const kept = embedded ? prune(value as JsonObject, schema).object : pruneValue(value, schema).object;
    if (!equal(kept as Json, value)) errors.push(invalid(path, value, 'must not have unknown fields'));
    const wrong = coercionProblem(value, schema, path);
    if (wrong !== undefined) return [...errors, wrong];
    const resources = checkEmbedded(value, schema, path);
    if (resources.length > 0) return [...errors, ...resources];
  }
  const wrong = validateValue(value, schema, { path });
  return [...errors, ...(wrong.length > 0 ? wrong : yield* checkDefaultRules(value, schema, path))];
}

function coercionProblem(value: Json, schema: StructuralSchema, path: string): FieldError | undefined {
  try {
    coerceEmbedded(value, schema, [], path);
    return undefined;
  } catch (error) {
    if (!(error instanceof IllTypedError)) throw error;
    const [, field = path, body = error.message] = /^(.*?): (Invalid value: .*)$/s.exec(error.message) ?? [];
    return { type: 'FieldValueInvalid', field, body };
  }
}
