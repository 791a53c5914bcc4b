import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import type { Json, JsonObject } from 'riata/object';
import { systemClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { readJson } from '../http/body/read-json.js';
import { builtInResources } from '../resource/built-in/built-in-resource.js';
import { builtInGroupVersions } from '../resource/built-in/built-in-resources.js';
import type { Resource } from '../resource/resource.js';
import { builtInSchema } from '../schema/built-in/built-in-schema.js';
import { decodeTyped } from '../schema/built-in/decode-typed.js';
import type { GoStruct, GoType } from '../schema/built-in/go-type.js';
import type { SchemaNode } from '../schema/built-in/schema-node.js';
import type { Stored } from '../storage/storage.js';
import { decodeObject, EnvelopeError, encodeEvent, encodeObject } from './envelope.js';
import { protobufListPieces } from './protobuf-list-pieces.js';
import { WireError } from './wire-reader.js';

const runs = Number(process.env.RIATA_RUNS ?? 2);

/** A value of a Go type. Depth is bounded: types can contain themselves. */
function anyOf(type: GoType, depth: number): fc.Arbitrary<Json> {
  switch (type.is) {
    case 'string':
      return fc.string({ unit: 'binary', maxLength: 5 });
    case 'bool':
      return fc.boolean();
    case 'int':
      return type.bits === 32 ? fc.integer() : fc.maxSafeInteger();
    case 'float':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'bytes':
      return fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString('base64'));
    case 'list':
      return fc.array(anyOf(type.element, depth + 1), { minLength: 1, maxLength: 2 });
    case 'map':
      return fc.dictionary(fc.string({ maxLength: 3 }), anyOf(type.element, depth + 1), {
        minKeys: 1,
        maxKeys: 2,
        noNullPrototype: true,
      });
    case 'struct':
      return depth > 5 ? fc.constant({}) : structValue(type, depth + 1);
    case 'custom':
      return customValue(type.text, depth + 1);
  }
}

/** Some of the fields, so that large types stay small. Lists and maps are never empty: in Protobuf they are not there. */
function structValue(struct: GoStruct, depth: number): fc.Arbitrary<JsonObject> {
  const fields = struct.fieldList.filter(
    ({ name, type }) =>
      name !== 'kind' && name !== 'apiVersion' && (depth < 4 || (type.is !== 'list' && type.is !== 'map')),
  );
  return fc.subarray(fields, { maxLength: Math.min(12, fields.length) }).chain((some) => {
    const model = Object.fromEntries(some.map(({ name, type }) => [name, anyOf(type, depth)]));
    return fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<JsonObject>;
  });
}

const seconds = fc.integer({ min: -62_135_596_799, max: 253_402_300_799 });
const json = () => fc.json({ maxDepth: 2 }).map((text) => readJson(Buffer.from(text)));

function customValue(type: string, depth: number): fc.Arbitrary<Json> {
  switch (type) {
    case 'resource.Quantity':
      return fc.constantFrom('1', '100m', '1Gi', '-5', '0', '1k');
    case 'intstr.IntOrString':
      return fc.oneof(fc.integer(), fc.string());
    case 'v1.Time':
      return seconds.map((s) => `${new Date(s * 1000).toISOString().slice(0, 19)}Z`);
    case 'v1.MicroTime':
      return fc
        .tuple(seconds, fc.integer({ min: 0, max: 999_999 }))
        .map(([s, us]) => `${new Date(s * 1000).toISOString().slice(0, 19)}.${String(us).padStart(6, '0')}Z`);
    case 'v1.JSONSchemaPropsOrBool':
      return fc.boolean();
    case 'v1.JSONSchemaPropsOrArray':
      return depth > 4 ? fc.constant({}) : fc.constantFrom<Json>({ type: 'string' }, [{ type: 'string' }, {}]);
    case 'v1.JSONSchemaPropsOrStringArray':
      return fc.constantFrom<Json>({ type: 'string' }, ['a', 'b']);
    default:
      return json().filter((value) => value !== null);
  }
}

const kinds = builtInGroupVersions().flatMap(({ group, version, resources }) =>
  resources.map(({ kind }) => ({ group, version, kind, apiVersion: group === '' ? version : `${group}/${version}` })),
);

describe('objects of every built-in kind', () => {
  test('come back from Protobuf as they were', () => {
    for (const { group, version, kind, apiVersion } of kinds) {
      const schema = builtInSchema({ group, version, kind }) as SchemaNode;
      const objects = structValue(schema.struct as GoStruct, 0);
      fc.assert(
        fc.property(objects, (made) => {
          const object = decodeTyped({ ...made, apiVersion, kind }, schema);
          const back = decodeObject(encodeObject(object), { apiVersion, kind });
          const again = decodeTyped(back, schema);
          expect(again).toEqual(object);
        }),
        { numRuns: runs },
      );
    }
  });
});

const expected = { apiVersion: 'v1', kind: 'ConfigMap' };

test('bytes that are no object are refused, whatever they are', () => {
  const wellMade = encodeObject({ ...expected, metadata: { name: 'a', labels: { a: 'b' } }, data: { x: 'y' } });
  expect(() => decodeObject(Buffer.from('xyz'), expected)).toThrow(EnvelopeError);
  expect(() => decodeObject(Buffer.from(''), expected)).toThrow('empty data');
  expect(() => decodeObject(Buffer.from('k8s\0'), expected)).toThrow('empty body');
  const mutated = fc.tuple(fc.nat(wellMade.length - 1), fc.nat(255), fc.nat(wellMade.length));
  fc.assert(
    fc.property(mutated, ([at, byte, end]) => {
      const bytes = Buffer.from(wellMade);
      bytes[at] = byte;
      try {
        decodeObject(bytes.subarray(0, end), expected);
      } catch (error) {
        expect(error).toBeInstanceOf(WireError);
      }
    }),
  );
});

test('an object of another kind is named, not read', () => {
  const pod = encodeObject({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } });
  expect(decodeObject(pod, expected)).toEqual({ apiVersion: 'v1', kind: 'Pod' });
});

test('whole numbers of 64 bits and negative ones', () => {
  const job = (seconds: bigint | number) =>
    ({ apiVersion: 'batch/v1', kind: 'Job', spec: { activeDeadlineSeconds: seconds } }) as unknown as JsonObject;
  for (const seconds of [0, 1, -1, 2 ** 31, -(2 ** 40), Number.MAX_SAFE_INTEGER, 2n ** 62n, -(2n ** 63n)]) {
    const back = decodeObject(encodeObject(job(seconds)), { apiVersion: 'batch/v1', kind: 'Job' });
    expect(back).toEqual(job(seconds));
  }
});

test('an event of a watch is a frame with its length', () => {
  const frame = encodeEvent('ADDED', { ...expected, metadata: { name: 'a' } });
  expect(frame.readUInt32BE()).toBe(frame.length - 4);
  expect(frame.toString('latin1', 6, 11)).toBe('ADDED');
  const start = frame.indexOf('k8s\0', 0, 'latin1');
  expect(decodeObject(frame.subarray(start), expected)).toEqual({ ...expected, metadata: { name: 'a' } });
});

test('a long list in pieces is the same as at once', async () => {
  const items = Array.from({ length: 1_234 }, (_, index) => ({ metadata: { name: `c-${index}` }, data: { x: 'ü' } }));
  const head = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '7' } };
  const found = items.map((object, revision) => ({ key: '', revision, object: { ...expected, ...object } }));
  const resource = builtInResources().find(({ plural }) => plural === 'configmaps') as Resource;
  const pieces: Uint8Array[] = [];
  const list = { head, found: found as unknown as Stored[] };
  for await (const piece of protobufListPieces(list, resource, systemClock)) pieces.push(piece);
  expect(pieces.length).toBe(4);
  expect(Buffer.concat(pieces).equals(encodeObject({ ...head, items }))).toBe(true);
});
