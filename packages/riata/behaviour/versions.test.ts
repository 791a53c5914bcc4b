import { CustomResourceDefinition } from 'riata/kinds';
import { defineKind, metadataOnly, withVersion } from 'riata/object';
import { installCrds } from 'riata/patterns';
import { conversion, migration } from 'riata/webhook';
import { expect, test } from 'vitest';
import { describeServers, rejection, uniqueName, until } from './servers.js';
import { versionedKind } from './versions-play.js';
import { onLoopback, startGuarded } from './webhooks-play.js';

describeServers('versions', (server) => {
  const group = () => `${uniqueName('g')}.riata.dev`;

  test('are converted both ways, with what the other has no place for', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const { Site } = versionedKind(group());
    const { v1 } = Site.versions;
    await installCrds(client, [Site]);
    await using _ = await startGuarded(server(), onLoopback(uniqueName('hooks-'), namespace), [conversion(Site)]);
    const key = { namespace, name: 'cart' };
    const image = { name: 'nginx', tag: '1', digest: 'sha256:0' };
    await client.create(Site({ metadata: key, spec: { image } }));
    const old = await until('it is converted', () => client.find(v1, key));
    expect(old.spec).toEqual({ image: 'nginx:1', replicas: 1 });
    await client.update({ ...old, spec: { ...old.spec, replicas: 3 } });
    const stored = await client.get(Site, key);
    expect(stored.spec).toEqual({ image, replicas: 3 });
    expect(stored.metadata.annotations).toBeUndefined();
    expect(stored.metadata.generation).toBe(2);
    // A patch and an apply by the old version, whose writer has never seen the annotation.
    await client.patch(v1, key, { type: 'merge', body: { spec: { image: 'nginx:2' } } });
    expect((await client.get(Site, key)).spec).toEqual({ image: { ...image, tag: '2' }, replicas: 3 });
    const applied = v1({ metadata: key, spec: { image: 'nginx:3', replicas: 3 } });
    await client.apply(applied, { fieldManager: 'me', force: true });
    expect((await client.get(Site, key)).spec).toEqual({ image: { ...image, tag: '3' }, replicas: 3 });
    await client.create(v1({ metadata: { namespace, name: 'new' }, spec: { image: 'web' } }));
    const { items } = await client.list(Site, { namespace });
    expect(items.map(({ spec }) => spec.image.name).sort()).toEqual(['nginx', 'web']);
    const both = await client.list(v1, { namespace });
    // As it was written: that no tag was given is kept, too.
    expect(both.items.map(({ spec }) => spec.image).sort()).toEqual(['nginx:3', 'web']);
  });

  test('integers past 2^53 come through exactly', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const spec = { type: 'object', properties: { size: { type: 'integer', format: 'int64' } } } as const;
    const selectableFields = ['.spec.size'];
    const Newer = defineKind({ group: group(), version: 'v2', kind: 'Box', spec, selectableFields });
    const Box = withVersion(Newer, 'v1', {
      spec: { type: 'object', properties: { length: { type: 'integer', format: 'int64' } } } as const,
      up: ({ spec: { length } }) => ({ spec: { size: length } }),
      down: ({ spec: { size } }) => ({ spec: { length: size } }),
    });
    await installCrds(client, [Box]);
    await using _ = await startGuarded(server(), onLoopback(uniqueName('hooks-'), namespace), [conversion(Box)]);
    const length = 9_223_372_036_854_775_807n as unknown as number;
    const box = Box.versions.v1({ metadata: { namespace, name: 'a' }, spec: { length } });
    await until('it is converted', () =>
      client.create(box).catch((error: Error) => {
        if (!error.message.includes('webhook')) throw error;
        return undefined;
      }),
    );
    const found = async (value: bigint) =>
      (await client.list(Box, { namespace, fieldSelector: `spec.size=${value}` })).items.length;
    expect([await found(9_223_372_036_854_775_807n), await found(9_223_372_036_854_775_806n)]).toEqual([1, 0]);
    // Read in the old version, changed, converted back and stored.
    const labels = { touched: 'yes' };
    await client.patch(Box.versions.v1, { namespace, name: 'a' }, { type: 'merge', body: { metadata: { labels } } });
    expect(await found(9_223_372_036_854_775_807n)).toBe(1);
  });

  test('a conversion that throws fails the request, with the object and the line', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const { Site } = versionedKind(group());
    await installCrds(client, [Site]);
    await using _ = await startGuarded(server(), onLoopback(uniqueName('hooks-'), namespace), [conversion(Site)]);
    const make = (image: string) =>
      client.create(Site.versions.v1({ metadata: { namespace, name: uniqueName('s') }, spec: { image } }));
    await until('it converts', () => make('good').catch(() => undefined));
    expect((await rejection(make('bad'))).message).toMatch(
      /Site .*: cannot convert from .*\/v1 to .*\/v2: up threw Error: bad image at versions-play\.ts:\d+/,
    );
  });

  test('without a webhook nothing is converted wrongly, and the error names the remedy', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const { Site } = versionedKind(group());
    await installCrds(client, [Site]);
    const made = rejection(
      client.create(Site.versions.v1({ metadata: { namespace, name: 'a' }, spec: { image: 'x' } })),
    );
    expect((await made).message).toContain('https://run-conversion-webhook.invalid/');
    await client.create(Site({ metadata: { namespace, name: 'a' }, spec: { image: { name: 'x', tag: 'y' } } }));
    expect((await client.get(Site, { namespace, name: 'a' })).spec.image.name).toBe('x');
  });

  test('an address of another form gives way to that of the webhook, which a new install leaves alone', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const { Site } = versionedKind(group());
    const crd = Site.crd();
    const clientConfig = { service: { namespace: 'default', name: 'elsewhere', path: '/convert' } };
    const elsewhere = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } } as const;
    await installCrds(client, [{ ...crd, spec: { ...crd.spec, conversion: elsewhere } }]);
    await using _ = await startGuarded(server(), onLoopback(uniqueName('hooks-'), namespace), [conversion(Site)]);
    const written = async () => (await client.get(CustomResourceDefinition, crd.metadata)).spec.conversion?.webhook;
    const before = await until('it is written', async () => {
      const webhook = await written();
      return webhook?.clientConfig?.service === undefined && webhook;
    });
    expect(before?.clientConfig?.url).toMatch(/^https:\/\/[^/]+\/convert-sites-/);
    expect(await installCrds(client, [Site])).toMatchObject([{ action: expect.stringMatching(/unchanged|updated/) }]);
    expect(await written()).toEqual(before);
  });

  test('stored objects are migrated, then the old version can go', { timeout: 60_000 }, async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const { First, SiteV2, Site } = versionedKind(group());
    const { name } = Site.crd().metadata;
    const stored = async () => (await client.get(CustomResourceDefinition, { name })).status?.storedVersions;
    await installCrds(client, [First]);
    for (let index = 0; index < 30; index += 1) {
      await client.create(First({ metadata: { namespace, name: `s${index}` }, spec: { image: `nginx:${index}` } }));
    }
    expect((await rejection(installCrds(client, [SiteV2]))).message).toContain(
      'version v1 would be removed while objects are stored in it; keep v1 by withVersion(Site, …) and run ' +
        'migration(Site) of riata/webhook',
    );
    await installCrds(client, [Site]);
    expect(await stored()).toEqual(['v1', 'v2']);
    expect((await rejection(installCrds(client, [SiteV2]))).message).toContain('run migration(Site) of riata/webhook');
    const versions = async () => {
      const { items } = await client.list(metadataOnly(Site.versions.v1), { namespace });
      return new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    };
    await using started = await startGuarded(server(), onLoopback(uniqueName('hooks-'), namespace), [conversion(Site)]);
    const before = await until('it is converted', () => versions().catch(() => undefined));
    started.manager.add(migration(Site, { pace: '500/s', grace: '0s' }));
    await until('it is migrated', async () => (await stored())?.length === 1);
    expect(await stored()).toEqual(['v2']);
    const crd = await client.get(CustomResourceDefinition, { name });
    expect(crd.status?.conditions).toContainEqual(
      expect.objectContaining({
        ...{ type: 'StorageVersionMigrated', status: 'True', reason: 'Migrated' },
        message: 'all objects are stored as v2: 30 were rewritten, 0 were already',
      }),
    );
    const after = await versions();
    expect([...before].filter(([key, version]) => after.get(key) === version)).toEqual([]);
    const sites = await client.list(Site, { namespace });
    expect(sites.items.map(({ spec }) => Number(spec.image.tag)).sort((a, b) => a - b)).toEqual([...Array(30).keys()]);
    await until('the start is forgotten', async () => {
      const { annotations = {} } = (await client.get(CustomResourceDefinition, { name })).metadata;
      return !('migration.riata.dev/started' in annotations);
    });
    expect(await installCrds(client, [SiteV2])).toEqual([{ name, action: 'updated' }]);
    const last = await client.get(CustomResourceDefinition, { name });
    expect(last.spec.versions.map((version) => version.name)).toEqual(['v2']);
    expect((await client.get(SiteV2, { namespace, name: 's7' })).spec.image).toEqual({ name: 'nginx', tag: '7' });
  });
});
