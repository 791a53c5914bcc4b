import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { defineKind, type Json, type KubeObject, makeKind, type StructuralSchema } from 'riata/object';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { loadFastCheck } from '../../versions/load-fast-check.js';
import { describeChange } from '../run/field-change.js';
import { simulate } from '../simulate.js';
import type { SimulationError } from '../simulation-error.js';
import { drawValues } from './draw-values.js';
import { fromSchema } from './from-schema.js';
import { schemaChanges } from './schema-changes.js';

const changesOf = async (schema: StructuralSchema, value: Json) => {
  const draw = drawValues(await loadFastCheck('this test'), 1);
  return [...schemaChanges(schema, value, ['spec'], draw)].map(describeChange);
};

const text = { type: 'string' } as const;

test.each<[string, StructuralSchema, Json, (string | RegExp)[]]>([
  ['numbers', { type: 'integer', minimum: 1, maximum: 9 }, 3, ['spec = 4', 'spec = 2', 'spec = 1', 'spec = 9']],
  ['numbers without a range', { type: 'integer' }, 0, ['spec = 1']],
  ['numbers between', { type: 'number', minimum: 0 }, 1, ['spec = 1.5', 'spec = 2', 'spec = 0']],
  ['booleans', { type: 'boolean' }, true, ['spec = false']],
  ['enums', { type: 'string', enum: ['a', 'b', 'c'] }, 'b', ['spec = "a"', 'spec = "c"']],
  ['strings', { type: 'string', maxLength: 3 }, 'x', [/^spec = "[a-wyz]"$/, 'spec = ""', 'spec = "aaa"']],
  ['strings of a pattern', { type: 'string', pattern: '^(on|off)$' }, 'on', ['spec = "off"']],
  ['null', { type: 'boolean', nullable: true }, false, ['spec = null', 'spec = true']],
  [
    'lists',
    { type: 'array', items: { type: 'integer', maximum: 9 } },
    [7, 8],
    [
      ...['spec = [8,7]', 'spec = [8]', 'spec = [7]', 'spec = []', /^spec = \[7,8,\d\]$/],
      ...['spec[0] = 8', 'spec[0] = 6', 'spec[0] = 0', 'spec[0] = 9'],
    ],
  ],
  [
    'maps',
    { type: 'object', additionalProperties: { type: 'boolean' } },
    { x: true, 'y/z': true },
    ['spec.x removed', 'spec = {}', /^spec\.a = (true|false)$/, 'spec.x = false'],
  ],
  [
    'objects',
    { type: 'object', required: ['a'], properties: { a: { type: 'boolean' }, b: { type: 'boolean' }, c: text } },
    { a: true, b: true },
    ['spec.a = false', 'spec.b removed', 'spec.b = false', /^spec\.c = "[a-z]+"$/, /^spec\.c = "[a-z]+"$/],
  ],
])('%s', async (_, schema, value, expected) => {
  expect(await changesOf(schema, value)).toEqual(
    expected.map((each) => (typeof each === 'string' ? each : expect.stringMatching(each))),
  );
});

const Site = defineKind({
  ...{ group: 'example.com', version: 'v1', kind: 'Site' },
  spec: z.object({
    title: z.string(),
    theme: z.enum(['light', 'dark']).optional(),
    tags: z.array(z.string()).optional(),
    limits: z.object({ size: z.int().min(1).max(5) }).optional(),
  }),
});
const key = { namespace: 'default', name: 'blog' };

/** Keeps the theme that a site had first. */
const sites = control(Site)
  .owns(ConfigMap)
  .reconcile(async ({ object, client, apply }) => {
    const known = await client.find(ConfigMap, key);
    const theme = object.spec.theme ?? known?.data?.theme;
    await apply(ConfigMap({ metadata: { name: object.metadata.name }, data: { ...(theme && { theme }) } }));
  });

const failureOf = (simulating: Promise<unknown>): Promise<SimulationError> =>
  simulating.then(
    () => expect.fail('no failure'),
    (error: SimulationError) => error,
  );

test('a change that is not undone is found, reported and replayed', async () => {
  const options = {
    ...{ kinds: [Site], run: [sites], changes: fromSchema(Site) },
    story: async ({ client }: Parameters<Parameters<typeof simulate>[0]['story']>[0]) => {
      await client.create(Site({ metadata: key, spec: { title: 'Hello', tags: ['a', 'b'] } }));
      await client.patch(Site, key, { type: 'merge', body: { spec: { title: 'Bye' } } });
      await client.delete(Site, key);
    },
  };
  const found = await failureOf(simulate(options));
  expect(found.rule).toBe('undone change');
  expect(found.replay).toBe('seed=1 steps=1 change@1:/spec/theme="dark"');
  const told = found.message.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' '));
  expect(told).toEqual(
    expect.arrayContaining([
      'simulate: ConfigMap default/blog differs after a change of Site default/blog was undone (spec.theme = "dark")',
      'changed and undone: spec.theme = "dark"',
      'story ! changes Site default/blog: spec.theme: nothing → "dark"',
      'story ! undoes that change of Site default/blog',
      'The difference (- before the change, + after it was undone):',
      '+ "theme": "dark"',
      '// Then Site default/blog is changed, and that is undone: spec.theme = "dark"',
      'replay: \'seed=1 change@1:/spec/theme="dark"\',',
    ]),
  );
  expect(told.filter((line) => line.startsWith('await client.'))).toHaveLength(1);
  const again = await failureOf(simulate({ ...options, replay: found.replay }));
  expect(again.message).toBe(found.message.replace(/run \d+/, 'run 1'));
  await simulate({ ...options, changes: fromSchema(Site, { skip: ['spec.theme'] }), runs: 3 });
});

test('of several fields at once, those are left that fail together', async () => {
  const story = ({ client }: Parameters<Parameters<typeof simulate>[0]['story']>[0]) =>
    client.create(Site({ metadata: key, spec: { title: 'Hello' } }));
  const changes = {
    ...fromSchema(Site),
    of: () => [
      { path: '/spec/title', value: 'x' },
      { path: '/spec/limits', value: { size: 2 } },
      { path: '/spec/theme', value: 'dark' },
    ],
  };
  const both = control(Site).reconcile(({ object }) => {
    if (object.spec.title === 'x' && object.spec.limits !== undefined) throw new Error('both');
  });
  const found = await failureOf(simulate({ kinds: [Site], run: [both], story, changes, pairs: 0 }));
  expect(found.rule).toBe('no failing reconcile');
  expect(found.replay).toMatch(/^seed=1( change@1:\/spec\/(title="x"|limits={"size":2})){2}$/);
});

const definition = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: 'tapes.example.com' },
  spec: {
    ...{ group: 'example.com', scope: 'Namespaced', names: { kind: 'Tape', plural: 'tapes' } },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['length'],
                properties: {
                  length: { type: 'integer', minimum: 1, maximum: 60 },
                  label: {
                    type: 'string',
                    'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'a label is not changed' }],
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
} as const;

test('a definition given as an object; what the server refuses is in the report', async () => {
  const Tape = makeKind<KubeObject & { readonly spec: { readonly length: number } }>({
    ...{ group: 'example.com', version: 'v1', kind: 'Tape', plural: 'tapes', scope: 'Namespaced' },
  });
  const tapes = control(Tape)
    .owns(ConfigMap)
    .reconcile(async ({ object, apply }) => {
      await apply(
        ConfigMap({ metadata: { namespace: 'default', name: 'side-a' }, data: { length: String(object.spec.length) } }),
      );
    });
  const report = await simulate({
    ...{ crds: [definition], run: [tapes], changes: [fromSchema(definition)], faults: ['crash-after'] },
    ...{ pairs: 4, random: 2 },
    story: ({ client }) =>
      client.create({
        ...{ apiVersion: 'example.com/v1', kind: 'Tape', metadata: { namespace: 'default', name: 'a' } },
        spec: { length: 30, label: 'x' },
      } as never),
  });
  expect([...report.changes.keys()]).toEqual(
    expect.arrayContaining(['Tape spec.length = 31', 'Tape spec.length = 29', 'Tape spec.length = 1']),
  );
  expect([...(report.changes.get('Tape spec.label removed') ?? ['missing'])]).not.toContain('crash-before');
  expect([...report.refused.values()].join('\n')).toContain('a label is not changed');
  expect(String(report)).toContain('  Tape spec.length = 31');
  expect(String(report)).toContain('a label is not changed');
  // Combined with faults.
  expect([...report.changes.values()].flatMap((kinds) => [...kinds])).toContain('crash-after');
});

test('a kind that the story does not write, and a schema without fields, are refused', async () => {
  await expect(simulate({ kinds: [Site], run: [sites], story: () => {}, changes: fromSchema(Site) })).rejects.toThrow(
    'simulate: the story writes no object of Site, whose schema `changes` names',
  );
  const empty = { ...definition, spec: { ...definition.spec, versions: [{ name: 'v1', served: true }] } };
  expect(() => fromSchema(empty)).toThrow('fromSchema: the schema of Tape has no fields to change');
  expect(() => fromSchema(Site, { skp: [] } as never)).toThrow('did you mean "skip"?');
});
