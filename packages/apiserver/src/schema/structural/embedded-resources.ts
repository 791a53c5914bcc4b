import { isJsonObject, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import { append } from '../../status/append.js';
import { type FieldError, formatFieldError, invalid, required } from '../../status/field-error.js';
import { IllTypedError } from '../built-in/decode-typed.js';
import { decodeObjectMeta } from '../built-in/object-meta-schema.js';
import { dns1035Label, pathSegmentName } from '../name-rules.js';
import { checkNewMeta } from '../object-meta.js';
import { schemaOf } from './drop-nulls.js';
import { setMember } from './set-member.js';

/**
 * A custom resource whose embedded resources have their metadata read as any object's (`objectmeta.Coerce`). Throws an
 * {@link IllTypedError} for what cannot be read. The paths of dropped metadata fields are added to `unknown`.
 */
export function coerceEmbedded<T extends Json>(
  value: T,
  schema: StructuralSchema | undefined,
  unknown: string[],
  path = '',
): T {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const made = value.map((item: Json, index) => coerceEmbedded(item, schema.items, unknown, `${path}[${index}]`));
    return made.every((item, index) => item === value[index]) ? value : (made as unknown as T);
  }
  if (!isJsonObject(value)) return value;
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const made: Record<string, Json> = {};
  let changed = false;
  for (const key of Object.keys(value)) {
    const member = value[key] as Json;
    const at = childPath(path, key, schema);
    let read = embedded ? coerceOwn(key, member, path, unknown) : member;
    read = coerceEmbedded(read, schemaOf(key, schema), unknown, at);
    if (read !== member) changed = true;
    setMember(made, key, read);
  }
  return changed ? (made as T) : value;
}

function coerceOwn(key: string, value: Json, path: string, unknown: string[]): Json {
  if ((key === 'apiVersion' || key === 'kind') && typeof value !== 'string') {
    throw new IllTypedError(formatFieldError(invalid(`${path}.${key}`, value, 'must be a string')));
  }
  if (key !== 'metadata') return value;
  const dropped: string[] = [];
  try {
    const read = decodeObjectMeta(value, dropped);
    append(
      unknown,
      dropped.map((field) => `${path}.metadata.${field}`),
    );
    return read;
  } catch (error) {
    if (!(error instanceof IllTypedError)) throw error;
    throw new IllTypedError(formatFieldError(invalid(`${path}.metadata`, sorted(value), error.message)));
  }
}

/** The problems of the `apiVersion`, `kind` and `metadata` of embedded resources (`objectmeta.Validate`). */
export function checkEmbedded(value: Json, schema: StructuralSchema | undefined, path = ''): FieldError[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item: Json, index) => checkEmbedded(item, schema.items, `${path}[${index}]`));
  }
  if (!isJsonObject(value)) return [];
  const errors = schema['x-kubernetes-embedded-resource'] ? checkResource(value, path) : [];
  for (const key of Object.keys(value)) {
    append(errors, checkEmbedded(value[key] as Json, schemaOf(key, schema), childPath(path, key, schema)));
  }
  return errors;
}

function checkResource({ apiVersion, kind, metadata }: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (apiVersion === undefined) errors.push(required(`${path}.apiVersion`));
  if (kind === undefined) errors.push(required(`${path}.kind`));
  if (apiVersion === '') errors.push(invalid(`${path}.apiVersion`, '', 'must not be empty'));
  else if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2) {
    errors.push(invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  } else if (apiVersion !== undefined && typeof apiVersion !== 'string') {
    errors.push(invalid(`${path}.apiVersion`, apiVersion, 'must be a string'));
  }
  if (kind === '') errors.push(invalid(`${path}.kind`, '', 'must not be empty'));
  else if (typeof kind === 'string') {
    const problems = dns1035Label(kind.toLowerCase());
    const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    if (problems.length > 0) errors.push(invalid(`${path}.kind`, kind, detail));
  } else if (kind !== undefined) errors.push(invalid(`${path}.kind`, kind, 'must be a string'));
  if (isJsonObject(metadata)) {
    // An embedded resource needs no name.
    const named = metadata.name ? metadata : { ...metadata, name: 'fakename' };
    const namespaced = typeof metadata.namespace === 'string' && metadata.namespace !== '';
    append(errors, checkNewMeta(named, { namespaced, nameRule: pathSegmentName, path: `${path}.metadata` }));
  }
  return errors;
}

/** Members that only `additionalProperties` describes stand in brackets. */
function childPath(path: string, key: string, schema: StructuralSchema): string {
  const known = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
  if (!known && schema.additionalProperties !== undefined) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** As Go writes a map. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] as Json)]));
}
