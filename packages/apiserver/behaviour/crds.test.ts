import type { JsonObject } from 'riata/object';
import { expect, test } from 'vitest';
import { defaultDefinition, prepareDefinition } from '../src/resource/custom/crd-status.js';
import { builtInSchema } from '../src/schema/built-in/built-in-schema.js';
import { decodeTyped } from '../src/schema/built-in/decode-typed.js';
import type { SchemaNode } from '../src/schema/built-in/schema-node.js';
import type { CrdObject } from '../src/schema/crd/crd-object.js';
import { crdWarnings, validateCrd } from '../src/schema/crd/validate-crd.js';
import { causeOf } from '../src/status/field-error.js';
import { atOnce } from '../src/steps.js';
import { askReal } from './ask.js';

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All';
const node = builtInSchema({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
}) as SchemaNode;

const object = { type: 'object' };
const plain = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: object } };
const crd = (spec: object, metadata: object = {}): JsonObject =>
  JSON.parse(
    JSON.stringify({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'as.example.com', ...metadata },
      spec: {
        group: 'example.com',
        names: { plural: 'as', kind: 'A' },
        scope: 'Namespaced',
        versions: [plain],
        ...spec,
      },
    }),
  );
const version = (fields: object, spec: object = {}) => crd({ versions: [{ ...plain, ...fields }], ...spec });
const schema = (openAPIV3Schema: object, fields: object = {}) => version({ schema: { openAPIV3Schema }, ...fields });
const spec = (of: object) => schema({ type: 'object', properties: { spec: of } });
const field = (of: object) => spec({ type: 'object', properties: { a: of } });
const second = { ...plain, name: 'v2', storage: false };
const text = { type: 'string' };

const cases: JsonObject[] = [
  crd({}),
  { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'x' } },
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {},
    spec: {},
  } as unknown as JsonObject,
  crd({}, { name: 'bs.example.com' }),
  crd({}, { name: 'AS.example.com', labels: { 'a b': 'c' } }),
  crd({ group: '' }),
  crd({ group: 'example' }, { name: 'as.example' }),
  crd({ group: 'Example.com' }, { name: 'as.Example.com' }),
  crd({ group: 'a.k8s.io' }, { name: 'as.a.k8s.io' }),
  crd({ group: 'a.k8s.io' }, { name: 'as.a.k8s.io', annotations: { 'api-approved.kubernetes.io': 'x' } }),
  crd({ group: 'a.k8s.io' }, { name: 'as.a.k8s.io', annotations: { 'api-approved.kubernetes.io': 'unapproved, x' } }),
  crd(
    { group: 'kubernetes.io' },
    { name: 'as.kubernetes.io', annotations: { 'api-approved.kubernetes.io': 'https://a/b' } },
  ),
  crd({ scope: '' }),
  crd({ scope: 'namespaced' }),
  crd({ names: {} }),
  crd({
    names: { plural: 'As', kind: 'A_b', singular: '1', listKind: 'x y', shortNames: ['', 'Ab'], categories: ['a.b'] },
  }),
  crd({ names: { plural: 'as', kind: 'A', listKind: 'A' } }),
  crd({ versions: [] }),
  crd({ versions: [plain, { ...plain, name: 'v2' }] }),
  crd({ versions: [plain, { ...second, name: 'v1' }] }),
  crd({ versions: [plain, { ...second, name: 'V2' }] }),
  crd({ versions: [{ ...plain, storage: false }] }),
  crd({ versions: [plain, { ...second, schema: { openAPIV3Schema: { type: 'array' } } }] }),
  crd({ versions: [plain, { ...second, subresources: { scale: {} } }] }),
  crd({ versions: [plain, { ...second, schema: undefined }] }),
  crd({ versions: [plain, { ...second, additionalPrinterColumns: [{}] }] }),
  crd({ versions: [plain, { ...second, selectableFields: [{ jsonPath: '.spec.x' }] }] }),
  crd({ preserveUnknownFields: true }),
  version({ schema: undefined }),
  version({ schema: {} }),
  version({ deprecationWarning: 'x' }),
  version({ deprecated: true, deprecationWarning: '' }),
  version({ deprecated: true, deprecationWarning: 'a\nb' }),
  version({ deprecated: true, deprecationWarning: 'x'.repeat(257) }),
  version({ subresources: { scale: {} } }),
  version({ subresources: { scale: { specReplicasPath: 'x', statusReplicasPath: '.x', labelSelectorPath: '.x' } } }),
  version({
    subresources: {
      scale: { specReplicasPath: '.spec.x', statusReplicasPath: '.status.x', labelSelectorPath: '.status.y' },
    },
  }),
  version({
    additionalPrinterColumns: [
      {},
      { name: 'a', type: 'x', format: 'y', jsonPath: 'z' },
      { name: 'a', type: 'date', jsonPath: '.a' },
    ],
  }),
  version({ selectableFields: [{ jsonPath: '.spec.a' }] }),
  version({
    selectableFields: ['.spec.a', 'x', '', '.metadata.name', '.spec', '.spec.b', '.spec.b', ".spec['b']", '.spec.'].map(
      (jsonPath) => ({ jsonPath }),
    ),
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { b: text } } } } },
  }),
  crd({ conversion: { strategy: '' } }),
  crd({ conversion: { strategy: 'Magic' } }),
  crd({
    conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://a' } } },
  }),
  crd({ conversion: { strategy: 'Webhook' } }),
  crd({ conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: [], clientConfig: {} } } }),
  crd({
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v3', 'v3', 'V'], clientConfig: { url: 'http://u@a/?b#c' } },
    },
  }),
  crd({
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { service: { name: '', namespace: 'b', path: 'x//y_z', port: 99999 } },
      },
    },
  }),
  crd({
    conversion: {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { service: { name: 'a', namespace: 'b' } } },
    },
  }),
  // Schemas
  schema({}),
  schema({ type: 'string' }),
  schema({ type: 'foo' }),
  schema({ type: 'null' }),
  schema({ type: 'object', nullable: true }),
  schema({ type: 'object', additionalProperties: text }),
  schema({ type: 'object', minProperties: 1, anyOf: [{ required: ['a'] }] }, { subresources: { status: {} } }),
  schema({ type: 'array', items: text }, { subresources: { status: {} } }),
  schema(
    { type: 'object', properties: { a: { type: 'array', items: text } }, allOf: [{ required: ['a'] }] },
    { subresources: { status: {} } },
  ),
  schema({
    type: 'object',
    properties: { metadata: { type: 'object', properties: { name: { type: 'string', pattern: 'a' } } } },
  }),
  schema({ type: 'object', properties: { metadata: { type: 'object', properties: { labels: object } } } }),
  schema({ type: 'object', properties: { metadata: { type: 'object', description: 'x' } } }),
  schema({ type: 'object', properties: { metadata: { type: 'string' }, kind: { type: 'integer' }, apiVersion: {} } }),
  schema({ type: 'object', properties: { kind: { type: 'string', default: 'x' } } }),
  spec({}),
  spec({ type: 'array' }),
  spec({ type: 'array', items: {} }),
  spec({ type: 'array', items: [text] }),
  spec({ type: 'object', properties: { a: {} } }),
  spec({ type: 'object', properties: { a: text }, additionalProperties: text }),
  spec({ type: 'object', properties: { a: text }, additionalProperties: true }),
  spec({ type: 'object', properties: { a: text }, additionalProperties: false }),
  spec({ type: 'object', additionalProperties: {} }),
  spec({ type: 'object', additionalProperties: { type: 'object', properties: { a: {} } } }),
  spec({ type: 'string', uniqueItems: true }),
  spec({ type: 'string', pattern: '(?<=a)[' }),
  spec({ type: 'string', pattern: '[a' }),
  spec({ type: 'string', pattern: '(a' }),
  spec({ type: 'string', pattern: 'a)' }),
  spec({ type: 'string', pattern: '*a' }),
  spec({ type: 'string', pattern: '(?=a)' }),
  spec({ type: 'string', pattern: '(a)\\1' }),
  spec({ type: 'string', pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$' }),
  spec({ type: 'string', format: 'foo' }),
  spec({ type: 'integer', format: 'int128' }),
  spec({ type: 'string', id: 'x' }),
  spec({ type: 'string', $schema: 'x' }),
  spec({ type: 'string', $ref: '#/x' }),
  spec({ type: 'object', patternProperties: { a: text } }),
  spec({ type: 'object', definitions: { a: text } }),
  spec({ type: 'object', dependencies: { a: ['b'] } }),
  spec({ type: 'array', items: text, additionalItems: true }),
  spec({ 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true }),
  spec({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }),
  spec({ 'x-kubernetes-int-or-string': true, allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }] }),
  spec({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'string' }, { type: 'integer' }] }),
  spec({ type: 'object', 'x-kubernetes-preserve-unknown-fields': false }),
  spec({ type: 'object', 'x-kubernetes-embedded-resource': true }),
  spec({ type: 'string', 'x-kubernetes-embedded-resource': true }),
  spec({ 'x-kubernetes-embedded-resource': true }),
  spec({ type: 'object', 'x-kubernetes-embedded-resource': true, additionalProperties: text }),
  spec({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: { metadata: { type: 'object', properties: { labels: object } }, kind: { type: 'integer' } },
  }),
  spec({ type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }),
  spec({ type: 'string', 'x-kubernetes-map-type': 'atomic' }),
  spec({ type: 'object', 'x-kubernetes-map-type': 'foo' }),
  spec({ type: 'string', 'x-kubernetes-list-type': 'atomic' }),
  spec({ 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-list-type': 'atomic' }),
  spec({ type: 'array', 'x-kubernetes-list-type': 'foo', items: text }),
  spec({ type: 'array', 'x-kubernetes-list-type': 'set', items: object }),
  spec({
    type: 'array',
    'x-kubernetes-list-type': 'set',
    items: { type: 'object', 'x-kubernetes-map-type': 'atomic' },
  }),
  spec({
    type: 'array',
    'x-kubernetes-list-type': 'set',
    items: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
  }),
  spec({ type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string', nullable: true } }),
  spec({ type: 'array', 'x-kubernetes-list-map-keys': ['a'], items: object }),
  spec({ type: 'array', 'x-kubernetes-list-type': 'set', 'x-kubernetes-list-map-keys': ['a'], items: text }),
  spec({ type: 'array', 'x-kubernetes-list-type': 'map', items: object }),
  spec({ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] }),
  spec({ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'], items: text }),
  spec({
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['a', 'b', 'b', 'c'],
    items: {
      type: 'object',
      nullable: true,
      properties: { a: object, b: { type: 'string', nullable: true, default: 'x' } },
    },
  }),
  spec({
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['a'],
    items: { type: 'object', required: ['a'], properties: { a: text } },
  }),
  spec({
    type: 'object',
    properties: { a: text },
    anyOf: [{ properties: { a: { type: 'string' }, b: { minLength: 1 } } }],
  }),
  spec({
    type: 'object',
    properties: { a: text },
    oneOf: [{ required: ['b'], description: 'x', nullable: true, title: 'y', default: 1 }],
    not: { additionalProperties: text },
  }),
  spec({
    type: 'object',
    properties: { a: text, metadata: object },
    allOf: [
      {
        properties: { metadata: { minProperties: 1 } },
        'x-kubernetes-list-type': 'set',
        'x-kubernetes-map-type': 'atomic',
        'x-kubernetes-list-map-keys': ['a'],
        'x-kubernetes-int-or-string': true,
        'x-kubernetes-preserve-unknown-fields': true,
        'x-kubernetes-embedded-resource': true,
      },
    ],
  }),
  spec({ type: 'array', items: text, allOf: [{ items: { minLength: 1 } }] }),
  spec({ type: 'string', anyOf: [{ items: { minLength: 1 } }, { not: { pattern: '[' } }] }),
  // Defaults
  field({ type: 'string', default: 5 }),
  field({ type: 'string', default: 'x', maxLength: 0 }),
  field({ type: 'string', enum: ['a'], default: 'b' }),
  field({ type: 'object', properties: { b: text }, default: { b: 'x', c: 1 } }),
  field({ type: 'object', properties: { b: text }, required: ['b'], default: {} }),
  field({ type: 'object', properties: { b: text }, default: { b: 5 } }),
  field({ type: 'array', items: { type: 'integer', default: 'x' }, default: ['a', 1] }),
  field({ type: 'string', nullable: true, default: null }),
  field({ type: 'string', default: null }),
  field({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: { x: text },
    default: { apiVersion: 'v1', kind: 'A', x: 'y' },
  }),
  field({ type: 'object', 'x-kubernetes-embedded-resource': true, properties: { x: text }, default: { x: 'y', z: 1 } }),
  field({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: { x: text },
    default: { apiVersion: 'v1', kind: 'A', metadata: { labels: 5 } },
  }),
  schema({ type: 'object', properties: { spec: { type: 'string', default: 'x' } } }),
  // Rules
  spec({ type: 'string', 'x-kubernetes-validations': [{ rule: ' ' }] }),
  spec({ type: 'string', 'x-kubernetes-validations': [{ rule: 'true', message: ' ' }] }),
  spec({ type: 'string', 'x-kubernetes-validations': [{ rule: 'true', message: 'a\nb' }] }),
  spec({ type: 'string', 'x-kubernetes-validations': [{ rule: 'true\n&& true' }] }),
  spec({ type: 'string', 'x-kubernetes-validations': [{ rule: 'true', messageExpression: ' ', reason: 'foo' }] }),
  spec({
    type: 'object',
    properties: { a: text },
    'x-kubernetes-validations': [
      { rule: 'true', fieldPath: '.b' },
      { rule: 'true', fieldPath: '.a' },
    ],
  }),
];

function sorted(causes: readonly unknown[]) {
  return causes.map((cause) => JSON.stringify(cause, ['reason', 'message', 'field'])).sort();
}

test.each(cases.map((body) => [JSON.stringify(body.spec ?? body.metadata).slice(0, 400), body] as const))(
  '%s',
  async (_name, body) => {
    const real = await askReal('POST', path, body);
    const read = prepareDefinition(defaultDefinition(decodeTyped(body, node))) as unknown as CrdObject;
    const errors = atOnce(validateCrd(read));
    const mine =
      errors.length === 0
        ? { code: 201, warnings: crdWarnings(read) }
        : { code: 422, causes: sorted(errors.map(causeOf)) };
    const expected =
      real.code === 201
        ? { code: 201, warnings: real.warnings }
        : { code: real.code, causes: sorted(real.body.details?.causes ?? [real.body]) };
    expect(mine).toEqual(expected);
  },
);
