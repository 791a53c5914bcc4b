import { TestEnvironment } from '@riata/testing';
import { ConfigMap, Secret } from 'riata/kinds';
import { Apply, registerGeneratingHandler } from 'riata/patterns';
import { silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { recordedApply, startPatterns } from './patterns-play.js';
import { describeServers, testOn, until } from './servers.js';

const hash = 'objectset.rio.cattle.io/hash';

/** A ConfigMap called `owner` becomes a Secret beside it, and one elsewhere if there is an elsewhere. */
async function generating(env: TestEnvironment, namespace: string, elsewhere?: string) {
  const play = startPatterns(env, namespace);
  const applier = recordedApply(play.client, [Secret]);
  const options = { name: 'secrets', allowCrossNamespace: true };
  registerGeneratingHandler(play.controllers.for(ConfigMap), applier, options, ({ metadata: { name } }) => ({
    objects:
      name === 'owner'
        ? [
            Secret({ metadata: { name: 'beside' } }),
            ...(elsewhere ? [Secret({ metadata: { namespace: elsewhere, name: 'elsewhere' } })] : []),
          ]
        : [],
  }));
  await play.controllers.start({ signal: play.signal });
  return play;
}

/** Does the work of garbage collection for an object that is deleted with the policy Orphan, on servers without it. */
async function orphan({ client }: TestEnvironment, key: { namespace: string; name: string }): Promise<void> {
  const child = { namespace: key.namespace, name: 'beside' };
  await client.patch(Secret, child, { type: 'merge', body: { metadata: { ownerReferences: null } } });
  await until('it no longer waits for that', async () => {
    const owner = await client.find(ConfigMap, key);
    const finalizers = owner?.metadata.finalizers?.filter((name) => name !== 'orphan');
    if (owner === undefined || finalizers?.length === owner.metadata.finalizers?.length) return true;
    const body = { metadata: { resourceVersion: owner.metadata.resourceVersion, finalizers } };
    return client.patch(ConfigMap, key, { type: 'merge', body }).then(
      () => true,
      () => false,
    );
  });
}

describeServers('generated objects whose owner is deleted with the policy Orphan', (server) => {
  const label = async (key: { namespace: string; name: string }) =>
    (await server().client.get(Secret, key)).metadata.labels?.[hash];
  const isGone = async (key: { namespace: string; name: string }) =>
    (await server().client.find(ConfigMap, key)) === undefined;

  test('stay, and are in no set any more; an owner of that name takes them back', async () => {
    const { client } = server();
    const [namespace, other] = [await server().namespace(), await server().namespace()];
    const key = { namespace, name: 'owner' };
    const [beside, elsewhere] = [
      { namespace, name: 'beside' },
      { namespace: other, name: 'elsewhere' },
    ];
    await using _play = await generating(server(), namespace, other);
    await client.create(ConfigMap({ metadata: key }));
    await until('both are there', async () => {
      return (await client.find(Secret, beside)) !== undefined && (await client.find(Secret, elsewhere)) !== undefined;
    });
    await client.delete(ConfigMap, key, { propagationPolicy: 'Orphan' });
    await orphan(server(), key);
    await until('the owner is gone', () => isGone(key));
    await until('they are let go', async () => !(await label(beside)) && !(await label(elsewhere)));
    const { uid } = (await client.get(Secret, beside)).metadata;
    await client.create(ConfigMap({ metadata: key }));
    await until('they are taken back', async () => (await label(beside)) && (await label(elsewhere)));
    expect((await client.get(Secret, beside)).metadata).toMatchObject({ uid, ownerReferences: [{ name: 'owner' }] });
    await client.delete(ConfigMap, key);
    await until('they go', async () => (await client.list(Secret, { namespace: other })).items.length === 0);
  });

  test('stay, though the deletion of their owner was not observed, as they have lost their owner reference', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const key = { namespace, name: 'owner' };
    const beside = { namespace, name: 'beside' };
    {
      await using _play = await generating(server(), namespace);
      await client.create(ConfigMap({ metadata: key }));
      await until('it is there', () => client.find(Secret, beside));
    }
    await client.delete(ConfigMap, key, { propagationPolicy: 'Orphan' });
    await orphan(server(), key);
    await until('the owner is gone', () => isGone(key));
    await using play = await generating(server(), namespace);
    play.controllers.for(ConfigMap).enqueue(key);
    await until('it is let go', async () => !(await label(beside)));
    expect((await client.get(Secret, beside)).metadata.deletionTimestamp).toBeUndefined();
  });

  testOn(['in-process'], 'stay beside a garbage collector', async () => {
    await using env = await TestEnvironment.start({ server: 'in-process', time: 'real', log: silentLogger });
    const { client } = env;
    const namespace = 'default';
    const key = { namespace, name: 'owner' };
    await using _play = await generating(env, namespace);
    await client.create(ConfigMap({ metadata: key }));
    await until('it is there', () => client.find(Secret, { namespace, name: 'beside' }));
    await client.delete(ConfigMap, key, { propagationPolicy: 'Orphan' });
    const { metadata } = await until('it is let go', async () => {
      const secret = await client.get(Secret, { namespace, name: 'beside' });
      return secret.metadata.labels?.[hash] === undefined && secret;
    });
    expect(metadata.deletionTimestamp).toBeUndefined();
  });
});

describeServers('release', (server) => {
  test('what a set lets go stays as it is, without its marks; a plan says so', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const secret = (name: string) => Secret({ metadata: { namespace, name, labels: { own: 'yes' } } });
    const options = { setId: namespace, kinds: [Secret], lookup: 'given', runtime: { log: silentLogger } } as const;
    const applier = new Apply(client, options);
    await applier.apply([secret('a'), secret('b'), secret('c')]);
    const release = { release: ({ metadata }: { metadata: { name: string } }) => metadata.name === 'a' };
    const plan = await applier.dryRun([secret('c')], release);
    expect(plan.changes.map(({ action, name }) => `${action} ${name}`)).toEqual([
      ...['unchanged c', 'release a', 'delete b'],
    ]);
    const result = await applier.apply([secret('c')], release);
    expect([result.released, result.deleted].map(([first]) => first?.name)).toEqual(['a', 'b']);
    const { labels, annotations } = (await client.get(Secret, { namespace, name: 'a' })).metadata;
    expect([labels, annotations]).toEqual([{ own: 'yes' }, undefined]);
    await applier.apply([]);
    const { items } = await client.list(Secret, { namespace });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a']);
  });
});
