import { TestEnvironment } from '@riata/testing';
import { type Client, edit, isConditionTrue, type KindRef } from 'riata';
import { ConfigMap, Deployment, HorizontalPodAutoscaler, Service } from 'riata/kinds';
import { Controllers } from 'riata/patterns';
import { expect, test } from 'vitest';
import { App } from './app.js';
import { runApps } from './main.js';

type Key = { readonly namespace: string; readonly name: string };

/** With the kind, and a namespace: in this process, on a virtual clock; on the real server in `npm run test:real`. */
async function start() {
  const env = await TestEnvironment.start({ kinds: [App] });
  const key = { namespace: await env.namespace('app-platform'), name: 'shop' };
  const cache = { namespaces: [key.namespace] };
  const platform = () =>
    env.runHandlers((factory, { signal }) => runApps(new Controllers(factory), { signal }), { cache });
  return { env, key, platform };
}

const kinds: readonly KindRef[] = [ConfigMap, Deployment, HorizontalPodAutoscaler, Service];

/** The kinds that have an object of this name. */
async function partsOf(client: Client, key: Key): Promise<string[]> {
  const found = await Promise.all(kinds.map((kind) => client.find(kind, key)));
  return kinds.filter((_, index) => found[index] !== undefined).map(({ kind }) => kind);
}

test('an App gets its objects, reports its state, and takes them along when it is deleted', async () => {
  const { env, key, platform } = await start();
  await using _env = env;
  const { client } = env;
  const change = (spec: object) => client.patch(App, key, { type: 'merge', body: { spec } });
  const status = async () => (await client.get(App, key)).status;
  const settings = { CURRENCY: 'EUR' };
  {
    await using _platform = await platform();
    await client.create(App({ metadata: key, spec: { image: 'shop:1', replicas: 2, settings } }));
    await env.settle();
    expect(await partsOf(client, key)).toEqual(['ConfigMap', 'Deployment', 'Service']);
    expect(await status()).toMatchObject({ state: 'in-progress', replicas: 0 });
    expect(isConditionTrue((await status())?.conditions, 'Deployed')).toBe(true);

    // No kubelet here: the test reports the Pods as available.
    const deployment = await client.get(Deployment, key);
    const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
    const condition = (type: string, reason: string) => ({ type, status: 'True', reason, message: '' });
    const conditions = [condition('Progressing', 'NewReplicaSetAvailable'), condition('Available', 'Enough')];
    const observedGeneration = deployment.metadata.generation;
    await client.status.update({ ...deployment, status: { ...counts, conditions, observedGeneration } });
    await env.settle();
    expect(await status()).toMatchObject({ state: 'active', replicas: 2 });

    // New settings replace the Pods; maxReplicas hands the number of replicas to the autoscaler.
    const before = deployment.spec.template.metadata?.annotations;
    await change({ maxReplicas: 5, settings: { CURRENCY: 'USD' } });
    await env.settle();
    expect(await partsOf(client, key)).toContain('HorizontalPodAutoscaler');
    expect((await client.get(ConfigMap, key)).data).toEqual({ CURRENCY: 'USD' });
    expect((await client.get(Deployment, key)).spec.template.metadata?.annotations).not.toEqual(before);

    // Drift is corrected.
    await client.delete(Service, key);
    await client.update(
      edit(await client.get(ConfigMap, key), (draft) => {
        draft.data = { CURRENCY: 'none' };
      }),
    );
    await env.settle();
    expect(await partsOf(client, key)).toHaveLength(4);
    expect((await client.get(ConfigMap, key)).data).toEqual({ CURRENCY: 'USD' });
    await env.expectConverged();
  }

  // A change while the platform is down is handled after its restart.
  await change({ maxReplicas: null });
  await using _platform = await platform();
  await env.settle();
  expect(await partsOf(client, key)).toEqual(['ConfigMap', 'Deployment', 'Service']);
  await client.delete(App, key);
  await env.settle();
  expect(await partsOf(client, key)).toEqual([]);
});

test('an App that cannot be deployed reports why', async () => {
  const { env, key, platform } = await start();
  await using _env = env;
  await using _platform = await platform();
  // Not a valid key of a ConfigMap.
  await env.client.create(App({ metadata: key, spec: { image: 'shop:1', settings: { 'no good key': '' } } }));
  await env.settle();
  const { status } = await env.client.get(App, key);
  const message = expect.stringContaining('no good key');
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Deployed', status: 'False', reason: 'Error', message }),
  );
});
