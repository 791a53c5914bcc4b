import { expect, test } from 'vitest';
import { defineKind } from '../../object/index.js';
import { crdsFromYaml, crdsToYaml } from './read-crds.js';
import { kindFromCrd, typesFromCrds } from './types-from-crds.js';

const Foo = defineKind({
  ...{ group: 'example.com', version: 'v1', kind: 'Foo', shortNames: ['fo'] },
  spec: {
    type: 'object',
    required: ['image', 'mode'],
    properties: {
      image: { type: 'string', description: 'What runs. */ Really.' },
      replicas: { type: 'integer', default: 1 },
      mode: { type: 'string', enum: ['fast', "it's"] },
      port: { 'x-kubernetes-int-or-string': true },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      ports: {
        ...{ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
        items: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string' }, 'a-b': { type: 'number' } },
        },
      },
      choices: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
      any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      gone: { type: 'string', nullable: true },
    },
  },
});

test('a definition becomes types and a Kind', () => {
  expect(typesFromCrds([Foo.crd()])).toMatchInlineSnapshot(`
    "// Generated from CustomResourceDefinitions. Do not edit; generate it again instead.
    import { type Kind, type ListMap, type NamespacedMeta, type WriteMeta, makeKind } from 'riata/object';

    export interface Foo {
      readonly apiVersion: 'example.com/v1';
      readonly kind: 'Foo';
      readonly metadata: NamespacedMeta;
      readonly spec: {
        readonly any?: { readonly [key: string]: unknown };
        readonly choices?: readonly ('a' | 'b')[];
        readonly gone?: string | null;
        /** What runs. *\\/ Really. */
        readonly image: string;
        readonly labels?: { readonly [key: string]: string };
        readonly mode: 'fast' | 'it\\'s';
        readonly port?: number | string;
        readonly ports?: ListMap<{
          readonly 'a-b'?: number;
          readonly name: string;
        }, 'name'>;
        readonly replicas: number;
      };
    }

    /** What is written where a Foo is read. */
    export interface FooWrite {
      readonly metadata: WriteMeta;
      readonly spec: {
        readonly any?: { readonly [key: string]: unknown };
        readonly choices?: readonly ('a' | 'b')[];
        readonly gone?: string | null;
        /** What runs. *\\/ Really. */
        readonly image: string;
        readonly labels?: { readonly [key: string]: string };
        readonly mode: 'fast' | 'it\\'s';
        readonly port?: number | string;
        readonly ports?: ListMap<{
          readonly 'a-b'?: number;
          readonly name: string;
        }, 'name'>;
        readonly replicas?: number;
      };
    }

    export const Foo: Kind<Foo, FooWrite, 'Namespaced'> = makeKind({
      group: 'example.com',
      version: 'v1',
      kind: 'Foo',
      plural: 'foos',
      singular: 'foo',
      scope: 'Namespaced',
      shortNames: ['fo'],
    });
    "
  `);
});

test('versions have names of their own, and two kinds of one name are refused', () => {
  const two = defineKind({
    ...{ group: 'example.com', version: 'v1', kind: 'Foo', scope: 'Cluster', spec: { type: 'object' } },
    versions: [{ name: 'v1beta1', spec: { type: 'object' } }],
  });
  const text = typesFromCrds([two.crd()]);
  expect(text).toContain('export interface Foo {');
  expect(text).toContain('export interface FooV1beta1 {');
  expect(text).toContain("Kind<Foo, FooWrite, 'Cluster'>");
  expect(() => typesFromCrds([two.crd(), Foo.crd()])).toThrow('would both be named Foo');
});

test('a kind to work with, by its definition', () => {
  const { apiVersion, kind, plural, scope, shortNames } = kindFromCrd(Foo.crd());
  expect([apiVersion, kind, plural, scope, shortNames]).toEqual([
    'example.com/v1',
    'Foo',
    'foos',
    'Namespaced',
    ['fo'],
  ]);
  expect(() => kindFromCrd(Foo.crd(), 'v9')).toThrow('has no version "v9"');
});

test('kubebuilder#1140: out as YAML and in again; without descriptions where it would be too large, but not without fields of that name', async () => {
  expect(await crdsFromYaml(await crdsToYaml([Foo]))).toEqual([Foo.crd()]);
  const Bar = defineKind({
    ...{ group: 'example.com', version: 'v1', kind: 'Bar' },
    spec: { type: 'object', description: 'long', properties: { description: { type: 'string', description: 'long' } } },
  });
  const [bare] = await crdsFromYaml(await crdsToYaml([Bar], { descriptions: false }));
  expect(bare?.spec.versions[0]?.schema.openAPIV3Schema.properties?.spec).toEqual({
    ...{ type: 'object', properties: { description: { type: 'string' } } },
  });
  const old = 'apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: { name: x }';
  await expect(crdsFromYaml(old)).rejects.toThrow('expected a CustomResourceDefinition of apiextensions.k8s.io/v1');
});
