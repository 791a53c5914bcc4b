import { Type } from '@sinclair/typebox';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { type DefinedKind, defineKind } from './define-kind.js';
import type { ClusterMeta, Kind, KindOf, ListMap, NamespacedMeta, Placed, ReadOf, WriteTypeOf } from './kind.js';
import type { Condition, KubeObject } from './meta.js';
import type { CrdManifest } from './schema/crd-manifest.js';
import type { FromSchema } from './schema/infer-schema.js';

const names = { group: 'x.dev', version: 'v1' } as const;

const Foo = defineKind({
  ...names,
  kind: 'Foo',
  spec: z.object({
    image: z.string(),
    replicas: z.int().default(1),
    ports: z.array(z.object({ name: z.string() })).optional(),
  }),
  status: z.object({ ready: z.int(), seen: z.record(z.string(), z.array(z.string())) }),
});
interface Foo extends KindOf<typeof Foo> {}

declare function create<T extends object>(object: T & Placed<T>): ReadOf<T>;
declare const foo: Foo;

interface NamedFoo extends KindOf<typeof Foo> {}
interface WiderFoo extends KindOf<typeof Foo> {
  readonly more: string;
}

describe('a named kind', () => {
  test('reads as the interface, and writes as before', () => {
    const Named = Foo.named<NamedFoo>();
    expectTypeOf<KindOf<typeof Named>>().toEqualTypeOf<NamedFoo>();
    expectTypeOf<WriteTypeOf<typeof Named>>().toEqualTypeOf<WriteTypeOf<typeof Foo>>();
    // @ts-expect-error the schema has no such field
    Foo.named<WiderFoo>();
    // @ts-expect-error another kind
    Foo.named<KubeObject>();
  });
});

describe('a kind defined by zod', () => {
  test('reads the output, deeply read-only', () => {
    expectTypeOf(foo.apiVersion).toEqualTypeOf<'x.dev/v1'>();
    expectTypeOf(foo.kind).toEqualTypeOf<'Foo'>();
    expectTypeOf(foo.metadata).toEqualTypeOf<NamespacedMeta>();
    expectTypeOf(foo.spec).toEqualTypeOf<{
      readonly image: string;
      readonly replicas: number;
      readonly ports?: readonly { readonly name: string }[] | undefined;
    }>();
    // @ts-expect-error read-only
    foo.spec.replicas = 2;
    // @ts-expect-error read-only below, too
    foo.spec.ports?.push({ name: 'x' });
    // @ts-expect-error read-only below, too
    foo.status?.seen?.a?.push('x');
    expectTypeOf<Foo>().toExtend<KubeObject>();
  });
  test('has a status whose fields are optional, with conditions and the observed generation', () => {
    expectTypeOf(foo.status?.ready).toEqualTypeOf<number | undefined>();
    expectTypeOf(foo.status?.conditions).toEqualTypeOf<ListMap<Condition, 'type'> | undefined>();
    expectTypeOf(foo.status?.observedGeneration).toEqualTypeOf<number | undefined>();
    // @ts-expect-error a kind that needs its status to be there has not looked
    foo.status.ready;
  });
  test('writes the input', () => {
    const made = Foo({ metadata: { namespace: 'a', name: 'b' }, spec: { image: 'x' } });
    expectTypeOf(create(made).spec.replicas).toEqualTypeOf<number>();
    expectTypeOf<WriteTypeOf<typeof Foo>['spec']['replicas']>().toEqualTypeOf<number | undefined>();
    Foo({ metadata: { name: 'b' }, spec: { image: 'x' }, status: { conditions: [], ready: 1 } });
    // @ts-expect-error the image is wanted
    Foo({ metadata: { name: 'b' }, spec: { replicas: 1 } });
    // @ts-expect-error no such field
    Foo({ metadata: { name: 'b' }, spec: { image: 'x', imag: 'y' } });
    // @ts-expect-error the spec is wanted
    Foo({ metadata: { name: 'b' } });
    // @ts-expect-error no namespace
    create(Foo({ metadata: { name: 'b' }, spec: { image: 'x' } }));
  });
  test('is a Kind that knows its CRD', () => {
    expectTypeOf(Foo).toExtend<Kind<Foo, WriteTypeOf<typeof Foo>, 'Namespaced'>>();
    expectTypeOf(Foo).toExtend<DefinedKind<Foo, WriteTypeOf<typeof Foo>, 'Namespaced'>>();
    expectTypeOf(Foo.crd()).toEqualTypeOf<CrdManifest>();
  });
});

describe('other ways to say a schema', () => {
  test('a cluster kind without status', () => {
    const Zone = defineKind({ ...names, kind: 'Zone', scope: 'Cluster', spec: z.object({ a: z.string() }) });
    type Zone = KindOf<typeof Zone>;
    expectTypeOf<Zone['metadata']>().toEqualTypeOf<ClusterMeta>();
    expectTypeOf<keyof Zone>().toEqualTypeOf<'apiVersion' | 'kind' | 'metadata' | 'spec'>();
    create(Zone({ metadata: { name: 'b' }, spec: { a: 'x' } }));
  });
  test('arktype', () => {
    const Bar = defineKind({
      ...names,
      kind: 'Bar',
      spec: type({ image: 'string', replicas: 'number.integer = 1', 'tags?': 'string[]' }),
    });
    expectTypeOf<KindOf<typeof Bar>['spec']>().toEqualTypeOf<{
      readonly image: string;
      readonly replicas: number;
      readonly tags?: readonly string[];
    }>();
    Bar({ metadata: { name: 'b' }, spec: { image: 'x' } });
    // @ts-expect-error the image is wanted
    Bar({ metadata: { name: 'b' }, spec: { replicas: 1 } });
  });
  test('valibot', () => {
    const Bar = defineKind({
      ...names,
      kind: 'Bar',
      spec: toStandardJsonSchema(v.object({ image: v.string(), replicas: v.optional(v.number(), 1) })),
    });
    expectTypeOf<KindOf<typeof Bar>['spec']>().toEqualTypeOf<{ readonly image: string; readonly replicas: number }>();
    Bar({ metadata: { name: 'b' }, spec: { image: 'x' } });
  });
  test('TypeBox', () => {
    const Bar = defineKind({
      ...names,
      kind: 'Bar',
      spec: Type.Object({ image: Type.String(), tags: Type.Optional(Type.Array(Type.String())) }),
    });
    expectTypeOf<KindOf<typeof Bar>['spec']>().toEqualTypeOf<{
      readonly image: string;
      readonly tags?: readonly string[];
    }>();
  });
  test('a JSON Schema in place', () => {
    const Bar = defineKind({
      ...names,
      kind: 'Bar',
      spec: {
        type: 'object',
        required: ['image', 'mode'],
        properties: {
          image: { type: 'string' },
          mode: { enum: ['a', 'b'] },
          replicas: { type: 'integer', default: 1 },
          port: { 'x-kubernetes-int-or-string': true },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
          note: { type: ['string', 'null'] },
          ports: {
            type: 'array',
            items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
          },
        },
      },
    });
    expectTypeOf<KindOf<typeof Bar>['spec']>().toEqualTypeOf<{
      readonly image: string;
      readonly mode: 'a' | 'b';
      readonly replicas: number;
      readonly port?: number | string;
      readonly labels?: { readonly [key: string]: string };
      readonly note?: string | null;
      readonly ports?: ListMap<{ readonly name: string }, 'name'>;
    }>();
    Bar({ metadata: { name: 'b' }, spec: { image: 'x', mode: 'a', ports: [{ name: 'http' }] } });
    // @ts-expect-error the mode is wanted
    Bar({ metadata: { name: 'b' }, spec: { image: 'x' } });
  });
  test('beyond what can be inferred it is unknown', () => {
    expectTypeOf<FromSchema<{ readonly not: object }>>().toEqualTypeOf<unknown>();
    expectTypeOf<FromSchema<{ readonly type: 'boolean'; readonly nullable: true }>>().toEqualTypeOf<boolean | null>();
    expectTypeOf<FromSchema<{ readonly const: 5 }>>().toEqualTypeOf<5>();
    expectTypeOf<
      FromSchema<{ readonly anyOf: readonly [{ readonly type: 'string' }, { readonly type: 'integer' }] }>
    >().toEqualTypeOf<number | string>();
  });
});
