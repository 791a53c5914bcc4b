import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import type { Steps } from '../../steps.js';
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

/**
 * An object of a built-in kind after Go has read it into its struct and written it again: known fields only, in the
 * struct's order; nulls and empty values dropped, or in place where the struct has no `omitempty`; times and quantities
 * in their canonical form. Throws an {@link IllTypedError} for a field of a wrong type.
 *
 * The paths of dropped fields are added to `unknown`, in the order of the object.
 */
export function decodeTyped(object: JsonObject, schema: SchemaNode, unknown?: string[]): JsonObject {
  if (schema.go.is !== 'struct') throw new TypeError('expected the schema of a kind');
  return new Decoder(schema.go.name, unknown).struct(object, schema.go);
}

/**
 * As {@link decodeTyped}, in steps: long maps and lists come after all the rest. Where that would change what is said,
 * of wrong and of unknown fields, it is done again at once.
 */
export function* decodeTypedSteps(object: JsonObject, schema: SchemaNode, unknown: string[]): Steps<JsonObject> {
  if (schema.go.is !== 'struct') throw new TypeError('expected the schema of a kind');
  const known = unknown.length;
  const decoder = new Decoder(schema.go.name, unknown, new Map());
  try {
    const made = decoder.struct(object, schema.go);
    if (!decoder.hasLeft) return made;
    yield* decoder.rest();
    if (unknown.length === known) return made;
  } catch (error) {
    if (!(error instanceof IllTypedError) || !decoder.hasLeft) throw error;
  }
  unknown.length = known;
  return decodeTyped(object, schema, unknown);
}

/** One value that is not part of an object, read and written again. Throws an {@link IllTypedError}. */
export function decodeValue(value: Json, type: GoType): Json {
  return new Decoder('', undefined).value(value, type);
}

/** Maps and lists with more elements are read in steps. */
const longContainer = 1_000;
/** How many elements are read in one step: half a millisecond for texts. */
const elementsAtOnce = 512;

/** One pass over one object. It keeps where it is only for messages, so that reading a good object costs no texts. */
class Decoder {
  /** The struct whose field is being read. */
  #owner: string;
  /** Field names from the root as messages print them: with embedded structs, without indexes. */
  readonly #names: string[] = [];
  /** Field names, keys and indexes from the root. */
  readonly #path: (string | number)[] = [];
  /** Collects unknown fields; undefined inside types that read their own JSON. */
  #unknown: string[] | undefined;
  /** Long maps and lists that are still empty, and what fills them; undefined if all is read at once. */
  readonly #left: Map<Json, () => Steps<void>> | undefined;

  constructor(owner: string, unknown: string[] | undefined, left?: Map<Json, () => Steps<void>>) {
    this.#owner = owner;
    this.#unknown = unknown;
    this.#left = left;
  }

  /** Whether {@link rest} has anything to do, or has had. */
  get hasLeft(): boolean {
    return this.#left !== undefined && this.#left.size > 0;
  }

  /** Fills the maps and lists that were left, and those in them. */
  *rest(): Steps<void> {
    for (const fill of this.#left?.values() ?? []) yield* fill();
  }

  struct(from: JsonObject, type: GoStruct): JsonObject {
    const { fields, fieldList } = type;
    const outer = this.#owner;
    this.#owner = type.name;
    const read: (Json | undefined)[] = new Array(fieldList.length);
    // In the order of the object, so that of several wrong fields the first is the one reported.
    for (const name of Object.keys(from)) {
      const field = fields.get(name);
      const given = from[name];
      if (field === undefined) this.#unknown?.push(this.#pathOf(name));
      else if (given !== null && given !== undefined) {
        const depth = this.#names.length;
        if (field.via.length > 0) this.#names.push(...field.via);
        this.#names.push(name);
        this.#path.push(name);
        read[field.index] = this.value(given, field.type);
        this.#path.pop();
        this.#names.length = depth;
      }
    }
    this.#owner = outer;
    const made: Record<string, Json> = {};
    for (const field of fieldList) {
      const written = read[field.index];
      if (written === undefined) {
        if (field.standing) made[field.name] = field.pointer ? null : zero(field.type);
      } else if (field.kept || field.keepsEmpty || this.#left?.has(written) || !isOmitted(written, field)) {
        made[field.name] = written;
      }
    }
    return made;
  }

  /** A value of the given type, read and written again. */
  value(from: Json, type: GoType): Json {
    if (from === null) return zero(type);
    switch (type.is) {
      case 'string':
        return typeof from === 'string' ? from : this.#refuse(from, type.text);
      case 'bool':
        return typeof from === 'boolean' ? from : this.#refuse(from, type.text);
      case 'float':
        return isNumber(from) ? Number(from) : this.#refuse(from, type.text);
      case 'int':
        return this.#integer(from, type.text, type.bits);
      case 'bytes':
        return typeof from === 'string' ? base64(from) : this.#refuse(from, type.text);
      case 'list':
        return Array.isArray(from) ? this.#list(from, type.element, type.pointers) : this.#refuse(from, type.text);
      case 'map':
        return isJsonObject(from) ? this.#map(from, type.element, type.pointers) : this.#refuse(from, type.text);
      case 'struct':
        return isJsonObject(from) ? this.struct(from, type) : this.#refuse(from, type.text);
      case 'custom':
        return this.#custom(from, type.text);
    }
  }

  #list(from: readonly Json[], element: GoType, pointers: boolean): Json {
    if (this.#left !== undefined && from.length > longContainer) {
      const made: Json[] = [];
      this.#left.set(made, () => this.#fillList(made, from, element, pointers));
      return made;
    }
    return from.map((item, index) => {
      if (item === null && pointers) return null;
      this.#path.push(index);
      const read = this.value(item, element);
      this.#path.pop();
      return read;
    });
  }

  #map(from: JsonObject, element: GoType, pointers: boolean): JsonObject {
    const made: Record<string, Json> = {};
    const keys = Object.keys(from);
    if (this.#left !== undefined && keys.length > longContainer) {
      this.#left.set(made, () => this.#fillMap(made, from, keys, element, pointers));
      return made;
    }
    // Go writes the keys of a map sorted.
    for (const key of keys.sort()) this.#setMember(made, from, key, element, pointers);
    return made;
  }

  #setMember(made: Record<string, Json>, from: JsonObject, key: string, element: GoType, pointers: boolean): void {
    const item = from[key] as Json;
    this.#path.push(key);
    if (item === null && pointers) setMember(made, key, null);
    else if (item === null && element.is === 'bytes') setMember(made, key, '');
    else setMember(made, key, this.value(item, element));
    this.#path.pop();
  }

  *#fillMap(
    made: Record<string, Json>,
    from: JsonObject,
    keys: readonly string[],
    element: GoType,
    pointers: boolean,
  ): Steps<void> {
    for (const [index, key] of (yield* sorted(keys)).entries()) {
      if (index % elementsAtOnce === 0) yield;
      this.#setMember(made, from, key, element, pointers);
    }
  }

  *#fillList(made: Json[], from: readonly Json[], element: GoType, pointers: boolean): Steps<void> {
    for (const [index, item] of from.entries()) {
      if (index % elementsAtOnce === 0) yield;
      made.push(item === null && pointers ? null : this.value(item, element));
    }
  }

  #integer(from: Json, type: string, bits: 32 | 64): Json {
    if (isBigint(from) && bits === 64) return from;
    if (typeof from !== 'number') return this.#refuse(from, type, isBigint(from) ? `number ${from}` : undefined);
    const bound = 2 ** (bits - 1);
    if (Number.isInteger(from) && from >= -bound && from < bound) return from;
    return this.#refuse(from, type, `number ${from}`);
  }

  #custom(from: Json, type: string): Json {
    if (type.startsWith('v1.JSONSchemaPropsOr')) return this.#schemaOr(from, type);
    const rewrite = customTypes[type];
    if (rewrite === undefined) return from;
    const outcome = rewrite(isBigint(from) ? Number(from) : from);
    if ('value' in outcome) return outcome.value;
    if ('expects' in outcome) {
      const kind = typeof from === 'number' && outcome.expects === 'int32' ? `number ${from}` : undefined;
      return this.#refuse(from, outcome.expects, kind);
    }
    throw new IllTypedError(outcome.message);
  }

  /** The fields of a JSON schema that take a schema or something else. */
  #schemaOr(from: Json, type: string): Json {
    const schema = goStruct('apiextensions/v1', 'JSONSchemaProps') as GoStruct;
    const unknown = this.#unknown;
    this.#unknown = undefined;
    const read = isJsonObject(from) ? this.struct(from, schema) : this.#noSchema(from, type, schema);
    this.#unknown = unknown;
    return read;
  }

  #noSchema(from: Json, type: string, schema: GoStruct): Json {
    if (type.endsWith('OrBool')) {
      if (typeof from === 'boolean') return from;
      throw new IllTypedError('boolean or JSON schema expected');
    }
    if (!Array.isArray(from)) return null;
    return this.#list(from, type.endsWith('OrStringArray') ? { is: 'string', text: 'string' } : schema, false);
  }

  #refuse(from: Json, type: string, kind = kindOf(from)): never {
    const field = this.#names.length === 0 ? 'Go value' : `Go struct field ${this.#owner}.${this.#names.join('.')}`;
    throw new IllTypedError(`json: cannot unmarshal ${kind} into ${field} of type ${type}`);
  }

  #pathOf(name: string): string {
    let path = '';
    for (const part of this.#path) path += typeof part === 'number' ? `[${part}]` : path === '' ? part : `.${part}`;
    return path === '' ? name : `${path}.${name}`;
  }
}

function isOmitted(written: Json, { pointer, type }: GoField): boolean {
  if (pointer || type.is === 'struct' || type.is === 'custom') return false;
  if (written === '' || written === 0 || written === false || written === null) return true;
  if (Array.isArray(written)) return written.length === 0;
  return type.is === 'map' && isJsonObject(written) && isEmpty(written);
}

/** Without a list of its keys, of which there may be many. */
function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

/** In the order of Go, where there are many: runs that are sorted by themselves, and then merged. */
function* sorted(texts: readonly string[]): Steps<readonly string[]> {
  let runs: string[][] = [];
  for (let from = 0; from < texts.length; from += elementsAtOnce) {
    runs.push(texts.slice(from, from + elementsAtOnce).sort());
    yield;
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(yield* mergedRuns(runs[index] as string[], runs[index + 1] ?? []));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedRuns(a: readonly string[], b: readonly string[]): Steps<string[]> {
  const made: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const takesFirst = j >= b.length || (i < a.length && (a[i] as string) <= (b[j] as string));
    made.push((takesFirst ? a[i++] : b[j++]) as string);
    if (made.length % (8 * elementsAtOnce) === 0) yield;
  }
  return made;
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
      return new Decoder(type.name, undefined).struct({}, type);
    case 'custom':
      return customZeros[type.text] ?? null;
    default:
      return null;
  }
}

function base64(text: string): string {
  const problem = base64Problem(text);
  if (problem !== undefined) throw new IllTypedError(problem);
  return text.replace(/[\r\n]/g, '');
}

/** Go's error for a text that isn't base64. */
export function base64Problem(text: string): string | undefined {
  const packed = text.replace(/[\r\n]/g, '');
  const wrong = /[^A-Za-z0-9+/]/.exec(packed.replace(/={1,2}$/, ''));
  if (wrong === null && packed.length % 4 === 0) return undefined;
  const at = wrong !== null ? wrong.index : packed.endsWith('=') ? packed.length : packed.length - (packed.length % 4);
  return `illegal base64 data at input byte ${at}`;
}

/** A whole number past 2^53. */
function isBigint(value: unknown): boolean {
  return typeof value === 'bigint';
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}

function kindOf(from: Json): string {
  if (isBigint(from)) return 'number';
  if (Array.isArray(from)) return 'array';
  return typeof from === 'boolean' ? 'bool' : typeof from;
}
