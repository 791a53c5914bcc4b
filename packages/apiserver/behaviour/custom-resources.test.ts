import type { Json, JsonObject, StructuralSchema } from 'riata/object';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IllTypedError } from '../src/schema/built-in/decode-typed.js';
import { finalizerWarnings } from '../src/schema/finalizer-warnings.js';
import { checkNewMeta } from '../src/schema/object-meta.js';
import { readCustomResource } from '../src/schema/structural/read-custom-resource.js';
import { checkContent } from '../src/schema/structural/validate-custom-resource.js';
import { withDefaults } from '../src/schema/structural/with-defaults.js';
import { causeOf } from '../src/status/field-error.js';
import { atOnce } from '../src/steps.js';
import { askReal } from './ask.js';
import { poll } from './controlled-server.js';

const group = 'schemas.example.com';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const path = `/apis/${group}/v1/namespaces/default/things?dryRun=All`;

const leaf: Record<string, StructuralSchema> = {
  text: { type: 'string', minLength: 2, maxLength: 4, pattern: '^[a-z]+$' },
  short: { type: 'string', maxLength: 2 },
  long: { type: 'string', minLength: 3 },
  choice: { type: 'string', enum: ['b', 'a'] },
  numbers: { type: 'integer', enum: [3, 1] },
  mixed: { 'x-kubernetes-preserve-unknown-fields': true, enum: ['a', 1, { b: 2 }] },
  int: { type: 'integer' },
  int32: { type: 'integer', format: 'int32', minimum: 1, maximum: 10 },
  int64: { type: 'integer', format: 'int64' },
  number: { type: 'number', minimum: 0.5, exclusiveMinimum: true, maximum: 10, exclusiveMaximum: true },
  tiny: { type: 'number', minimum: 0.00001 },
  float: { type: 'number', format: 'float' },
  step: { type: 'integer', multipleOf: 5 },
  fraction: { type: 'number', multipleOf: 0.25 },
  odd: { type: 'integer', minimum: 1.5 },
  flag: { type: 'boolean' },
  port: { 'x-kubernetes-int-or-string': true },
  quantity: {
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    pattern: '^[0-9]+m?$',
  },
  list: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string' } },
  set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
  map: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name', 'port'],
    items: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, port: { type: 'integer', default: 80 }, more: { type: 'string' } },
    },
  },
  byName: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
  },
  labels: {
    type: 'object',
    maxProperties: 2,
    minProperties: 1,
    additionalProperties: { type: 'string', nullable: true },
  },
  counts: { type: 'object', additionalProperties: { type: 'integer' } },
  nested: {
    type: 'object',
    required: ['a', 'b'],
    properties: { a: { type: 'string' }, b: { type: 'object', properties: { c: { type: 'string' } } } },
  },
  maybe: { type: 'string', nullable: true },
  filled: { type: 'string', default: 'x' },
  filledMaybe: { type: 'string', nullable: true, default: 'y' },
  deep: {
    type: 'object',
    default: {},
    properties: {
      a: { type: 'integer', default: 1 },
      b: { type: 'object', properties: { c: { type: 'integer', default: 2 } } },
    },
  },
  open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'object' } } },
  any: { 'x-kubernetes-preserve-unknown-fields': true },
  embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { a: { type: 'string' } } },
  either: {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'integer' } },
    anyOf: [{ required: ['a'] }, { required: ['b'], properties: { c: { minimum: 5 } } }],
  },
  one: {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    oneOf: [{ required: ['a'] }, { required: ['b'] }],
  },
  all: { type: 'integer', allOf: [{ minimum: 5 }, { maximum: 10 }, { multipleOf: 2 }] },
  not: { type: 'string', not: { enum: ['bad'] } },
};
for (const format of formats()) leaf[`f-${format}`] = { type: 'string', format };
leaf.formatted = { type: 'string', format: 'date' };

function formats() {
  return 'uri email hostname ipv4 ipv6 cidr mac uuid uuid4 isbn creditcard ssn hexcolor rgbcolor byte password date duration date-time k8s-short-name k8s-long-name bsonobjectid'.split(
    ' ',
  );
}

const schema: StructuralSchema = {
  type: 'object',
  required: ['spec'],
  properties: { spec: { type: 'object', properties: leaf }, status: { type: 'object', properties: leaf } },
};

beforeAll(async () => {
  await askReal('POST', crds, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
  // Served a moment after it is established, also by this server.
  const one = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' }, spec: {} };
  await poll('the custom resource is served', async () => (await askReal('POST', path, one)).code === 201);
});
afterAll(() => askReal('DELETE', `${crds}/things.${group}`));

const specs: Json[] = [
  { text: 'a' },
  { text: 'abcde' },
  { text: 'AB' },
  { text: 5 },
  { text: null },
  { text: {} },
  { text: [] },
  { text: true },
  { text: '' },
  { short: '日本語' },
  { long: '𝒳𝒳' },
  { choice: 'c' },
  { choice: 5 },
  { choice: null },
  { numbers: 2 },
  { numbers: 'x' },
  { mixed: 2 },
  { mixed: { b: 2 } },
  { mixed: {} },
  { mixed: null },
  { int: '1' },
  { int: 1.5 },
  { int: 1e30 },
  { int: true },
  { int: {} },
  { int32: 0 },
  { int32: 11 },
  { int32: 3_000_000_000 },
  { int32: 1.5 },
  { int32: 'x' },
  { int32: true },
  { int32: {} },
  { int32: [] },
  { int64: 1.5 },
  { int64: false },
  { int64: 1e19 },
  { number: 0.5 },
  { number: 10 },
  { number: 'x' },
  { number: 11.5 },
  { tiny: 0 },
  { float: 1e300 },
  { float: 'x' },
  { step: 3 },
  { step: 0 },
  { fraction: 0.3 },
  { fraction: 0.5 },
  { fraction: 1 },
  { number: 0 },
  { number: 10.5 },
  { odd: 1 },
  { odd: 2 },
  { odd: 1.5 },
  { flag: 'true' },
  { flag: 1 },
  { port: true },
  { port: 1.5 },
  { port: {} },
  { port: '80' },
  { quantity: 'x' },
  { quantity: true },
  { quantity: '5m' },
  { list: [] },
  { list: ['a', 'b', 'c'] },
  { list: [1, null] },
  { list: 'x' },
  { list: {} },
  { set: ['a', 'b', 'a', 'b', 'a'] },
  { set: ['a', 1, 1] },
  { map: [{ name: 'a' }, { name: 'a' }] },
  { map: [{ name: 'a', port: 1 }, { name: 'a' }] },
  { map: [{ name: 'a', port: 80 }, { name: 'a' }, {}] },
  { map: ['x'] },
  { map: [null, null] },
  { byName: [{ name: 'a' }, { name: 'a' }, { name: 'a' }] },
  { byName: [{}, {}] },
  { labels: {} },
  { labels: { a: 'x', b: null } },
  { labels: { a: '1', b: '2', c: '3' } },
  { labels: { a: 5 } },
  { labels: { 'a.b/c': 5 } },
  { counts: { a: null, b: 1 } },
  { counts: { a: 'x' } },
  { nested: {} },
  { nested: { a: 1 } },
  { nested: { a: 'x', b: {} } },
  { nested: { a: 'x', b: { c: 5 } } },
  { nested: { a: null, b: null } },
  { nested: { a: 'x', b: { d: 1 } } },
  { maybe: null },
  { maybe: 5 },
  { filled: null },
  { filledMaybe: null },
  { deep: null },
  { deep: { b: null } },
  { deep: { b: {} } },
  { deep: { a: null } },
  { open: { x: 1, a: { b: 1 } } },
  { open: null },
  { any: { x: [1, { y: 2 }] } },
  { any: null },
  { embedded: {} },
  { embedded: { apiVersion: 'v1', kind: 'Pod', a: 'x', b: 'y' } },
  { embedded: { apiVersion: 1, kind: 'x' } },
  { embedded: { apiVersion: 'v1', kind: 'P_d', metadata: { name: 'a/b', labels: { '': 'x' } } } },
  { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 1 } } } },
  { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { creationTimestamp: null, foo: 1, name: 'x' } } },
  { either: {} },
  { either: { c: 1 } },
  { either: { b: 'x', c: 1 } },
  { either: { a: 1 } },
  { either: { a: 'x' } },
  { one: {} },
  { one: { a: 'x', b: 'y' } },
  { one: { a: 'x' } },
  { one: { a: 1 } },
  { all: 3 },
  { all: 11 },
  { all: 7 },
  { all: 'x' },
  { all: 6 },
  { not: 'bad' },
  { not: 'good' },
  { formatted: [1] },
  { formatted: 5 },
  { formatted: {} },
  'x',
  null,
  [],
  5,
  { unknown: 1, nested: { a: 'x', b: { c: 'y', d: 1 } }, list: ['a'] },
  { text: 'a', int: 'x', nested: {}, list: [] },
];

const samples: Record<string, string[]> = {
  uri: [
    'http://a.b/c',
    'a',
    '/x',
    '',
    'http://[::1]:80',
    'mailto:a@b',
    'http://a b',
    '*',
    'ht tp://x',
    'http://x:y',
    '%zz',
    'http://x/%zz',
  ],
  email: ['a@b', 'a', 'A <a@b.c>', 'a@b c', '"a b"@c', '@b', 'a@', ''],
  hostname: ['a', 'a.b', 'a.com', '-a', 'a_b', '', 'a.c1', 'x'.repeat(64), '1.2.3.4'],
  ipv4: ['1.2.3.4', '01.2.3.4', '1.2.3', '::1', '::1.2.3.4', ''],
  ipv6: ['::1', '1.2.3.4', 'fe80::1%eth0', '::1.2.3.4', 'x:y'],
  cidr: ['10.0.0.0/8', '10.0.0.0', '10.0.0.0/33', '::/0', '::/129', '010.0.0.0/8'],
  mac: ['00:00:5e:00:53:01', '0000.5e00.5301', '00-00-5e-00-53-01', '00:00:5e:00:53', '00:00-5e:00:53:01', 'x'],
  uuid: ['123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000', 'x'],
  uuid4: ['123e4567-e89b-42d3-a456-426614174000', '123e4567-e89b-12d3-a456-426614174000'],
  isbn: ['0321751043', '978-0321751041', '0321751044', '978-0321751042', 'x'],
  creditcard: ['4111111111111111', '4111 1111 1111 1111', '4111111111111112'],
  ssn: ['123-45-6789', '123456789', '12-345-6789'],
  hexcolor: ['#fff', 'ffffff', '#ffff'],
  rgbcolor: ['rgb(1,2,3)', 'rgb(256,0,0)', 'rgb( 1 , 2 , 3 )'],
  byte: ['YQ==', 'YQ', '', 'a b='],
  password: ['', 'x'],
  date: ['2020-01-01', '2020-1-1', '2020-02-30', '2020-02-29'],
  duration: ['1h', '3 days', 'x', '1', '', '2 parsecs', '1.5h', '1.5 h'],
  'date-time': [
    '2020-01-01T00:00:00Z',
    '2020-01-01',
    '2020-01-01T24:00:00Z',
    '2020-01-01t00:00:00.5+01:00',
    '2020-01-01T00:00:00',
  ],
  'k8s-short-name': ['a', 'A', 'a.b', 'a-'],
  'k8s-long-name': ['a.b', 'A', 'a..b'],
  bsonobjectid: ['507f1f77bcf86cd799439011', 'x'],
};
for (const [format, texts] of Object.entries(samples)) for (const text of texts) specs.push({ [`f-${format}`]: text });

/** Members that the real server adds. */
function comparable({ metadata, ...rest }: JsonObject): Json {
  const { uid, creationTimestamp, generation, managedFields, namespace, ...meta } = metadata as JsonObject;
  return { ...rest, metadata: meta };
}

function ours(object: JsonObject): {
  code: number;
  message?: string;
  causes?: unknown;
  object?: Json;
  unknown?: readonly string[];
} {
  try {
    const read = readCustomResource(object, schema);
    const filled = withDefaults(read.object, schema);
    const placed = { ...filled, metadata: { ...(filled.metadata as JsonObject), namespace: 'default' } };
    const errors = [
      ...checkNewMeta(placed.metadata, { namespaced: true }),
      ...atOnce(checkContent(placed, undefined, { schema })),
    ];
    if (errors.length === 0) return { code: 201, object: comparable(filled), unknown: read.unknown };
    return { code: 422, causes: sorted(errors.map(causeOf)) };
  } catch (error) {
    if (!(error instanceof IllTypedError)) throw error;
    return { code: 400, message: `Thing in version "v1" cannot be handled as a Thing: ${error.message}` };
  }
}

/** The real server goes through properties in random order. */
function sorted(causes: readonly unknown[]) {
  return causes.map((cause) => JSON.stringify(cause, ['reason', 'message', 'field'])).sort();
}

test('finalizers without a domain are warned about', async () => {
  const metadata = { name: 'a', finalizers: ['a', 'example.com', 'example.com/a', 'orphan'] };
  const real = await askReal('POST', path, { apiVersion: `${group}/v1`, kind: 'Thing', metadata, spec: {} });
  expect(real.warnings).toHaveLength(2);
  expect(finalizerWarnings(metadata, undefined)).toEqual(real.warnings);
});

describe('custom resources', () => {
  test.each(specs.map((spec) => [JSON.stringify(spec), spec] as const))('spec %s', async (_name, spec) => {
    const object = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' }, spec };
    const real = await askReal('POST', path, object);
    const mine = ours(object);
    const expected =
      real.code === 201
        ? { code: 201, object: comparable(real.body), unknown: real.warnings.map((w) => /"(.*)"/.exec(w)?.[1]) }
        : real.code === 422
          ? { code: 422, causes: sorted(real.body.details.causes) }
          : { code: real.code, message: real.body.message };
    expect(mine).toEqual(expected);
  });
});
