import { ApiServer } from '@riata/apiserver';
import { createClient, loadConfig, type RestConfig } from 'riata';
import { Namespace, Pod } from 'riata/kinds';
import { memoryLogger } from 'riata/runtime';
import { expect, test, vi } from 'vitest';
import { logPods } from './main.js';

/** On the real server where there is one (`npm run test:real`), else on the embedded one. */
async function onServer(run: (config: RestConfig) => Promise<void>): Promise<void> {
  if (process.env.RIATA_CONTROL_PLANE !== undefined) return run(await loadConfig());
  await using server = await ApiServer.start();
  await run(server.config);
}

test('each Pod is logged once it has a node, and when it is gone', async () => {
  await onServer(async (config) => {
    await using client = createClient(config);
    const { metadata } = await client.create(Namespace({ metadata: { generateName: 'pod-logger-' } }));
    const namespace = metadata.name;
    const spec = { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'main:1' }] };
    const create = (name: string, nodeName?: string) =>
      client.create(Pod({ metadata: { namespace, name }, spec: { ...spec, nodeName } }));

    await create('early', 'node-1');
    const log = memoryLogger();
    const stop = new AbortController();
    const logging = logPods(client, { log, signal: stop.signal });
    // Others may have Pods on the same server.
    const logged = () =>
      log.records
        .filter(({ fields }) => String(fields.pod).startsWith(`${namespace}/`))
        .map(({ message, fields }) => [message, String(fields.pod).split('/')[1], fields.node].join(' ').trim());
    await vi.waitFor(() => expect(logged()).toEqual(['scheduled early node-1']), 20_000);

    await create('late');
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node-2' };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name: 'late' }, target };
    await client.subresource('binding').create(Pod, { namespace, name: 'late' }, binding);
    await vi.waitFor(() => expect(logged()).toContain('scheduled late node-2'), 20_000);

    // A change that is not about the node says nothing new.
    const labels = { metadata: { labels: { seen: 'yes' } } };
    await client.patch(Pod, { namespace, name: 'late' }, { type: 'merge', body: labels });
    await client.delete(Pod, { namespace, name: 'early' }, { gracePeriodSeconds: 0 });
    await vi.waitFor(() => expect(logged()).toContain('gone early'), 20_000);
    stop.abort();
    await logging;
    expect(logged()).toEqual(['scheduled early node-1', 'scheduled late node-2', 'gone early']);
    await client.delete(Pod, { namespace, name: 'late' }, { gracePeriodSeconds: 0 });
  });
});

test('stopped before it began, it ends', async () => {
  await onServer(async (config) => {
    await using client = createClient(config);
    const log = memoryLogger();
    await logPods(client, { log, signal: AbortSignal.abort() });
    expect(log.messages('info')).toEqual([]);
  });
});
