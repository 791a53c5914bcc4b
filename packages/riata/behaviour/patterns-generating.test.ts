import { TestEnvironment } from '@riata/testing';
import { ClusterRole, ConfigMap, Secret } from 'riata/kinds';
import { isControlledBy } from 'riata/object';
import { registerGeneratingHandler, relatedResource, type SetApplier } from 'riata/patterns';
import { silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { recordedApply, startPatterns } from './patterns-play.js';
import { describeServers, testOn, uniqueName, until } from './servers.js';

/** What a ConfigMap, here the owner, says it becomes: the keys of its data. */
const desiredBy = ({ metadata, data = {} }: ConfigMap) =>
  Object.entries(data).map(([name, of]) =>
    Secret({ metadata: { name: `${metadata.name}-${name}` }, stringData: { of } }),
  );

/** The name distinguishes owners from the ConfigMap that real servers put into every namespace. */
const isOwner = ({ metadata }: ConfigMap) => metadata.name.startsWith('owner');

async function secretsIn({ client }: TestEnvironment, namespace: string): Promise<string[]> {
  const { items } = await client.list(Secret, { namespace });
  return items.map(({ metadata }) => metadata.name).sort();
}

function untilSecrets(server: TestEnvironment, namespace: string, names: readonly string[]): Promise<boolean> {
  return until(`there are ${names.join(', ') || 'none'}`, async () => {
    return `${await secretsIn(server, namespace)}` === `${names}`;
  });
}

describeServers('generating handlers', (server) => {
  test('an object generates others, which follow it and are deleted with it; drift is corrected', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace);
    const { controllers, signal } = play;
    const [maps, secrets] = [controllers.for(ConfigMap), controllers.for(Secret)];
    const applier = recordedApply(play.client, [Secret]);
    registerGeneratingHandler(maps, applier, { name: 'secrets' }, (map) => ({
      objects: isOwner(map) ? desiredBy(map) : [],
    }));
    relatedResource.watch('secrets', relatedResource.ownerResolver(ConfigMap), maps, [secrets], { signal });
    await controllers.start({ signal });
    const key = { namespace, name: 'owner' };
    const owner = await client.create(ConfigMap({ metadata: key, data: { a: '1', b: '2' } }));
    await untilSecrets(server(), namespace, ['owner-a', 'owner-b']);
    const made = await client.get(Secret, { namespace, name: 'owner-a' });
    expect(isControlledBy(made, owner)).toBe(true);
    // Garbage collection does it while no replica runs: no need for a finalizer.
    expect((await client.get(ConfigMap, key)).metadata.finalizers).toBeUndefined();
    await client.delete(Secret, { namespace, name: 'owner-a' });
    await until('it is back', async () => {
      const back = await client.find(Secret, { namespace, name: 'owner-a' });
      return back !== undefined && back.metadata.uid !== made.metadata.uid;
    });
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: { a: null, c: '3' } } });
    await untilSecrets(server(), namespace, ['owner-b', 'owner-c']);
    await client.delete(ConfigMap, key);
    await untilSecrets(server(), namespace, []);
    const written = () =>
      maps.shared.explain.flatMap(({ writes }) => writes.map(({ verb, object }) => `${verb} ${object}`));
    const secret = (verb: string, name: string) => `${verb} Secret ${namespace}/owner-${name}`;
    const expected = [secret('patch', 'a'), secret('patch', 'c'), secret('delete', 'a'), secret('delete', 'c')];
    await until('explain names all', async () => expected.every((write) => written().includes(write)));
  });

  test('a set that crosses namespaces is deleted though its owner was deleted while no replica ran', async () => {
    const { client } = server();
    const [namespace, other] = [await server().namespace(), await server().namespace()];
    const start = async () => {
      const play = startPatterns(server(), namespace);
      const applier = recordedApply(play.client, [Secret]);
      const options = { name: 'secrets', allowCrossNamespace: true };
      registerGeneratingHandler(play.controllers.for(ConfigMap), applier, options, (map) => ({
        objects: isOwner(map)
          ? [...desiredBy(map), Secret({ metadata: { namespace: other, name: `for-${map.metadata.name}` } })]
          : [],
      }));
      await play.controllers.start({ signal: play.signal });
      return play;
    };
    const key = { namespace, name: 'owner' };
    await client.create(ConfigMap({ metadata: { namespace, name: 'bystander' } }));
    await client.create(ConfigMap({ metadata: key, data: { a: '1' } }));
    {
      await using _first = await start();
      await untilSecrets(server(), other, ['for-owner']);
      await untilSecrets(server(), namespace, ['owner-a']);
      const owner = await client.get(ConfigMap, key);
      expect(owner.metadata.finalizers).toEqual(['wrangler.cattle.io/secrets']);
      const bystander = await client.get(ConfigMap, { namespace, name: 'bystander' });
      expect(bystander.metadata.finalizers).toBeUndefined();
      const [here, there] = [
        await client.get(Secret, { namespace, name: 'owner-a' }),
        await client.get(Secret, { namespace: other, name: 'for-owner' }),
      ];
      expect([isControlledBy(here, owner), there.metadata.ownerReferences]).toEqual([true, undefined]);
    }
    await client.delete(ConfigMap, key);
    expect(await secretsIn(server(), other)).toEqual(['for-owner']);
    await using _second = await start();
    await untilSecrets(server(), other, []);
    await untilSecrets(server(), namespace, []);
    await until('the owner is gone', async () => (await client.find(ConfigMap, key)) === undefined);
  });

  testOn(['in-process'], 'a set with owner references goes by garbage collection while nobody is there', async () => {
    await using collecting = await TestEnvironment.start({ server: 'in-process', time: 'real', log: silentLogger });
    const { client } = collecting;
    const namespace = 'default';
    {
      await using play = startPatterns(collecting, namespace);
      const applier = recordedApply(play.client, [Secret]);
      registerGeneratingHandler(play.controllers.for(ConfigMap), applier, { name: 'secrets' }, (map) => ({
        objects: isOwner(map) ? desiredBy(map) : [],
      }));
      await play.controllers.start({ signal: play.signal });
      await client.create(ConfigMap({ metadata: { namespace, name: 'owner' }, data: { a: '1' } }));
      await untilSecrets(collecting, namespace, ['owner-a']);
    }
    await client.delete(ConfigMap, { namespace, name: 'owner' });
    await untilSecrets(collecting, namespace, []);
  });

  test('a finalizer that is not needed any more goes', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const key = { namespace, name: 'owner' };
    await client.create(ConfigMap({ metadata: { ...key, finalizers: ['wrangler.cattle.io/secrets'] } }));
    await using play = startPatterns(server(), namespace);
    const applier = recordedApply(play.client, [Secret]);
    registerGeneratingHandler(play.controllers.for(ConfigMap), applier, { name: 'secrets' }, () => ({ objects: [] }));
    await play.controllers.start({ signal: play.signal });
    await until('it is gone', async () => (await client.get(ConfigMap, key)).metadata.finalizers === undefined);
  });

  test('allowCrossNamespace, allowClusterScoped and ownerReferences mean what they say; rancher#35656: sets of mixed scope', async () => {
    const { client } = server();
    const [namespace, other] = [await server().namespace(), await server().namespace()];
    await using play = startPatterns(server(), namespace);
    const { controllers, signal } = play;
    const maps = controllers.for(ConfigMap);
    const applier = recordedApply(play.client, [Secret, ClusterRole]);
    const role = uniqueName('role-');
    const errors = new Map<string, string>();
    const register = (name: string, options: object, objects: () => Parameters<SetApplier['apply']>[0]) => {
      const reported: SetApplier = { apply: (set, given) => applier.apply(set, given) };
      const handler = (map: ConfigMap) => ({ objects: map.metadata.name === 'owner' ? objects() : [] });
      registerGeneratingHandler(maps, reported, { name, ...options }, handler);
    };
    const elsewhere = () => [Secret({ metadata: { namespace: other, name: 'elsewhere' } })];
    register('refused-namespace', {}, elsewhere);
    register('refused-scope', { allowCrossNamespace: true }, () => [ClusterRole({ metadata: { name: role } })]);
    register('mixed', { allowClusterScoped: true }, () => [
      ClusterRole({ metadata: { name: role } }),
      Secret({ metadata: { name: 'mixed' } }),
    ]);
    register('unowned', { ownerReferences: false }, () => [Secret({ metadata: { name: 'unowned' } })]);
    await client.create(ConfigMap({ metadata: { namespace, name: 'owner' } }));
    await controllers.start({ signal });
    await untilSecrets(server(), namespace, ['mixed', 'unowned']);
    await until('it was refused', async () => {
      for (const { error = '' } of maps.shared.explain) {
        for (const [, name, why] of error.matchAll(/handler (refused-\w+): (.*?set \w+)/g))
          errors.set(name ?? '', why ?? '');
      }
      return errors.size === 2;
    });
    expect(errors.get('refused-namespace')).toContain('in another namespace');
    expect(errors.get('refused-namespace')).toContain('set allowCrossNamespace');
    expect(errors.get('refused-scope')).toContain('set allowClusterScoped');
    expect(await secretsIn(server(), other)).toEqual([]);
    expect((await client.get(ClusterRole, { name: role })).metadata.ownerReferences).toBeUndefined();
    expect((await client.get(Secret, { namespace, name: 'mixed' })).metadata.ownerReferences).toHaveLength(1);
    expect((await client.get(Secret, { namespace, name: 'unowned' })).metadata.ownerReferences).toBeUndefined();
    const { finalizers } = (await client.get(ConfigMap, { namespace, name: 'owner' })).metadata;
    const held = ['mixed', 'unowned'].map((name) => `wrangler.cattle.io/${name}`);
    expect(finalizers?.toSorted()).toEqual(held);
    await client.delete(ConfigMap, { namespace, name: 'owner' });
    await untilSecrets(server(), namespace, []);
    await until('the role is gone', async () => (await client.find(ClusterRole, { name: role })) === undefined);
  });

  test('uniqueApplyForResourceVersion: once for each version; a failed one is tried again', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace);
    const { controllers, signal } = play;
    const maps = controllers.for(ConfigMap);
    const applied: string[] = [];
    let runs = 0;
    let failures = 1;
    const applier: SetApplier = {
      async apply(_, { owner }) {
        if (owner?.metadata.name !== 'owner') return;
        if (failures > 0) {
          failures -= 1;
          throw new Error('not now');
        }
        applied.push(owner.metadata.uid);
      },
    };
    const options = { name: 'once', uniqueApplyForResourceVersion: true };
    registerGeneratingHandler(maps, applier, options, ({ metadata }) => {
      if (metadata.name === 'owner') runs += 1;
      return { objects: [] };
    });
    await controllers.start({ signal });
    const key = { namespace, name: 'owner' };
    const { metadata } = await client.create(ConfigMap({ metadata: key }));
    await until('it is applied', async () => applied.length === 1);
    const before = runs;
    maps.enqueue(key);
    await until('it ran again', async () => runs > before);
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: { a: '1' } } });
    await until('the new version is applied', async () => applied.length === 2);
    await client.delete(ConfigMap, key);
    await until('its end is applied', async () => applied.includes(''));
    expect(applied.filter((uid) => uid !== '')).toEqual([metadata.uid, metadata.uid]);
  });

  test('rancher#41887: what an object that is going has become is not made again', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace);
    const { controllers, signal } = play;
    const maps = controllers.for(ConfigMap);
    const applier = recordedApply(play.client, [Secret]);
    // Another handler keeps the object for a while, and changes it.
    let kept = 3;
    maps.onRemove('keep', async (key, map, ctx) => {
      if (map.metadata.name !== 'owner' || kept === 0) return map;
      // From here on it is known to be going. Until then it may have been looked at any number of times.
      if (kept === 3) applier.sets.length = 0;
      kept -= 1;
      const body = { data: { kept: `${kept}` } };
      await ctx.client.patch({ namespace, name: 'owner' }, { type: 'merge', body });
      throw new Error(`${key} is still needed`);
    });
    const options = { name: 'secrets', ownerReferences: false };
    registerGeneratingHandler(maps, applier, options, (map) => ({ objects: isOwner(map) ? desiredBy(map) : [] }));
    await controllers.start({ signal });
    const key = { namespace, name: 'owner' };
    await client.create(ConfigMap({ metadata: key, data: { a: '1' } }));
    await untilSecrets(server(), namespace, ['owner-a']);
    await client.delete(ConfigMap, key);
    await until('it is gone', async () => (await client.find(ConfigMap, key)) === undefined);
    await until('its end was told', async () => applier.sets.filter((set) => set.startsWith('owner')).length >= 2);
    // Empty ones alone, however often.
    expect(new Set(applier.sets.filter((set) => set.startsWith('owner')))).toEqual(new Set(['owner']));
    expect(await secretsIn(server(), namespace)).toEqual([]);
  });
});
