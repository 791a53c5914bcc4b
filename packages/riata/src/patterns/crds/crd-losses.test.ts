import { expect, test } from 'vitest';
import { type CrdShape, crdLosses } from './crd-losses.js';

const string = { type: 'string' } as const;

function crd(spec: object, versions: readonly string[] = ['v1'], rest: object = {}): CrdShape {
  const schema = { openAPIV3Schema: { type: 'object', properties: { metadata: { type: 'object' }, spec } } };
  return {
    spec: {
      scope: 'Namespaced',
      names: { kind: 'Foo' },
      versions: versions.map((name) => ({ name, schema })),
      ...rest,
    },
    status: { storedVersions: versions },
  };
}

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const what = (from: CrdShape, to: CrdShape) => crdLosses(from, to).map((loss) => `${loss.of}: ${loss.what}`);

test('a changed scope or kind, and a version that objects are stored in', () => {
  const one = crd(object({}));
  expect(what(one, crd(object({}), ['v1'], { scope: 'Cluster' }))).toEqual([
    'all: scope would change from Namespaced to Cluster',
  ]);
  expect(what(one, crd(object({}), ['v1'], { names: { kind: 'Bar' } }))).toEqual([
    'all: the kind would be renamed from Foo to Bar',
  ]);
  expect(what(one, crd(object({}), ['v2']))).toEqual([
    'all: version v1 would be removed while objects are stored in it',
  ]);
  expect(what({ ...one, status: { storedVersions: ['v2'] } }, crd(object({}), ['v2']))).toEqual([]);
});

test('fields that go, and types that change, by their paths', () => {
  const from = object({
    a: string,
    b: object({ c: string, d: { type: 'integer' } }),
    list: { type: 'array', items: object({ x: string }) },
  });
  const to = object({
    b: object({ c: { type: 'integer' }, d: { type: 'number' } }),
    list: { type: 'array', items: object({}) },
  });
  expect(what(crd(from), crd(to))).toEqual([
    'fields: v1: spec.a would be removed',
    'fields: v1: spec.b.c would be integer instead of string',
    'fields: v1: spec.list[].x would be removed',
  ]);
});

test('what takes more than before loses nothing', () => {
  const keeping = { 'x-kubernetes-preserve-unknown-fields': true };
  expect(what(crd(object({ a: string })), crd(object({ a: string, b: string })))).toEqual([]);
  expect(what(crd(object({ a: string })), crd(object({}, keeping)))).toEqual([]);
  expect(what(crd(object({ a: string })), crd({ type: 'object', additionalProperties: string }))).toEqual([]);
  expect(what(crd(object({ a: string })), crd(object({ a: { 'x-kubernetes-int-or-string': true } })))).toEqual([]);
  expect(what(crd(object({}, keeping)), crd(object({})))).toEqual([
    'fields: v1: spec would no longer preserve unknown fields',
  ]);
  expect(what(crd({ type: 'object', additionalProperties: string }), crd(object({})))).toEqual([
    'fields: v1: spec would no longer accept arbitrary keys',
  ]);
});
