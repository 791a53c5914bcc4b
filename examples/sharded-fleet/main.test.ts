import { ApiServer } from '@riata/apiserver';
import { createClient, loadConfig, type RestConfig, silentLogger } from 'riata';
import { CustomResourceDefinition, Namespace } from 'riata/kinds';
import { expect, test, vi } from 'vitest';
import { replica, Ship } from './main.js';

/** On the real server in `npm run test:real`, else on the embedded one. */
async function onServer(run: (config: RestConfig) => Promise<void>): Promise<void> {
  if (process.env.RIATA_CONTROL_PLANE !== undefined) return run(await loadConfig());
  await using server = await ApiServer.start();
  await run(server.config);
}

function start(config: RestConfig, namespace: string, identity: string) {
  const manager = replica(config, namespace, identity, silentLogger);
  const stop = new AbortController();
  const running = manager.run(stop);
  return async () => {
    stop.abort();
    await running;
    await manager[Symbol.asyncDispose]();
  };
}

test('replicas share the Ships, and take over those of a replica that leaves', async () => {
  await onServer(async (config) => {
    await using client = createClient(config);
    await client.apply(CustomResourceDefinition(Ship.crd()), { fieldManager: 'test' });
    await vi.waitFor(() => client.list(Ship), 60_000);
    const { metadata } = await client.create(Namespace({ metadata: { generateName: 'fleet-' } }));
    const namespace = metadata.name;
    const names = Array.from({ length: 60 }, (_, index) => `ship-${index}`);
    const pilotsOn = async (course: number) => {
      const { items } = await client.list(Ship, { namespace });
      expect(items.filter(({ status }) => status?.course === course)).toHaveLength(names.length);
      return [...new Set(items.map(({ status }) => status?.pilot))].sort();
    };
    const stopAnna = start(config, namespace, 'anna');
    const stopBea = start(config, namespace, 'bea');
    try {
      expect((await client.list(Ship, { namespace })).items).toEqual([]);
      for (const name of names) await client.create(Ship({ metadata: { namespace, name }, spec: { course: 1 } }));
      await vi.waitFor(() => pilotsOn(1), { timeout: 60_000, interval: 200 });
      // Both have joined by now, in either order.
      let course = 100;
      await vi.waitFor(
        async () => {
          course += 1;
          const turns = names.map((name) =>
            client.patch(Ship, { namespace, name }, { type: 'merge', body: { spec: { course } } }),
          );
          await Promise.all(turns);
          await vi.waitFor(() => pilotsOn(course), { timeout: 60_000, interval: 100 });
          expect(await pilotsOn(course)).toEqual(['anna', 'bea']);
        },
        { timeout: 100_000, interval: 500 },
      );
      await stopAnna();
      const body = { spec: { course: 2 } };
      for (const name of names) await client.patch(Ship, { namespace, name }, { type: 'merge', body });
      await vi.waitFor(async () => expect(await pilotsOn(2)).toEqual(['bea']), { timeout: 60_000, interval: 200 });
    } finally {
      await stopAnna();
      await stopBea();
    }
  });
});
