import { ApiServer } from '@riata/apiserver';
import { isNotFound, loadConfig, Manager, type RestConfig, silentLogger } from 'riata';
import { ConfigMap, CustomResourceDefinition, Namespace } from 'riata/kinds';
import { expect, test, vi } from 'vitest';
import { cache, SharedSettings, sharedSettings } from './main.js';

/** On the real server where there is one (`npm run test:real`), else on the embedded one. */
async function onServer(run: (config: RestConfig) => Promise<void>): Promise<void> {
  if (process.env.RIATA_CONTROL_PLANE !== undefined) return run(await loadConfig());
  await using server = await ApiServer.start();
  await run(server.config);
}

test('every namespace has the settings, until they are deleted', async () => {
  await onServer(async (config) => {
    await using manager = await Manager.create({ config, cache, runtime: { log: silentLogger } });
    manager.add(sharedSettings);
    const { client, apiReader } = manager;
    const newNamespace = async () =>
      (await client.create(Namespace({ metadata: { generateName: 'my-kind-' } }))).metadata.name;
    const [home, other] = [await newNamespace(), await newNamespace()];
    await client.apply(CustomResourceDefinition(SharedSettings.crd()), { fieldManager: 'test' });
    const stop = new AbortController();
    const running = manager.run({ signal: stop.signal });
    const key = { namespace: home, name: 'house-rules' };
    const copyIn = (namespace: string) => apiReader.get(ConfigMap, { namespace, name: `${home}.house-rules` });
    const copied = async (namespace: string, data: Record<string, string>) =>
      vi.waitFor(async () => expect((await copyIn(namespace)).data).toEqual(data), 20_000);

    await vi.waitFor(() => apiReader.list(SharedSettings), 20_000);
    await client.create(SharedSettings({ metadata: key, spec: { data: { quiet: '22:00' } } }));
    for (const namespace of [home, other]) await copied(namespace, { quiet: '22:00' });

    // Later ones, changed ones, and those that somebody spoils.
    const late = await newNamespace();
    await copied(late, { quiet: '22:00' });
    await client.patch(SharedSettings, key, { type: 'merge', body: { spec: { data: { quiet: '23:00' } } } });
    await copied(other, { quiet: '23:00' });
    const name = `${home}.house-rules`;
    await client.patch(ConfigMap, { namespace: other, name }, { type: 'merge', body: { data: { quiet: 'never' } } });
    await copied(other, { quiet: '23:00' });
    await client.delete(ConfigMap, { namespace: late, name });
    await copied(late, { quiet: '23:00' });
    await vi.waitFor(async () => {
      const { items } = await apiReader.list(Namespace);
      const { status } = await apiReader.get(SharedSettings, key);
      expect(status?.copies).toBe(items.filter((namespace) => namespace.status?.phase !== 'Terminating').length);
    }, 20_000);

    await client.delete(SharedSettings, key);
    await vi.waitFor(() => expect(apiReader.get(SharedSettings, key)).rejects.toSatisfy(isNotFound), 20_000);
    for (const namespace of [home, other, late]) await expect(copyIn(namespace)).rejects.toSatisfy(isNotFound);
    stop.abort();
    expect(await running).toEqual({ reason: 'stopped', unfinished: [] });
  });
});
