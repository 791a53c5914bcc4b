import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineKind, type KindDefinition } from './define-kind.js';
import { builderOf } from './kind.js';
import { isSchemaError, type SchemaProblem } from './schema/schema-error.js';
import { conditionSchema } from './schema/status-schema.js';
import { isFrozenDeep } from './value/freeze.js';

const spec = z.object({ image: z.string(), replicas: z.int().min(0).max(10).default(1) });

function problemsOf(definition: Partial<KindDefinition>): readonly SchemaProblem[] {
  try {
    defineKind({ group: 'x.dev', version: 'v1', kind: 'Foo', spec, ...definition });
  } catch (error) {
    if (isSchemaError(error)) return error.problems;
    throw error;
  }
  return [];
}

describe('the Kind', () => {
  const Foo = defineKind({ group: 'x.dev', version: 'v1', kind: 'Foo', spec, status: z.object({ ready: z.int() }) });
  test('names the kind and builds objects', () => {
    expect({ ...Foo }).toMatchObject({
      apiVersion: 'x.dev/v1',
      plural: 'foos',
      singular: 'foo',
      scope: 'Namespaced',
      subresources: ['status'],
      shortNames: [],
    });
    const foo = Foo({ metadata: { name: 'a', namespace: 'b' }, spec: { image: 'c' } });
    expect(foo).toEqual({
      apiVersion: 'x.dev/v1',
      kind: 'Foo',
      metadata: { name: 'a', namespace: 'b' },
      spec: { image: 'c' },
    });
    expect(builderOf(foo)).toBe(Foo);
  });
  test('gives the same frozen CustomResourceDefinition each time', () => {
    expect(Foo.crd()).toBe(Foo.crd());
    expect(isFrozenDeep(Foo.crd())).toBe(true);
    expect(Foo.schema).toBe(Foo.crd().spec.versions[0]?.schema.openAPIV3Schema);
    expect(JSON.parse(JSON.stringify(Foo.crd()))).toEqual(Foo.crd());
  });
  test("leaves the caller's objects alone", () => {
    const schema = { type: 'object', properties: { a: { type: 'array', items: { type: 'string' }, default: ['x'] } } };
    defineKind({ group: 'x.dev', version: 'v1', kind: 'Foo', spec: schema });
    expect(Object.isFrozen(schema.properties.a.default)).toBe(false);
  });
});

test('a small CustomResourceDefinition', () => {
  const Zone = defineKind({ group: 'x.dev', version: 'v1', kind: 'Policy', scope: 'Cluster', spec });
  expect(Zone.crd()).toMatchInlineSnapshot(`
    {
      "apiVersion": "apiextensions.k8s.io/v1",
      "kind": "CustomResourceDefinition",
      "metadata": {
        "name": "policies.x.dev",
      },
      "spec": {
        "conversion": {
          "strategy": "None",
        },
        "group": "x.dev",
        "names": {
          "kind": "Policy",
          "listKind": "PolicyList",
          "plural": "policies",
          "singular": "policy",
        },
        "scope": "Cluster",
        "versions": [
          {
            "name": "v1",
            "schema": {
              "openAPIV3Schema": {
                "properties": {
                  "apiVersion": {
                    "type": "string",
                  },
                  "kind": {
                    "type": "string",
                  },
                  "metadata": {
                    "type": "object",
                  },
                  "spec": {
                    "properties": {
                      "image": {
                        "type": "string",
                      },
                      "replicas": {
                        "default": 1,
                        "maximum": 10,
                        "minimum": 0,
                        "type": "integer",
                      },
                    },
                    "required": [
                      "image",
                    ],
                    "type": "object",
                  },
                },
                "required": [
                  "spec",
                ],
                "type": "object",
              },
            },
            "served": true,
            "storage": true,
          },
        ],
      },
    }
  `);
});

test('one with everything', () => {
  const Foo = defineKind({
    group: 'x.dev',
    version: 'v1',
    kind: 'Foo',
    plural: 'fooz',
    singular: 'foo',
    shortNames: ['fo'],
    categories: ['all'],
    labels: { app: 'x' },
    annotations: { note: 'y' },
    spec,
    status: {
      type: 'object',
      properties: { ready: { type: 'integer' }, selector: { type: 'string' } },
      required: ['ready'],
    },
    extend: { '.': { 'x-kubernetes-validations': [{ rule: 'self.metadata.name.size() < 20' }] } },
    printerColumns: [{ name: 'Ready', type: 'integer', jsonPath: '.status.ready' }],
    selectableFields: ['.spec.image'],
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.ready',
      labelSelectorPath: '.status.selector',
    },
    versions: [
      {
        name: 'v1beta1',
        deprecated: true,
        deprecationWarning: 'use v1',
        spec: { type: 'object', properties: { image: { type: 'string' } } },
      },
      { name: 'v1alpha1', served: false, spec: { type: 'object', properties: {} } },
    ],
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { service: { namespace: 'a', name: 'b', path: '/convert' } },
      },
    },
  });
  expect(Foo.subresources).toEqual(['status', 'scale']);
  const { metadata, spec: crd } = Foo.crd();
  expect(metadata).toEqual({ name: 'fooz.x.dev', labels: { app: 'x' }, annotations: { note: 'y' } });
  expect(crd.names).toEqual({
    kind: 'Foo',
    listKind: 'FooList',
    plural: 'fooz',
    singular: 'foo',
    shortNames: ['fo'],
    categories: ['all'],
  });
  expect(crd.conversion).toMatchObject({ strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'] } });
  expect(crd.versions.map(({ schema, ...facts }) => facts)).toEqual([
    {
      name: 'v1',
      served: true,
      storage: true,
      subresources: {
        status: {},
        scale: {
          specReplicasPath: '.spec.replicas',
          statusReplicasPath: '.status.ready',
          labelSelectorPath: '.status.selector',
        },
      },
      additionalPrinterColumns: [{ name: 'Ready', type: 'integer', jsonPath: '.status.ready' }],
      selectableFields: [{ jsonPath: '.spec.image' }],
    },
    { name: 'v1beta1', served: true, storage: false, deprecated: true, deprecationWarning: 'use v1' },
    { name: 'v1alpha1', served: false, storage: false },
  ]);
  expect(Foo.schema['x-kubernetes-validations']).toEqual([{ rule: 'self.metadata.name.size() < 20' }]);
  expect(crd.versions[1]?.schema.openAPIV3Schema.properties?.spec).toEqual({
    type: 'object',
    properties: { image: { type: 'string' } },
  });
});

describe('a status', () => {
  const Foo = defineKind({ group: 'x.dev', version: 'v1', kind: 'Foo', spec, status: z.object({ ready: z.int() }) });
  test('has no required fields of its own, conditions as a list map, and the observed generation', () => {
    expect(Foo.schema.properties?.status).toEqual({
      type: 'object',
      properties: {
        ready: { type: 'integer' },
        observedGeneration: { type: 'integer', format: 'int64' },
        conditions: {
          type: 'array',
          items: conditionSchema,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['type'],
        },
      },
    });
    expect(Foo.schema.required).toEqual(['spec']);
  });
  test('must not bring them itself', () => {
    const problems = problemsOf({ status: z.object({ conditions: z.array(z.string()), observedGeneration: z.int() }) });
    expect(problems.map(({ path }) => path)).toEqual(['status.observedGeneration', 'status.conditions']);
  });
});

describe('names', () => {
  test.each([
    ['Foo', 'foos'],
    ['Policy', 'policies'],
    ['Ingress', 'ingresses'],
    ['Gateway', 'gateways'],
    ['Box', 'boxes'],
    ['Patch', 'patches'],
  ])('%s is many %s', (kind, plural) => {
    expect(defineKind({ group: 'x.dev', version: 'v1', kind, spec }).plural).toBe(plural);
  });
  test.each<[path: string, message: RegExp, definition: Partial<KindDefinition>]>([
    ['group', /dot.*got "nodots"/, { group: 'nodots' }],
    ['group', /lower case.*got "X\.dev"/, { group: 'X.dev' }],
    ['group', /reserved for Kubernetes.*api-approved\.kubernetes\.io/, { group: 'foo.k8s.io' }],
    ['version', /such as v1.*got "1"/, { version: '1' }],
    ['kind', /CamelCase.*got "foo"/, { kind: 'foo' }],
    ['plural', /lower case.*got "Foos"/, { plural: 'Foos' }],
    ['singular', /lower case/, { singular: 'a b' }],
    ['shortNames[1]', /got "B"/, { shortNames: ['a', 'B'] }],
    ['categories[0]', /got "A"/, { categories: ['A'] }],
    ['scope', /got "Galaxy"/, { scope: 'Galaxy' as 'Cluster' }],
    ['versions[0].name', /such as v1/, { versions: [{ name: 'beta', spec }] }],
    ['versions[0].name', /duplicate/, { versions: [{ name: 'v1', spec }] }],
    [
      'versions',
      /v2 and v3 both/,
      {
        versions: [
          { name: 'v2', storage: true, spec },
          { name: 'v3', storage: true, spec },
        ],
      },
    ],
    [
      'versions.v2.spec.x',
      /refine/,
      { versions: [{ name: 'v2', spec: z.object({ x: z.string().refine(() => true) }) }] },
    ],
    ['extend', /no field "spec\.imag"/, { extend: { 'spec.imag': { minLength: 1 } } }],
    ['printerColumns[0]', /jsonPath/, { printerColumns: [{ name: 'A', type: 'string', jsonPath: 'spec.a' }] }],
    ['selectableFields[0]', /not a field of type/, { selectableFields: ['.spec.nothing'] }],
    ['selectableFields[0]', /metadata/, { selectableFields: ['.metadata.name'] }],
    [
      'scale.specReplicasPath',
      /below \.spec\./,
      { scale: { specReplicasPath: '.status.a', statusReplicasPath: '.status.b' } },
    ],
    ['scale', /status schema/, { scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.b' } }],
    ['deprecationWarning', /deprecated: true/, { deprecationWarning: 'old' }],
  ])('%s: %s', (path, message, definition) => {
    const found = problemsOf(definition).filter((problem) => problem.path === path);
    expect(found.map((problem) => problem.message).join('; ')).toMatch(message);
  });
  test('a group of Kubernetes with its approval is taken', () => {
    const annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' };
    expect(problemsOf({ group: 'foo.k8s.io', annotations })).toEqual([]);
  });
});

describe('versions', () => {
  test('objects are stored in the version that says so, else in the own', () => {
    const stored = (storage: boolean): unknown =>
      defineKind({ group: 'x.dev', version: 'v1', kind: 'Foo', spec, versions: [{ name: 'v2', storage, spec }] })
        .crd()
        .spec.versions.map((version) => [version.name, version.storage]);
    expect(stored(false)).toEqual([
      ['v1', true],
      ['v2', false],
    ]);
    expect(stored(true)).toEqual([
      ['v1', false],
      ['v2', true],
    ]);
  });
});

test('a type of another kind within the spec is kept as it is', () => {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
  const template = z.custom<{ readonly replicas: number }>();
  const base = { group: 'x.dev', version: 'v1', kind: 'Foo' } as const;
  const Noted = defineKind({ ...base, spec: z.object({ template: template.meta(open) }) });
  const Extended = defineKind({ ...base, spec: z.object({ template }), extend: { 'spec.template': open } });
  for (const Foo of [Noted, Extended]) {
    expect(Foo.schema.properties?.spec?.properties?.template).toEqual(open);
    const foo = Foo({ metadata: { name: 'a' }, spec: { template: { replicas: 3 } } });
    expect(foo.spec.template.replicas).toBe(3);
  }
});

test('all problems are reported at once, by path', () => {
  const define = (): unknown =>
    defineKind({ group: 'x', version: 'v1', kind: 'Foo', spec: z.object({ a: z.date(), b: z.tuple([z.string()]) }) });
  expect(define).toThrow(/^defineKind: Foo of x\/v1 is invalid:\n- group: .*\n- spec\.a: .*\n- spec\.b: /);
});
