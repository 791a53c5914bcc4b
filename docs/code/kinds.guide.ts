import { eventually, expectRoundTrips } from '@riata/testing';
import { Type } from '@sinclair/typebox';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import {
  control,
  createClient,
  defineKind,
  isInvalid,
  type KindOf,
  loadConfig,
  Manager,
  silentLogger,
  withVersion,
} from 'riata';
import { CustomResourceDefinition, Namespace } from 'riata/kinds';
import type { PodTemplateSpec } from 'riata/kinds/types/core-v1';
import { SchemaError } from 'riata/object';
import { crdsToYaml, installCrds } from 'riata/patterns';
import { admit, conversion, migration } from 'riata/webhook';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { z } from 'zod';

const site = defineKind({
  group: 'kinds-guide.riata.dev',
  version: 'v1',
  kind: 'Site',
  spec: z.object({
    image: z.string().min(1).describe('The container image.'),
    replicas: z.int().min(0).max(100).default(1),
    size: z.enum(['small', 'large']).default('small'),
    hosts: z.array(z.string()).optional(),
  }),
  status: z.object({ availableReplicas: z.int(), selector: z.string() }),
  shortNames: ['st'],
  categories: ['all'],
  printerColumns: [
    { name: 'Image', type: 'string', jsonPath: '.spec.image' },
    { name: 'Available', type: 'integer', jsonPath: '.status.availableReplicas' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.availableReplicas',
    labelSelectorPath: '.status.selector',
  },
  selectableFields: ['.spec.image'],
  extend: {
    'spec.size': {
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'size cannot be changed' }],
    },
    'spec.hosts': { 'x-kubernetes-list-type': 'set', maxItems: 10 },
    '.': {
      'x-kubernetes-validations': [
        {
          rule: "self.spec.size != 'small' || self.spec.replicas <= 3",
          message: 'a small site has at most 3 replicas',
        },
      ],
    },
  },
});
interface Site extends KindOf<typeof site> {}
const Site = site.named<Site>();

test('a kind', async () => {
  await using client = createClient(await loadConfig());
  await client.apply(Namespace({ metadata: { name: 'kinds' } }), { fieldManager: 'me' });

  await installCrds(client, [Site]); // waits until the server serves it
  const yaml = await crdsToYaml([Site]); // for kubectl apply -f, or a chart

  const shop = await client.create(Site({ metadata: { namespace: 'kinds', name: 'shop' }, spec: { image: 'shop:1' } }));
  shop.spec.replicas; // 1: set by the server

  expect(yaml).toContain('shortNames:');
  expect(shop.spec).toEqual({ image: 'shop:1', replicas: 1, size: 'small' });
  const change = (spec: Partial<Site['spec']>) =>
    client.patch(Site, shop.metadata, { type: 'merge', body: { spec } }).catch((error: unknown) => error);
  const resized = await change({ size: 'large' });
  expect(isInvalid(resized) && String(resized)).toContain('size cannot be changed');
  expect(String(await change({ replicas: 9 }))).toContain('a small site has at most 3 replicas');
  expect(String(await change({ replicas: 101 }))).toContain('should be less than or equal to 100');
  const { items } = await client.list(Site, { fieldSelector: { 'spec.image': 'shop:1' } });
  expect(items).toHaveLength(1);
});

test('scope and versions', async () => {
  const Tenant = defineKind({
    group: 'kinds-guide.riata.dev',
    version: 'v2',
    kind: 'Tenant',
    scope: 'Cluster', // no namespace, in types and URLs
    plural: 'tenants', // the default, by pluralOf
    spec: z.object({ owner: z.string(), plan: z.string().default('free') }),
    versions: [
      {
        name: 'v1',
        spec: z.object({ owner: z.string() }),
        deprecated: true,
        deprecationWarning: 'use v2: it has plans',
      },
    ],
  });

  await using client = createClient(await loadConfig());
  await installCrds(client, [Tenant]);
  const tenant = await client.create(Tenant({ metadata: { name: 'acme' }, spec: { owner: 'ann' } }));
  expect(tenant.spec.plan).toBe('free');
  expect(Tenant.crd().spec.versions.map(({ name, storage }) => [name, storage])).toEqual([
    ['v2', true],
    ['v1', false],
  ]);
});

test('conversion', { timeout: 60_000 }, async () => {
  const imageSpec = z.object({ image: z.string(), replicas: z.int().default(1) });

  const ShopV2 = defineKind({
    group: 'kinds-guide.riata.dev',
    version: 'v2', // objects are stored in this version
    kind: 'Shop',
    spec: z.object({
      image: z.object({ name: z.string(), tag: z.string(), digest: z.string().optional() }),
      replicas: z.int().default(1),
    }),
  });

  const Shop = withVersion(ShopV2, 'v1', {
    spec: z.object({ image: z.string(), replicas: z.int().default(1) }),
    deprecated: true,
    up: ({ spec: { image, ...rest } }) => {
      const [name = '', tag = 'latest'] = image.split(':');
      return { spec: { ...rest, image: { name, tag } } };
    },
    down: ({ spec: { image, replicas } }) => ({ spec: { replicas, image: `${image.name}:${image.tag}` } }),
  });

  await using client = createClient(await loadConfig());
  const namespace = 'default';
  const before = defineKind({ group: 'kinds-guide.riata.dev', version: 'v1', kind: 'Shop', spec: imageSpec });
  await installCrds(client, [before]);
  await client.create(before({ metadata: { namespace, name: 'old' }, spec: { image: 'old:1' } }));
  await installCrds(client, [Shop]);
  const shops = control(Shop).reconcile(async () => {});
  const webhooks = { host: '127.0.0.1', port: 0, namespace } as const;
  const stop = new AbortController();
  await using manager = await Manager.create({ webhooks, runtime: { log: silentLogger } });

  manager.add(shops);
  manager.add(conversion(Shop));
  manager.add(migration(Shop, { pace: '20/s', grace: '1s' }));

  const ended = manager.run({ signal: stop.signal });
  const stored = async () => (await client.get(CustomResourceDefinition, Shop.crd().metadata)).status?.storedVersions;
  await eventually(async () => (await stored())?.join() === 'v2', { what: 'all objects are stored as v2' });

  const image = { name: 'nginx', tag: '1', digest: 'sha256:4bcff6' };
  await client.create(Shop({ metadata: { namespace, name: 'cart' }, spec: { image } }));
  const old = await client.get(Shop.versions.v1, { namespace, name: 'cart' });
  old.spec.image; // 'nginx:1'
  await client.update({ ...old, spec: { ...old.spec, replicas: 3 } });
  const shop = await client.get(Shop, { namespace, name: 'cart' });
  shop.spec.image.digest; // 'sha256:4bcff6': v1 has no place for it, and it is not lost

  expect(old.spec.image).toBe('nginx:1');
  expect(shop.spec).toEqual({ image, replicas: 3 });

  await expectRoundTrips(Shop, { runs: 100 });

  stop.abort();
  await ended;
});

test('schemas of other libraries', () => {
  const names = { group: 'kinds-guide.riata.dev', version: 'v1' } as const;

  const byArktype = defineKind({ ...names, kind: 'A', spec: type({ image: 'string', 'replicas?': 'number.integer' }) });
  const byValibot = defineKind({
    ...names,
    kind: 'B',
    spec: toStandardJsonSchema(
      v.object({ image: v.string(), replicas: v.optional(v.pipe(v.number(), v.integer()), 1) }),
    ),
  });
  const byTypeBox = defineKind({
    ...names,
    kind: 'C',
    spec: Type.Object({ image: Type.String(), replicas: Type.Integer({ default: 1 }) }),
  });
  const byJsonSchema = defineKind({
    ...names,
    kind: 'D',
    spec: {
      type: 'object',
      required: ['image'],
      properties: { image: { type: 'string' }, replicas: { type: 'integer', default: 1 } },
    },
  });

  for (const { schema } of [byArktype, byValibot, byTypeBox, byJsonSchema]) {
    expect(schema.properties?.spec?.properties).toMatchObject({
      image: { type: 'string' },
      replicas: { type: 'integer' },
    });
  }
});

test('what a definition cannot say', () => {
  const names = { group: 'kinds-guide.riata.dev', version: 'v1', kind: 'Job' } as const;

  const Backup = defineKind({
    ...{ ...names, kind: 'Backup' },
    beyondCrd: 'webhook',
    spec: z
      .object({ keep: z.int(), atMost: z.int(), seed: z.string().default(() => crypto.randomUUID()) })
      .refine(({ keep, atMost }) => keep <= atMost, { message: 'must not exceed atMost', path: ['keep'] }),
  });
  const backupRules = admit(Backup, { schema: true });

  expect(backupRules.targets.map(({ type }) => type)).toEqual(['mutating', 'validating']);
  expect(Backup.schema.properties?.spec).toMatchObject({ required: ['keep', 'atMost'] });

  const template = z.custom<PodTemplateSpec>().meta({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
  const Job = defineKind({ ...names, spec: z.object({ template }) });

  expect(Job.schema.properties?.spec?.properties?.template).toEqual({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
  });
  expect(() => defineKind({ ...names, spec: z.object({ at: z.string().transform((at) => new Date(at)) }) })).toThrow(
    SchemaError,
  );
});
