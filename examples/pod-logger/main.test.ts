import { TestEnvironment } from '@riata/testing';
import { Pod } from 'riata/kinds';
import { memoryLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { logPods } from './main.js';

test('each Pod is logged once when it is scheduled, and when it is deleted', async () => {
  // In this process, on a virtual clock; on the real server in `npm run test:real`.
  await using env = await TestEnvironment.start();
  const { client } = env;
  const namespace = await env.namespace('pod-logger');
  const spec = { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'main:1' }] };
  const create = (name: string, nodeName?: string) =>
    client.create(Pod({ metadata: { namespace, name }, spec: { ...spec, nodeName } }));

  await create('early', 'node-1');
  const log = memoryLogger();
  const stop = new AbortController();
  const logging = logPods(client, { log, signal: stop.signal });
  // Other tests may have Pods on the same server.
  const logged = () =>
    log.records
      .filter(({ fields }) => String(fields.pod).startsWith(`${namespace}/`))
      .map(({ message, fields }) => [message, String(fields.pod).split('/')[1], fields.node].join(' ').trim());
  await env.eventually(() => expect(logged()).toEqual(['scheduled early node-1']));

  await create('late');
  const target = { apiVersion: 'v1', kind: 'Node', name: 'node-2' };
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name: 'late' }, target };
  await client.subresource('binding').create(Pod, { namespace, name: 'late' }, binding);
  await env.eventually(() => expect(logged()).toContain('scheduled late node-2'));

  // A change of anything but the node is not logged.
  const labels = { metadata: { labels: { seen: 'yes' } } };
  await client.patch(Pod, { namespace, name: 'late' }, { type: 'merge', body: labels });
  await client.delete(Pod, { namespace, name: 'early' }, { gracePeriodSeconds: 0 });
  await env.eventually(() => expect(logged()).toContain('deleted early'));
  stop.abort();
  await logging;
  expect(logged()).toEqual(['scheduled early node-1', 'scheduled late node-2', 'deleted early']);
});

test('it ends when it is aborted before it starts', async () => {
  await using env = await TestEnvironment.start();
  const log = memoryLogger();
  await logPods(env.client, { log, signal: AbortSignal.abort() });
  expect(log.messages('info')).toEqual([]);
});
