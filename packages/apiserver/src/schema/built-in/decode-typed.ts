import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { setMember } from '../structural/set-member.js';
import { customTypes, customZeros } from './custom-types.js';
import { type GoField, type GoStruct, type GoType, goStruct } from './go-type.js';
import type { SchemaNode } from './schema-node.js';

/** Thrown for the first field whose type does not fit, with the words of Go's JSON decoder. */
export class IllTypedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'IllTypedError';
  }
}

/** Where the decoder is, as messages tell it. */
interface Place {
  /** The struct whose field is being read. */
  readonly owner: string;
  /** Field names from the root, without indexes. */
  readonly names: readonly string[];
  /** The path of unknown fields, with indexes and map keys. */
  readonly path: string;
  /** Collects unknown fields; undefined inside types that read their own JSON. */
  readonly unknown: string[] | undefined;
}

/**
 * An object of a built-in kind as it is after Go has read it into its struct and written it again: known fields only, in
 * the struct's order; nulls and empty values gone, or in place where the struct has no `omitempty`; times and quantities
 * in their canonical form. Throws an {@link IllTypedError} for a field of a wrong type.
 *
 * The paths of the fields that were dropped are added to `unknown`, in the order of the object.
 */
export function decodeTyped(object: JsonObject, schema: SchemaNode, unknown?: string[]): JsonObject {
  if (schema.go.is !== 'struct') throw new TypeError('expected the schema of a kind');
  return struct(object, schema.go, { owner: schema.go.name, names: [], path: '', unknown });
}

/** A value of the given type, read and written again. */
function value(from: Json | undefined, type: GoType, at: Place): Json {
  if (from === null || from === undefined) return zero(type);
  switch (type.is) {
    case 'string':
      return typeof from === 'string' ? from : refuse(from, type.text, at);
    case 'bool':
      return typeof from === 'boolean' ? from : refuse(from, type.text, at);
    case 'float':
      return typeof from === 'number' ? from : refuse(from, type.text, at);
    case 'int':
      return integer(from, type.text, type.bits, at);
    case 'bytes':
      return typeof from === 'string' ? base64(from) : refuse(from, type.text, at);
    case 'list':
      if (!Array.isArray(from)) return refuse(from, type.text, at);
      return from.map((item, index) =>
        item === null && type.pointers ? null : value(item, type.element, { ...at, path: `${at.path}[${index}]` }),
      );
    case 'map':
      if (!isJsonObject(from)) return refuse(from, type.text, at);
      return map(from, type.element, type.pointers, at);
    case 'struct':
      return isJsonObject(from) ? struct(from, type, at) : refuse(from, type.text, at);
    case 'custom':
      return custom(from, type.text, at);
  }
}

function struct(from: JsonObject, type: GoStruct, at: Place): JsonObject {
  const { fields } = type;
  const read = new Map<string, Json>();
  // In the order of the object, so that of several wrong fields the first is the one reported.
  for (const name of Object.keys(from)) {
    const field = fields.get(name);
    if (field === undefined) at.unknown?.push(join(at.path, name));
    else {
      const names = [...at.names, ...field.via, name];
      const place = { owner: type.name, names, path: join(at.path, name), unknown: at.unknown };
      const given = from[name];
      if (given !== null && given !== undefined) read.set(name, value(given, field.type, place));
    }
  }
  const made: Record<string, Json> = {};
  for (const field of fields.values()) {
    const written = read.has(field.name) ? (read.get(field.name) as Json) : absentValue(field);
    if (written !== undefined && (field.kept || !isOmitted(written, field))) made[field.name] = written;
  }
  return made;
}

/** What a struct holds for a field that was not given: undefined when there is nothing to write. */
function absentValue(field: GoField): Json | undefined {
  if (field.pointer) return field.kept ? null : undefined;
  if (field.type.is === 'struct' || field.type.is === 'custom') {
    // The one time with `omitzero`.
    return field.name === 'creationTimestamp' && !field.kept ? undefined : zero(field.type);
  }
  return field.kept ? zero(field.type) : undefined;
}

function isOmitted(written: Json, { pointer, type }: GoField): boolean {
  if (pointer || type.is === 'struct' || type.is === 'custom') return false;
  if (written === '' || written === 0 || written === false || written === null) return true;
  if (Array.isArray(written)) return written.length === 0;
  return type.is === 'map' && isJsonObject(written) && Object.keys(written).length === 0;
}

function zero(type: GoType): Json {
  switch (type.is) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int':
    case 'float':
      return 0;
    case 'struct':
      return struct({}, type, { owner: type.name, names: [], path: '', unknown: undefined });
    case 'custom':
      return customZeros[type.text] ?? null;
    default:
      return null;
  }
}

function map(from: JsonObject, element: GoType, pointers: boolean, at: Place): JsonObject {
  const made: Record<string, Json> = {};
  // Go writes the keys of a map sorted.
  for (const key of Object.keys(from).sort()) {
    const item = from[key] as Json;
    const read =
      item === null && pointers
        ? null
        : item === null && element.is === 'bytes'
          ? ''
          : value(item, element, { ...at, path: join(at.path, key) });
    setMember(made, key, read);
  }
  return made;
}

function integer(from: Json, type: string, bits: 32 | 64, at: Place): Json {
  if (typeof from !== 'number') return refuse(from, type, at);
  const bound = 2 ** (bits - 1);
  if (Number.isInteger(from) && from >= -bound && from < bound) return from;
  return refuse(from, type, at, `number ${from}`);
}

function base64(text: string): string {
  const packed = text.replace(/[\r\n]/g, '');
  const wrong = /[^A-Za-z0-9+/]/.exec(packed.replace(/={1,2}$/, ''));
  const whole = packed.length % 4 === 0;
  if (wrong === null && whole) return packed;
  const at = wrong !== null ? wrong.index : packed.endsWith('=') ? packed.length : packed.length - (packed.length % 4);
  throw new IllTypedError(`illegal base64 data at input byte ${at}`);
}

function custom(from: Json, type: string, at: Place): Json {
  if (type.startsWith('v1.JSONSchemaPropsOr')) return schemaOr(from, type, at);
  const rewrite = customTypes[type];
  if (rewrite === undefined) return from;
  const outcome = rewrite(from);
  if ('value' in outcome) return outcome.value;
  if ('wants' in outcome) {
    const kind = typeof from === 'number' && outcome.wants === 'int32' ? `number ${from}` : undefined;
    return refuse(from, outcome.wants, at, kind);
  }
  throw new IllTypedError(outcome.message);
}

/** The fields of a JSON schema that take a schema or something else. */
function schemaOr(from: Json, type: string, at: Place): Json {
  const schema = goStruct('apiextensions/v1', 'JSONSchemaProps') as GoStruct;
  const inside = { ...at, unknown: undefined };
  if (isJsonObject(from)) return struct(from, schema, inside);
  if (type.endsWith('OrBool')) {
    if (typeof from === 'boolean') return from;
    throw new IllTypedError('boolean or JSON schema expected');
  }
  if (!Array.isArray(from)) return null;
  if (type.endsWith('OrStringArray')) return from.map((item) => value(item, { is: 'string', text: 'string' }, inside));
  return from.map((item) => value(item, schema, inside));
}

function refuse(from: Json, type: string, at: Place, kind = kindOf(from)): never {
  const field = at.names.length === 0 ? 'Go value' : `Go struct field ${at.owner}.${at.names.join('.')}`;
  throw new IllTypedError(`json: cannot unmarshal ${kind} into ${field} of type ${type}`);
}

function kindOf(from: Json): string {
  if (Array.isArray(from)) return 'array';
  return typeof from === 'boolean' ? 'bool' : typeof from;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
