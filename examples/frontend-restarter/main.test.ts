import { TestEnvironment } from '@riata/testing';
import type { Client } from 'riata';
import { ConfigMap, Pod } from 'riata/kinds';
import { expect, test } from 'vitest';
import { restartFrontends } from './main.js';

test('a change restarts the frontend, a restart of the program does not, and nothing is missed', async () => {
  // In this process, on a virtual clock; on the real server in `npm run test:real`.
  await using env = await TestEnvironment.start();
  const { client } = env;
  const namespace = await env.namespace('frontend-restarter');
  const key = { namespace, name: 'frontend' };
  const change = (color: string) => client.patch(ConfigMap, key, { type: 'merge', body: { data: { color } } });
  /** Starts the program, and waits until it has nothing left to do. */
  const start = async () => {
    const cache = { namespaces: [namespace] };
    const program = await env.runHandlers((factory, { signal }) => restartFrontends(factory, key, { signal }), {
      cache,
    });
    await env.settle();
    return program;
  };
  await client.create(ConfigMap({ metadata: key, data: { color: 'red' } }));
  await startPod(client, namespace, 'web', 'frontend');
  await startPod(client, namespace, 'db', 'backend');

  {
    await using _program = await start();
    expect(await podsOf(client, namespace)).toEqual(['db', 'web']);
    await change('blue');
    await env.settle();
    expect(await podsOf(client, namespace)).toEqual(['db']);
    await env.expectConverged();
  }

  // The Deployment has replaced it, and nothing has changed since.
  await startPod(client, namespace, 'web', 'frontend');
  {
    await using _program = await start();
    expect(await podsOf(client, namespace)).toEqual(['db', 'web']);
  }

  // While the program is down, a label of the ConfigMap changes, and then its data.
  await client.patch(ConfigMap, key, { type: 'merge', body: { metadata: { labels: { seen: 'yes' } } } });
  {
    await using _program = await start();
    expect(await podsOf(client, namespace)).toEqual(['db', 'web']);
  }
  await change('green');
  {
    await using _program = await start();
    expect(await podsOf(client, namespace)).toEqual(['db']);
  }
});

async function startPod(client: Client, namespace: string, name: string, app: string): Promise<void> {
  const spec = { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'main:1' }] };
  await client.create(Pod({ metadata: { namespace, name, labels: { app } }, spec }));
}

async function podsOf(client: Client, namespace: string): Promise<string[]> {
  return (await client.list(Pod, { namespace })).items.map(({ metadata }) => metadata.name).sort();
}
