import { Buffer } from 'node:buffer';
import { isJsonObject, type JsonObject, splitApiVersion } from 'riata/object';
import { builtInSchema } from '../schema/built-in/built-in-schema.js';
import { type GoStruct, goStruct } from '../schema/built-in/go-type.js';
import { decodeMessage } from './decode-message.js';
import { encodeMessage } from './encode-message.js';
import { ReverseWriter } from './reverse-writer.js';
import { asBuffer, WireError, WireReader } from './wire-reader.js';

export { WireError };

/** The first bytes of every object in Protobuf. */
const prefix = Buffer.from('k8s\0', 'latin1');

/** An object's bytes: `k8s\0` and a `runtime.Unknown` with its kind and its message. */
export function encodeObject(object: JsonObject): Buffer {
  const writer = new ReverseWriter();
  encodeBody(writer, object);
  envelop(writer, object);
  return writer.take();
}

/** One frame of a watch: the length in four bytes, and a `WatchEvent` around the object's bytes. */
export function encodeEvent(type: string, object: JsonObject): Buffer {
  const writer = new ReverseWriter();
  encodeBody(writer, object);
  envelop(writer, object);
  writer.close(1, 0);
  writer.close(2, 0);
  writer.string(1, type);
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(writer.length);
  writer.raw(length);
  return writer.take();
}

/**
 * An object's bytes as JSON, if it is of the `expected` kind or names none: an object of another kind is not decoded,
 * only its kind is returned. Throws an {@link EnvelopeError}, or a {@link WireError} for malformed contents.
 */
export function decodeObject(bytes: Uint8Array, expected: TypeMeta): JsonObject {
  const { apiVersion, kind, raw } = openEnvelope(bytes);
  const named = { apiVersion: apiVersion || expected.apiVersion, kind: kind || expected.kind };
  // An Eviction of an old version looks the same, and the options of a deletion are in every group.
  const anyVersion = expected.kind === 'Eviction' || expected.kind === 'DeleteOptions';
  if (named.kind !== expected.kind || (named.apiVersion !== expected.apiVersion && !anyVersion)) return named;
  const struct = structOf(expected);
  if (struct === undefined) throw new TypeError(`Protobuf: no message for ${expected.apiVersion} ${expected.kind}`);
  return { ...named, ...decodeMessage(new WireReader(raw), struct) };
}

/** Thrown for bytes that are not even an envelope. */
export class EnvelopeError extends WireError {}

interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

function openEnvelope(bytes: Uint8Array): ReturnType<typeof decodeEnvelope> {
  try {
    return decodeEnvelope(bytes);
  } catch (error) {
    throw error instanceof WireError ? new EnvelopeError(error.message) : error;
  }
}

/** The kind of an object and the bytes of its message. Throws a {@link WireError}. */
export function decodeEnvelope(bytes: Uint8Array): TypeMeta & { readonly raw: Buffer } {
  const buffer = asBuffer(bytes);
  if (buffer.length === 0) throw new WireError('empty data');
  if (!buffer.subarray(0, prefix.length).equals(prefix)) {
    const expected = `expected prefix [${[...prefix].join(' ')}]`;
    throw new WireError(`provided data does not appear to be a protobuf message, ${expected}`);
  }
  if (buffer.length === prefix.length) throw new WireError('empty body');
  const reader = new WireReader(buffer, prefix.length);
  let named: TypeMeta = { apiVersion: '', kind: '' };
  let raw = Buffer.alloc(0);
  while (reader.next()) {
    if (reader.number === 1) named = decodeTypeMeta(reader.message());
    else if (reader.number === 2) raw = reader.bytes() as typeof raw;
    else reader.skip();
  }
  return { ...named, raw };
}

function decodeTypeMeta(reader: WireReader): TypeMeta {
  const named = { apiVersion: '', kind: '' };
  while (reader.next()) {
    if (reader.number === 1) named.apiVersion = reader.string();
    else if (reader.number === 2) named.kind = reader.string();
    else reader.skip();
  }
  return named;
}

/** The bytes of a list whose items are encoded already, without them. */
export function encodeListHead(list: JsonObject, itemsLength: number): Buffer {
  const writer = new ReverseWriter(256);
  encodeList(writer, { ...list, items: [] }, goStruct('meta/v1', 'ListMeta') as GoStruct);
  envelop(writer, list, itemsLength);
  return writer.take();
}

/** Some items of a list, one after the other. */
export function encodeItems(items: readonly JsonObject[], { apiVersion, kind }: TypeMeta): Buffer {
  const struct = structOf({ apiVersion, kind });
  if (struct === undefined) throw new TypeError(`Protobuf: no message for ${apiVersion} ${kind}`);
  const writer = new ReverseWriter(items.length * 512);
  for (let index = items.length - 1; index >= 0; index--) {
    const mark = writer.length;
    encodeMessage(writer, items[index] as JsonObject, struct);
    writer.close(2, mark);
  }
  return writer.take();
}

/** Puts the envelope around the message that was written, and what is to follow it. */
function envelop(writer: ReverseWriter, { apiVersion, kind }: JsonObject, following = 0): void {
  writer.head(2, writer.length + following);
  const mark = writer.length;
  writer.string(2, String(kind ?? ''));
  writer.string(1, String(apiVersion ?? ''));
  writer.close(1, mark);
  writer.raw(prefix);
}

/** The message of an object or a list. Throws a `TypeError` for a kind that has none. */
function encodeBody(writer: ReverseWriter, object: JsonObject): void {
  const { apiVersion, kind } = object;
  const named = { apiVersion: String(apiVersion ?? ''), kind: String(kind ?? '') };
  const struct = structOf(named);
  if (struct !== undefined) {
    encodeMessage(writer, object, struct);
    return;
  }
  const item = named.kind.endsWith('List') ? structOf({ ...named, kind: named.kind.slice(0, -4) }) : undefined;
  if (item === undefined) throw new TypeError(`Protobuf: no message for ${apiVersion} ${kind}`);
  encodeList(writer, object, item);
}

/** Lists are all alike: metadata 1, items 2. One is the other way round. */
function encodeList(writer: ReverseWriter, { apiVersion, metadata, items }: JsonObject, item: GoStruct): void {
  const [first, second] = apiVersion === 'meta.k8s.io/v1beta1' ? [2, 1] : [1, 2];
  const list = Array.isArray(items) ? items : [];
  for (let index = list.length - 1; index >= 0; index--) {
    const one = list[index];
    const mark = writer.length;
    if (isJsonObject(one)) encodeMessage(writer, one, item);
    writer.close(second, mark);
  }
  const mark = writer.length;
  if (isJsonObject(metadata)) encodeMessage(writer, metadata, goStruct('meta/v1', 'ListMeta') as GoStruct);
  writer.close(first, mark);
}

/** The type of a kind: of a resource, or of what is answered beside them. */
export function structOf({ apiVersion, kind }: TypeMeta): GoStruct | undefined {
  const { group, version } = splitApiVersion(apiVersion);
  if (group === 'meta.k8s.io') return goStruct('meta/v1', kind);
  if (group === 'apidiscovery.k8s.io') return goStruct('apidiscovery/v2', kind);
  return builtInSchema({ group, version, kind })?.struct ?? (group === '' ? goStruct('meta/v1', kind) : undefined);
}
