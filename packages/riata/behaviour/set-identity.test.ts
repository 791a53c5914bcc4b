import type { TestEnvironment } from '@riata/testing';
import fc from 'fast-check';
import { Cache } from 'riata/cache';
import { ConfigMap, Namespace, Secret } from 'riata/kinds';
import { Apply, registerGeneratingHandler, setIdentity, setMarks } from 'riata/patterns';
import { memoryLogger, silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { map, names, startApply } from './desired-set-play.js';
import { startPatterns } from './patterns-play.js';
import { describedServer, describeServers, rejection, uniqueName, until } from './servers.js';

/** An owner that nothing needs to be stored of. */
const ownerOf = (namespace: string, name: string) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, uid: `uid-of-${namespace}-${name}` } },
});

/** Two namespaces such that owner `web` in the first and owner `webpro` in the second have one hash. */
async function collidingNamespaces({ client }: TestEnvironment): Promise<readonly [string, string]> {
  const second = uniqueName('dx-');
  const first = `pro${second}`;
  for (const name of [first, second]) await client.create(Namespace({ metadata: { name } }));
  return [first, second];
}

/** As `kubectl get -o yaml`, edited and given to `kubectl create`: everything but what the server fills in. */
async function copyByHand(
  { client }: TestEnvironment,
  from: { readonly namespace: string; readonly name: string },
  to: { readonly namespace: string; readonly name: string },
  { annotations: isWhole }: { readonly annotations: boolean },
): Promise<ConfigMap> {
  const { metadata, data } = await client.get(ConfigMap, from);
  const { labels, annotations } = metadata;
  const copied = { ...to, labels, ...(isWhole && { annotations }) };
  return client.create(ConfigMap({ metadata: copied, data }), { fieldManager: 'kubectl-create' });
}

describeServers('sets whose hashes are the same', (server) => {
  test('a generating handler prunes its own set alone, whatever the owners are called', async () => {
    const { client } = server();
    const [first, second] = await collidingNamespaces(server());
    const web = ownerOf(first, 'web');
    const webpro = ownerOf(second, 'webpro');
    expect(setIdentity({ setId: 'site', owner: web }).hash).toBe(setIdentity({ setId: 'site', owner: webpro }).hash);
    await using play = startPatterns(server(), first, { cacheDefaults: { namespaces: [first, second] } });
    const applier = new Apply(play.client, { runtime: { log: silentLogger } });
    const seen = new Map<string, number>();
    registerGeneratingHandler(play.controllers.for(ConfigMap), applier, { name: 'site' }, ({ metadata, data = {} }) => {
      if (!metadata.name.startsWith('web')) return { objects: [] };
      seen.set(metadata.name, (seen.get(metadata.name) ?? 0) + 1);
      return { objects: Object.keys(data).map((name) => Secret({ metadata: { name } })) };
    });
    await play.controllers.start({ signal: play.signal });
    await client.create(ConfigMap({ metadata: { namespace: first, name: 'web' }, data: { 'of-web': '' } }));
    const { metadata: theirs } = await until('the first is there', () =>
      client.find(Secret, { namespace: first, name: 'of-web' }),
    );
    // The tenant of the second namespace makes an owner with the same hash, changes it, and deletes it.
    const key = { namespace: second, name: 'webpro' };
    await client.create(ConfigMap({ metadata: key, data: { 'of-webpro': '' } }));
    await until('the second is there', () => client.find(Secret, { namespace: second, name: 'of-webpro' }));
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: { 'of-webpro': null, next: '' } } });
    await until('the second has changed', async () => {
      const { items } = await client.list(Secret, { namespace: second });
      return `${names(items.map(({ metadata }) => metadata))}` === 'next';
    });
    await client.delete(ConfigMap, key);
    await until(
      'the second is gone',
      async () => (await client.list(Secret, { namespace: second })).items.length === 0,
    );
    const still = (await client.get(Secret, { namespace: first, name: 'of-web' })).metadata;
    expect([still.uid, still.resourceVersion]).toEqual([theirs.uid, theirs.resourceVersion]);
    expect(seen.get('web')).toBe(1);
  });

  test('plan, release, purge and adoption go by the whole identity, too', async () => {
    const { client } = server();
    const [first, second] = await collidingNamespaces(server());
    const [web, webpro] = [ownerOf(first, 'web'), ownerOf(second, 'webpro')];
    await using play = startApply(server(), { setId: 'site' });
    const { applier } = play;
    await applier.apply([map(first, 'a')], { owner: web });
    expect((await applier.dryRun([], { owner: webpro })).changes).toEqual([]);
    expect((await applier.apply([], { owner: webpro, release: () => true })).released).toEqual([]);
    const refused = await rejection(applier.apply([map(first, 'a')], { owner: webpro, adopt: 'unowned' }));
    expect(refused.message).toContain(`in another set ("site" of ConfigMap ${first}/web)`);
    const planned = await rejection(applier.dryRun([map(first, 'a')], { owner: webpro, adopt: 'unowned' }));
    expect(planned.message).toContain('in another set');
    // Purging goes by the owner that an object names: the other one is there, this one is not.
    await client.create(map(second, 'webpro'));
    await applier.apply([map(second, 'b')], { owner: webpro });
    const purged = await applier.purgeOrphans({ setId: 'site', ownerKind: ConfigMap });
    expect(names(purged.filter(({ namespace }) => namespace === first || namespace === second))).toEqual(['a']);
    expect(await client.find(ConfigMap, { namespace: second, name: 'b' })).toBeDefined();
    await applier.apply([], { owner: webpro });
  });
});

describeServers('copies of a set’s objects that users made by hand', (server) => {
  test('are not pruned, released, counted, purged or planned, with labels alone and with annotations', async () => {
    const { client } = server();
    const [namespace, elsewhere] = [await server().namespace(), await server().namespace()];
    const owner = ownerOf(namespace, 'owner');
    const setId = uniqueName('set-');
    const log = memoryLogger();
    await using play = startApply(server(), { setId, owner, runtime: { log } });
    const { applier } = play;
    const from = { namespace, name: 'a' };
    for (const mode of ['server-side', 'three-way'] as const) {
      await applier.apply([map(namespace, 'a'), map(namespace, 'b')], { mode });
      const copies = [
        await copyByHand(server(), from, { namespace, name: `labels-${mode}` }, { annotations: false }),
        await copyByHand(server(), from, { namespace, name: `whole-${mode}` }, { annotations: true }),
        await copyByHand(server(), from, { namespace: elsewhere, name: 'a' }, { annotations: true }),
      ];
      expect(names((await applier.dryRun([map(namespace, 'a')], { mode })).delete)).toEqual(['b']);
      expect(names((await applier.apply([map(namespace, 'a')], { mode })).deleted)).toEqual(['b']);
      expect(log.records.at(-1)?.fields?.objects).toContain(`ConfigMap ${namespace}/whole-${mode}`);
      expect(names((await applier.apply([], { mode, release: () => true })).released)).toEqual(['a']);
      await applier.apply([map(namespace, 'a')], { mode });
      for (const copy of copies) expect(await applier.purgeOrphan(copy)).toBe(false);
      expect(names(await applier.purgeOrphans({ setId }))).toEqual(['a']);
      for (const { metadata } of copies) {
        const { uid, resourceVersion } = (await client.get(ConfigMap, metadata)).metadata;
        expect([uid, resourceVersion]).toEqual([metadata.uid, metadata.resourceVersion]);
        await client.delete(ConfigMap, metadata);
      }
    }
  });

  test('are distinguished behind a cache, too, which has no managedFields', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const stop = new AbortController();
    await using play = startApply(server());
    await using cache = new Cache(play.client, { runtime: { log: silentLogger } });
    cache.use(ConfigMap, { namespaces: [namespace] });
    void cache.run({ signal: stop.signal });
    await cache.waitForCacheSync();
    const applier = play.applier.with({ setId: uniqueName('set-'), cache });
    await applier.apply([map(namespace, 'a'), map(namespace, 'b')]);
    const to = { namespace, name: 'copy' };
    const copy = await copyByHand(server(), { namespace, name: 'a' }, to, { annotations: true });
    await until('the cache has it', () => cache.find(ConfigMap, to));
    expect(names((await applier.dryRun([map(namespace, 'a')])).delete)).toEqual(['b']);
    expect(names((await applier.apply([map(namespace, 'a')])).deleted)).toEqual(['b']);
    const refused = await rejection(applier.apply([map(namespace, 'copy', { a: '2' })], { adopt: 'none' }));
    expect(refused.message).toContain("adopt is 'none'");
    expect((await client.get(ConfigMap, to)).metadata.resourceVersion).toBe(copy.metadata.resourceVersion);
    expect(names((await applier.apply([])).deleted)).toEqual(['a']);
    // Applied over, it is the set's own.
    await applier.apply([map(namespace, 'copy', { a: '2' })]);
    await until('the cache has that', async () => (await cache.find(ConfigMap, to))?.data?.a === '2');
    expect(names((await applier.apply([])).deleted)).toEqual(['copy']);
    stop.abort();
  });

  test('are taken over where the set has an object of that name, unless adopt says otherwise', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-') });
    const { applier } = play;
    await applier.apply([map(namespace, 'a')]);
    // As a backup is restored: the very same object, written by someone else.
    const { metadata, data } = await client.get(ConfigMap, { namespace, name: 'a' });
    await client.delete(ConfigMap, { namespace, name: 'a' });
    const { labels, annotations } = metadata;
    await client.create(ConfigMap({ metadata: { namespace, name: 'a', labels, annotations }, data }));
    const refused = await rejection(applier.apply([map(namespace, 'a')], { adopt: 'none' }));
    expect(refused.message).toContain('is in no set');
    expect(names((await applier.apply([])).deleted)).toEqual([]);
    expect(names((await applier.apply([map(namespace, 'a')], { adopt: 'unowned' })).created)).toEqual(['a']);
    // A removed annotation does not take it out of the set.
    const body = { metadata: { annotations: { [setMarks.id]: null } } };
    await client.patch(ConfigMap, { namespace, name: 'a' }, { type: 'merge', body });
    await applier.apply([map(namespace, 'a')], { adopt: 'none' });
    expect(names((await applier.apply([])).deleted)).toEqual(['a']);
  });
});

/** Ways to cut one text into an id, an owner's name and its namespace, all with one hash where the owner's kind is fixed. */
const cuts = fc.tuple(fc.constantFrom('abcabc', 'aaaaaa', 'webprodx'), fc.nat(), fc.nat()).map(([text, a, b]) => {
  const at = 1 + (a % (text.length - 1));
  return { setId: `s${b % 2}`, name: text.slice(0, at), namespace: text.slice(at) };
});
const objectNames = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 });
const steps = fc.array(
  fc.record({ owner: cuts, objects: objectNames, mode: fc.constantFrom('server-side' as const, 'three-way' as const) }),
  { minLength: 2, maxLength: 8 },
);
/** More by hand: `RIATA_RUNS=300`. */
const runsOn = { 'in-process': 20, https: 3, 'kube-apiserver': 3 };

describeServers('sets by chance, of owners cut from one text', (server) => {
  const few = runsOn[describedServer()];
  test('no set ever touches another’s objects, nor copies of them', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const namespace = await server().namespace();
        await using play = startApply(server(), { lookup: 'server' });
        const { applier, client } = play;
        /** What each set should hold, by the set. */
        const expected = new Map<string, readonly string[]>();
        /** Objects that belong to no set, with their versions. */
        const copies = new Map<string, string>();
        for (const [index, { owner, objects, mode }] of all.entries()) {
          const set = `${owner.setId}-${owner.name}-${owner.namespace}`;
          const before = await versions();
          const own = new Set([...(expected.get(set) ?? []), ...objects].map((name) => `${set}.${name}`));
          await applier.apply(
            objects.map((name) => map(namespace, `${set}.${name}`, { step: `${index}` })),
            { owner: ownerOf(owner.namespace, owner.name), setId: owner.setId, mode },
          );
          expected.set(set, objects);
          const after = await versions();
          for (const [name, version] of before)
            if (!own.has(name)) expect([name, after.get(name)]).toEqual([name, version]);
          const [first] = objects;
          if (first === undefined) continue;
          const to = { namespace, name: `copy-${index}` };
          await copyByHand(server(), { namespace, name: `${set}.${first}` }, to, { annotations: index % 2 === 0 });
          copies.set(to.name, '');
        }
        const desired = [...expected].flatMap(([set, objects]) => objects.map((name) => `${set}.${name}`));
        expect([...(await versions()).keys()].sort()).toEqual([...desired, ...copies.keys()].sort());
        await client.deleteCollection(ConfigMap, { namespace });

        async function versions(): Promise<Map<string, string>> {
          const { items } = await client.list(ConfigMap, { namespace, labelSelector: setMarks.hash });
          return new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
        }
      }),
      { numRuns: Number(process.env.RIATA_RUNS ?? few) },
    );
  });
});
