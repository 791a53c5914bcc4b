import type { Json, JsonObject, StructuralSchema } from 'riata/object';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkMetaUpdate } from '../src/schema/object-meta.js';
import { readCustomResource } from '../src/schema/structural/read-custom-resource.js';
import { checkContent, checkStatusContent } from '../src/schema/structural/validate-custom-resource.js';
import { withDefaults } from '../src/schema/structural/with-defaults.js';
import { causeOf } from '../src/status/field-error.js';
import { atOnce } from '../src/steps.js';
import { askReal } from './ask.js';
import { poll } from './controlled-server.js';

const group = 'updates.example.com';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const path = `/apis/${group}/v1/namespaces/default/things`;

/** Before: anything goes. */
const loose: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true };
const lists = (item: StructuralSchema): Record<string, StructuralSchema> => ({
  plain: { type: 'array', items: item },
  byKey: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', required: ['k'], properties: { k: { type: 'string' }, v: item } },
  },
});
/** After: what is stored would be refused if it were new. */
const part: StructuralSchema = {
  type: 'object',
  required: ['must'],
  properties: {
    must: { type: 'string' },
    text: { type: 'string', maxLength: 2 },
    number: { type: 'integer', minimum: 5 },
    either: {
      type: 'object',
      properties: { a: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    map: { type: 'object', additionalProperties: { type: 'integer' } },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    replicas: { type: 'integer' },
    ...lists({ type: 'integer', maximum: 3 }),
  },
};
const strict: StructuralSchema = { type: 'object', properties: { spec: part, status: part } };
const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };

const stored = {
  text: 'long text',
  number: 1,
  either: {},
  map: { a: 'x', b: 1 },
  set: ['a', 'a'],
  plain: [9],
  byKey: [
    { k: 'a', v: 9 },
    { k: 'b', v: 1 },
  ],
};

const crd = (part: StructuralSchema, resourceVersion?: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group}`, resourceVersion },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: part, status: part } } },
      },
    ],
  },
});

const object = (more: object): JsonObject => ({ apiVersion: `${group}/v1`, kind: 'Thing', ...more }) as JsonObject;
let before: JsonObject = {};

beforeAll(async () => {
  const made = await askReal('POST', crds, crd(loose));
  const first = object({ metadata: { name: 'a' }, spec: stored });
  await poll('it is served', async () => (await askReal('POST', path, first)).code === 201);
  const { body } = await askReal('GET', `${path}/a`);
  before = (await askReal('PUT', `${path}/a/status`, { ...body, status: stored })).body;
  const at = `${crds}/${made.body.metadata.name}`;
  // The server may write its status at any time.
  await poll('the new schema is taken', async () => {
    const { resourceVersion } = (await askReal('GET', at)).body.metadata;
    return (await askReal('PUT', at, crd(part, resourceVersion))).code === 200;
  });
  const bad = object({ metadata: { name: 'b' }, spec: stored });
  await poll('it is in force', async () => (await askReal('POST', `${path}?dryRun=All`, bad)).code === 422);
});
afterAll(() => askReal('DELETE', `${crds}/things.${group}`));

const changes: Json[] = [
  {},
  { text: 'other text' },
  { text: 'ok', must: 'x' },
  { number: 2 },
  { number: 6 },
  { must: 'x' },
  { must: 5 },
  { either: { a: 'x' } },
  { either: { b: 'x' } },
  { map: { a: 'x', b: 1, c: 2 } },
  { map: { a: 'x', c: 'y' } },
  { map: { a: 'y' } },
  { set: ['a', 'a', 'b'] },
  { plain: [9, 1] },
  { plain: [9, 9] },
  {
    byKey: [
      { k: 'b', v: 1 },
      { k: 'a', v: 9 },
    ],
  },
  {
    byKey: [
      { k: 'a', v: 9 },
      { k: 'c', v: 9 },
    ],
  },
  { byKey: [{ k: 'a', v: 8 }] },
  { replicas: -1 },
  { replicas: 'x' },
  { replicas: 3_000_000_000 },
];

function sorted(causes: readonly unknown[]) {
  return causes.map((cause) => JSON.stringify(cause, ['reason', 'message', 'field'])).sort();
}

describe.each(['spec', 'status'] as const)('an update of the %s', (field) => {
  test.each(changes.map((change) => [JSON.stringify(change), change] as const))('%s', async (_name, change) => {
    const next = { ...before, [field]: { ...stored, ...(change as JsonObject) } };
    const real = await askReal('PUT', `${path}/a${field === 'status' ? '/status' : ''}?dryRun=All`, next);
    const read = (one: JsonObject) => withDefaults(readCustomResource(one, strict).object, strict);
    const check = field === 'status' ? checkStatusContent : checkContent;
    const [object, old] = [read(next), read(before)];
    const errors = [
      ...checkMetaUpdate(object.metadata as JsonObject, old.metadata as JsonObject),
      ...atOnce(check(object, old, { schema: strict, scale })),
    ];
    const expected = real.code === 200 ? [] : sorted(real.body.details?.causes ?? [real.body]);
    expect(sorted(errors.map(causeOf))).toEqual(expected);
  });
});
