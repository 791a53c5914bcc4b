import { readFile } from 'node:fs/promises';
import { ApiServer } from '@riata/apiserver';
import { type Client, findCondition, loadConfig, Manager, type RestConfig, silentLogger } from 'riata';
import { CustomResourceDefinition, Deployment, Event, Namespace } from 'riata/kinds';
import { expect, test, vi } from 'vitest';
import { Foo, foos } from './main.js';
import { play } from './story.js';

/** On the real server where there is one (`npm run test:real`), else on the embedded one. */
async function onServer(run: (config: RestConfig) => Promise<void>): Promise<void> {
  if (process.env.RIATA_CONTROL_PLANE !== undefined) return run(await loadConfig());
  await using server = await ApiServer.start();
  await run(server.config);
}

/** Runs the controller in a manager while `run` runs, in a namespace of its own. */
async function withController(
  run: (parts: { readonly client: Client; readonly namespace: string; readonly manager: Manager }) => Promise<void>,
): Promise<void> {
  await onServer(async (config) => {
    await using manager = await Manager.create({ config, runtime: { log: silentLogger } });
    manager.add(foos);
    const { client } = manager;
    const crd = CustomResourceDefinition(Foo.crd());
    await client.apply(crd, { fieldManager: 'test' });
    const { metadata } = await client.create(Namespace({ metadata: { generateName: 'sample-controller-' } }));
    const stop = new AbortController();
    const running = manager.run({ signal: stop.signal });
    try {
      await vi.waitFor(() => manager.apiReader.list(Foo), 20_000);
      await run({ client, namespace: metadata.name, manager });
    } finally {
      stop.abort();
      expect(await running).toEqual({ reason: 'stopped', unfinished: [] });
    }
  });
}

/** What `kubectl describe` would show of a Foo, as soon as there is something. */
async function eventsOf(manager: Manager, { namespace, name }: { readonly namespace: string; readonly name: string }) {
  return vi.waitFor(async () => {
    const fieldSelector = { 'involvedObject.kind': 'Foo', 'involvedObject.name': name };
    const { items } = await manager.apiReader.list(Event, { namespace, fieldSelector });
    expect(items.length).toBeGreaterThan(0);
    return items.map(({ type, reason }) => `${type} ${reason}`);
  }, 20_000);
}

test('a Foo gets its Deployment, and is told how that is doing', async () => {
  await withController(async ({ client, namespace, manager }) => {
    const key = { namespace, name: 'web' };
    const spec = { deploymentName: 'web', replicas: 2 };
    const made = await client.create(Foo({ metadata: key, spec }));
    const deployment = await vi.waitFor(() => manager.apiReader.get(Deployment, key), 20_000);
    expect(deployment).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Foo', name: 'web', uid: made.metadata.uid, controller: true }] },
      spec: { replicas: 2 },
    });

    // What the Deployment's own controller would say.
    const counts = { replicas: 2, readyReplicas: 2, availableReplicas: 2 };
    await client.status.patch(Deployment, key, { type: 'merge', body: { status: counts } });
    const foo = await vi.waitFor(async () => {
      const read = await manager.apiReader.get(Foo, key);
      expect(read.status?.availableReplicas).toBe(2);
      return read;
    }, 20_000);
    expect(foo.status).toMatchObject({ observedGeneration: foo.metadata.generation });
    expect(findCondition(foo.status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
    expect(findCondition(foo.status?.conditions, 'Available')).toMatchObject({
      status: 'True',
      message: '2 of 2 replicas are available',
    });

    // Somebody takes it away: it comes back, with the size that is wanted by then.
    await client.patch(Foo, key, { type: 'merge', body: { spec: { replicas: 3 } } });
    await client.delete(Deployment, key);
    await vi.waitFor(async () => {
      const anew = await manager.apiReader.get(Deployment, key);
      expect(anew.metadata.uid).not.toBe(deployment.metadata.uid);
      expect(anew.spec?.replicas).toBe(3);
    }, 20_000);
    expect(await eventsOf(manager, key)).toContain('Normal Created');
  });
});

test('a Deployment that belongs to somebody else is left alone, and the Foo says so', async () => {
  await withController(async ({ client, namespace, manager }) => {
    const key = { namespace, name: 'taken' };
    const labels = { app: 'other' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'other', image: 'other:1' }] } };
    await client.create(Deployment({ metadata: key, spec: { selector: { matchLabels: labels }, template } }));
    await client.create(Foo({ metadata: key, spec: { deploymentName: 'taken' } }));
    await vi.waitFor(async () => {
      const { status } = await manager.apiReader.get(Foo, key);
      expect(findCondition(status?.conditions, 'Ready')).toMatchObject({
        status: 'False',
        message: expect.stringContaining('belongs to somebody else'),
      });
    }, 20_000);
    expect(await eventsOf(manager, key)).toContain('Warning ErrResourceExists');
    const untouched = await manager.apiReader.get(Deployment, key);
    expect(untouched.metadata.ownerReferences).toBeUndefined();
  });
});

test('the demo tells what happens, and why', async () => {
  // It needs the garbage collector, and plays the Deployments itself: an embedded server, whatever the others run on.
  await using server = await ApiServer.start();
  await using manager = await Manager.create({ config: server.config, runtime: { log: silentLogger } });
  const stop = new AbortController();
  const running = manager.run({ signal: stop.signal });
  const lines: string[] = [];
  await play(manager, (line) => lines.push(line));
  stop.abort();
  await running;
  const told = lines.map((line) => line.trim().replace(/, [\d.]+ ms$/, ''));
  expect(told.filter((line) => !line.startsWith('pretend') && !line.startsWith('foo'))).toEqual([
    'A Foo is created that wants 2 replicas',
    'now: Foo web, 2 of 2 available',
    'Now it wants 4',
    'now: Foo web, 4 of 4 available',
    'Somebody deletes the Deployment',
    'now: Foo web, 4 of 4 available',
    'The Foo is deleted: what it owns goes with it',
  ]);
  expect(told).toContain('foo (for Foo Added): patch Deployment default/web, patch Foo default/web/status');
});

test('the README shows the code that is checked here', async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');
  expect(await read('../../README.md')).toContain(`\`\`\`ts\n${await read('glance.ts')}\`\`\`\n`);
});
