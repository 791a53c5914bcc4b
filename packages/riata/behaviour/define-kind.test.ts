import type { InstallableKind, TestEnvironment } from '@riata/testing';
import { Type } from '@sinclair/typebox';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { CustomResourceDefinition } from 'riata/kinds';
import { defineKind } from 'riata/object';
import { isInvalid } from 'riata/rest';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeServers, rejection, uniqueName } from './servers.js';

/** Installs a kind: the server must like its schema. */
async function install(server: TestEnvironment, kind: InstallableKind): Promise<void> {
  await server.install(kind);
  const { name } = kind.crd().metadata;
  const { status } = await server.client.get(CustomResourceDefinition, { name });
  expect(status?.conditions?.map(({ type }) => type)).toContain('Established');
  expect(status?.conditions?.map(({ type }) => type)).not.toContain('NonStructuralSchema');
}

const names = { version: 'v1', kind: 'Foo' } as const;
const group = (): string => `${uniqueName('d')}.riata.dev`;

describeServers('defined kinds', (server) => {
  test('zod: defaults, limits, unions, nulls, CEL and the status are what the schema says', async () => {
    const { client } = server();
    const Foo = defineKind({
      ...names,
      group: group(),
      spec: z.object({
        image: z.string().startsWith('a').endsWith('z'),
        replicas: z.int().min(0).max(10).default(1),
        mode: z.enum(['on', 'off']).nullable().optional(),
        port: z.union([z.literal('auto'), z.int().min(1)]).optional(),
        at: z.iso.datetime().optional(),
        even: z
          .int()
          .refine((n) => n % 2 === 0)
          .optional(),
        source: z
          .discriminatedUnion('type', [
            z.strictObject({ type: z.literal('git'), url: z.url() }),
            z.strictObject({ type: z.literal('file'), path: z.string() }),
          ])
          .optional(),
        nested: z.object({ size: z.int().default(3) }).prefault({}),
        extra: z.unknown().optional(),
        ports: z.array(z.object({ name: z.string() })).optional(),
      }),
      status: z.object({ ready: z.int() }),
      extend: {
        'spec.even': { 'x-kubernetes-validations': [{ rule: 'self % 2 == 0', message: 'must be even' }] },
        'spec.ports': { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
      },
      printerColumns: [{ name: 'Ready', type: 'integer', jsonPath: '.status.ready' }],
      selectableFields: ['.spec.image'],
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.ready' },
      shortNames: ['fo'],
      categories: ['all'],
    });
    await install(server(), Foo);
    const namespace = await server().namespace();
    const create = (spec: Parameters<typeof Foo>[0]['spec']) =>
      client.create(Foo({ metadata: { namespace, generateName: 'foo-' }, spec }));

    const made = await create({ image: 'a-z' });
    expect(made.spec).toEqual({ image: 'a-z', replicas: 1, nested: { size: 3 } });
    const full = {
      image: 'az',
      replicas: 2,
      mode: null,
      port: 'auto',
      at: '2024-01-02T03:04:05Z',
      even: 4,
      source: { type: 'git', url: 'https://example.com' },
      nested: { size: 1 },
      extra: { any: [null, 1] },
      ports: [{ name: 'a' }],
    } as const;
    expect((await create(full)).spec).toEqual(full);

    const refused: readonly (readonly [string, object])[] = [
      ['spec.image', { image: 'b-z' }],
      ['spec.image', { image: 'a-y' }],
      ['spec.replicas', { replicas: 11 }],
      ['spec.mode', { mode: 'idle' }],
      ['spec.port', { port: 'other' }],
      ['spec.port', { port: 0 }],
      ['spec.at', { at: '2024-01-02T03:04:05+01:00' }],
      ['must be even', { even: 3 }],
      ['spec.source', { source: { type: 'git', path: '/' } }],
      ['spec.source', { source: { type: 'file', path: '/', url: 'https://example.com' } }],
      ['spec.ports', { ports: [{ name: 'a' }, { name: 'a' }] }],
    ];
    for (const [what, change] of refused) {
      const error = await rejection(create({ image: 'az', ...change }));
      expect(error, JSON.stringify(change)).toSatisfy(isInvalid);
      expect(error.message, JSON.stringify(change)).toContain(what);
    }

    const condition = { type: 'Ready', status: 'True', reason: 'Ok', message: '' } as const;
    const status = {
      observedGeneration: 1,
      conditions: [{ ...condition, lastTransitionTime: '2024-01-02T03:04:05Z' }],
    };
    const updated = await client.status.update({ ...made, status });
    expect(updated.status).toEqual(status);
    const twice = { ...updated, status: { conditions: [...status.conditions, ...status.conditions] } };
    expect(await rejection(client.status.update(twice))).toSatisfy(isInvalid);
  });

  test('arktype, valibot, TypeBox and JSON Schema: taken as structural, defaults filled in', async () => {
    const { client } = server();
    const kinds = [
      defineKind({
        ...names,
        group: group(),
        spec: type({
          image: 'string',
          replicas: 'number.integer = 1',
          'id?': 'string.uuid',
          'port?': 'string|number.integer',
          'note?': 'string|null',
          'any?': 'object',
          'source?': type({ type: "'git'", url: 'string.url' }).or({ type: "'file'", path: 'string' }),
        }),
      }),
      defineKind({
        ...names,
        group: group(),
        spec: toStandardJsonSchema(
          v.object({
            image: v.string(),
            replicas: v.optional(v.pipe(v.number(), v.integer(), v.gtValue(0)), 1),
            both: v.optional(v.intersect([v.object({ a: v.string() }), v.object({ b: v.string() })])),
            word: v.nullish(v.picklist(['a', 'b'])),
          }),
        ),
      }),
      defineKind({
        ...names,
        group: group(),
        spec: Type.Object({
          image: Type.String(),
          replicas: Type.Integer({ default: 1 }),
          labels: Type.Optional(Type.Record(Type.String(), Type.String())),
          word: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Null()])),
        }),
      }),
      defineKind({
        ...names,
        group: group(),
        scope: 'Namespaced',
        spec: {
          type: 'object',
          required: ['image'],
          properties: {
            image: { type: 'string' },
            replicas: { type: 'integer', default: 1 },
            embedded: {
              type: 'object',
              'x-kubernetes-embedded-resource': true,
              'x-kubernetes-preserve-unknown-fields': true,
            },
            tags: { type: 'array', uniqueItems: true, items: { type: 'string' } },
          },
        },
        versions: [
          { name: 'v1beta1', deprecated: true, spec: { type: 'object', properties: { image: { type: 'string' } } } },
        ],
      }),
    ];
    const namespace = await server().namespace();
    for (const Foo of kinds) {
      await install(server(), Foo);
      const body = {
        apiVersion: Foo.apiVersion,
        kind: 'Foo',
        metadata: { namespace, name: 'a' },
        spec: { image: 'x' },
      };
      expect(await client.create(body)).toMatchObject({ spec: { image: 'x', replicas: 1 } });
    }
  });
});
