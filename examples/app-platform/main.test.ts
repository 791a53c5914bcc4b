import { ApiServer } from '@riata/apiserver';
import {
  type Client,
  createClient,
  edit,
  isConditionTrue,
  type KindRef,
  loadConfig,
  type RestConfig,
  silentLogger,
} from 'riata';
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  HorizontalPodAutoscaler,
  Namespace,
  Service,
} from 'riata/kinds';
import { Controllers } from 'riata/patterns';
import { expect, test, vi } from 'vitest';
import { App } from './app.js';
import { runApps } from './main.js';

type Key = { readonly namespace: string; readonly name: string };

/** On the real server where there is one (`npm run test:real`), else on the embedded one; with the kind, and a namespace. */
async function onServer(run: (config: RestConfig, client: Client, key: Key) => Promise<void>): Promise<void> {
  const isReal = process.env.RIATA_CONTROL_PLANE !== undefined;
  await using server = isReal ? undefined : await ApiServer.start();
  const config = server?.config ?? (await loadConfig());
  await using client = createClient(config);
  await client.apply(CustomResourceDefinition(App.crd()), { fieldManager: 'test' });
  await soon(async () => void (await client.list(App)));
  const { metadata } = await client.create(Namespace({ metadata: { generateName: 'app-platform-' } }));
  await run(config, client, { namespace: metadata.name, name: 'shop' });
}

/** Runs the platform while `run` runs. */
async function platform(config: RestConfig, namespace: string, run: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const cacheDefaults = { namespaces: [namespace] };
  await using controllers = await Controllers.fromConfig(config, { cacheDefaults, runtime: { log: silentLogger } });
  runApps(controllers, stop);
  const running = controllers.run(stop);
  try {
    await run();
  } finally {
    stop.abort();
    await running;
  }
}

const kinds: readonly KindRef[] = [ConfigMap, Deployment, HorizontalPodAutoscaler, Service];

/** Which kinds there is an object of the name of. */
async function partsOf(client: Client, key: Key): Promise<string[]> {
  const found = await Promise.all(kinds.map((kind) => client.find(kind, key)));
  return kinds.filter((_, index) => found[index] !== undefined).map(({ kind }) => kind);
}

const soon = (expectation: () => Promise<void>) => vi.waitFor(expectation, 20_000);

test('an App becomes what it needs, tells how it is, and takes all of it along', async () => {
  await onServer(async (config, client, key) => {
    const change = (spec: object) => client.patch(App, key, { type: 'merge', body: { spec } });
    const statusOf = async () => (await client.get(App, key)).status;

    await platform(config, key.namespace, async () => {
      const settings = { CURRENCY: 'EUR' };
      await client.create(App({ metadata: key, spec: { image: 'shop:1', replicas: 2, settings } }));
      await soon(async () => expect(await partsOf(client, key)).toEqual(['ConfigMap', 'Deployment', 'Service']));
      await soon(async () => expect(await statusOf()).toMatchObject({ state: 'in-progress', replicas: 0 }));
      await soon(async () => expect(isConditionTrue((await statusOf())?.conditions, 'Deployed')).toBe(true));

      // Pods come up; here it is us who says so.
      const deployment = await client.get(Deployment, key);
      const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
      const condition = (type: string, reason: string) => ({ type, status: 'True', reason, message: '' });
      const conditions = [condition('Progressing', 'NewReplicaSetAvailable'), condition('Available', 'Enough')];
      const observedGeneration = deployment.metadata.generation;
      await client.status.update({
        ...deployment,
        status: { ...counts, conditions, observedGeneration },
      } as Deployment);
      await soon(async () => expect(await statusOf()).toMatchObject({ state: 'active', replicas: 2 }));

      // It may grow, with other settings: that starts new Pods, and the autoscaler has the say on their number.
      const before = (await client.get(Deployment, key)).spec?.template.metadata?.annotations;
      await change({ maxReplicas: 5, settings: { CURRENCY: 'USD' } });
      await soon(async () => expect(await partsOf(client, key)).toContain('HorizontalPodAutoscaler'));
      await soon(async () => expect((await client.get(ConfigMap, key)).data).toEqual({ CURRENCY: 'USD' }));
      await soon(async () => {
        expect((await client.get(Deployment, key)).spec?.template.metadata?.annotations).not.toEqual(before);
      });

      // What somebody spoils is mended.
      await client.delete(Service, key);
      await client.update(
        edit(await client.get(ConfigMap, key), (draft) => {
          draft.data = { CURRENCY: 'none' };
        }),
      );
      await soon(async () => expect(await partsOf(client, key)).toHaveLength(4));
      await soon(async () => expect((await client.get(ConfigMap, key)).data).toEqual({ CURRENCY: 'USD' }));
    });

    // While the platform is not there: it goes on from what it finds.
    await change({ maxReplicas: null });
    await platform(config, key.namespace, async () => {
      await soon(async () => expect(await partsOf(client, key)).toEqual(['ConfigMap', 'Deployment', 'Service']));
      await client.delete(App, key);
      await soon(async () => expect(await partsOf(client, key)).toEqual([]));
    });
  });
});

test('an App that cannot be deployed says why', async () => {
  await onServer(async (config, client, key) => {
    await platform(config, key.namespace, async () => {
      // No environment variable can be called so, and no key of a ConfigMap either.
      await client.create(App({ metadata: key, spec: { image: 'shop:1', settings: { 'no good key': '' } } }));
      await soon(async () => {
        const { status } = await client.get(App, key);
        const deployed = status?.conditions?.find(({ type }) => type === 'Deployed');
        expect(deployed).toMatchObject({
          status: 'False',
          reason: 'Error',
          message: expect.stringContaining('no good key'),
        });
      });
      await client.delete(App, key);
    });
  });
});
