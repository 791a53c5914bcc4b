import { TestEnvironment } from '@riata/testing';
import { isNotFound } from 'riata';
import { ConfigMap, Namespace } from 'riata/kinds';
import { expect, test } from 'vitest';
import { cache, SharedSettings, sharedSettings } from './main.js';

test('every namespace has the settings, until they are deleted', async () => {
  await using env = await TestEnvironment.start({ kinds: [SharedSettings] });
  await env.startManager({ run: [sharedSettings], cache });
  const { client } = env;
  const [home, other] = [await env.namespace(), await env.namespace()];
  const key = { namespace: home, name: 'house-rules' };
  const name = `${home}.house-rules`;
  const copyIn = async (namespace: string) => (await client.get(ConfigMap, { namespace, name })).data;

  await client.create(SharedSettings({ metadata: key, spec: { data: { quiet: '22:00' } } }));
  await env.settle();
  for (const namespace of [home, other]) expect(await copyIn(namespace)).toEqual({ quiet: '22:00' });

  // A new namespace, and a change of the data.
  const late = await env.namespace();
  await client.patch(SharedSettings, key, { type: 'merge', body: { spec: { data: { quiet: '23:00' } } } });
  await env.settle();
  for (const namespace of [home, other, late]) expect(await copyIn(namespace)).toEqual({ quiet: '23:00' });

  // Drift is corrected.
  await client.patch(ConfigMap, { namespace: other, name }, { type: 'merge', body: { data: { quiet: 'never' } } });
  await client.delete(ConfigMap, { namespace: late, name });
  await env.expectConverged();
  for (const namespace of [home, other, late]) expect(await copyIn(namespace)).toEqual({ quiet: '23:00' });
  const { items } = await client.list(Namespace);
  const active = items.filter(({ status }) => status?.phase !== 'Terminating');
  expect((await client.get(SharedSettings, key)).status?.copies).toBe(active.length);

  await client.delete(SharedSettings, key);
  await env.settle();
  await expect(client.get(SharedSettings, key)).rejects.toSatisfy(isNotFound);
  for (const namespace of [home, other, late]) await expect(copyIn(namespace)).rejects.toSatisfy(isNotFound);
});

test('the cache holds the copies, and no other ConfigMap', async () => {
  await using env = await TestEnvironment.start({ kinds: [SharedSettings] });
  const { manager } = await env.startManager({ run: [sharedSettings], cache });
  const namespace = await env.namespace();
  await env.client.create(ConfigMap({ metadata: { namespace, name: 'mine' }, data: { a: '1' } }));
  await env.client.create(SharedSettings({ metadata: { namespace, name: 'ours' }, spec: { data: { b: '2' } } }));
  await env.settle();
  const { items } = await manager.cache.list(ConfigMap, { namespace });
  expect(items.map(({ metadata }) => metadata.name)).toEqual([`${namespace}.ours`]);
});
