import { ApiServer } from '@riata/apiserver';
import { TestEnvironment } from '@riata/testing';
import { findCondition, Manager, silentLogger } from 'riata';
import { Deployment, Event } from 'riata/kinds';
import { expect, test } from 'vitest';
import { Foo, foos } from './main.js';
import { play } from './story.js';

test('a Foo gets its Deployment, and its status reports the availability', async () => {
  await using env = await TestEnvironment.start({ kinds: [Foo] });
  await env.run(foos);
  const { client } = env;
  const key = { namespace: await env.namespace(), name: 'web' };
  const made = await client.create(Foo({ metadata: key, spec: { deploymentName: 'web', replicas: 2 } }));
  await env.settle();
  const deployment = await client.get(Deployment, key);
  expect(deployment).toMatchObject({
    metadata: { ownerReferences: [{ kind: 'Foo', name: 'web', uid: made.metadata.uid, controller: true }] },
    spec: { replicas: 2 },
  });
  const before = (await client.get(Foo, key)).status;
  expect(findCondition(before?.conditions, 'Available')?.status).toBe('False');

  // Stands in for the Deployment controller.
  const counts = { replicas: 2, readyReplicas: 2, availableReplicas: 2 };
  await client.status.patch(Deployment, key, { type: 'merge', body: { status: counts } });
  await env.settle();
  const { status } = await client.get(Foo, key);
  expect(status).toMatchObject({ availableReplicas: 2, observedGeneration: 1 });
  expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
  expect(findCondition(status?.conditions, 'Available')).toMatchObject({
    status: 'True',
    message: '2 of 2 replicas are available',
  });

  // A deleted Deployment is restored, with the current size.
  await client.patch(Foo, key, { type: 'merge', body: { spec: { replicas: 3 } } });
  await client.delete(Deployment, key);
  await env.expectConverged();
  const anew = await client.get(Deployment, key);
  expect(anew.metadata.uid).not.toBe(deployment.metadata.uid);
  expect(anew.spec?.replicas).toBe(3);
  await expectEvent(env, key, 'Normal Created');
});

test('a Deployment of another owner is left alone, and the Foo reports it', async () => {
  await using env = await TestEnvironment.start({ kinds: [Foo] });
  await env.run(foos);
  const { client } = env;
  const key = { namespace: await env.namespace(), name: 'taken' };
  const labels = { app: 'other' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'other', image: 'other:1' }] } };
  await client.create(Deployment({ metadata: key, spec: { selector: { matchLabels: labels }, template } }));
  await client.create(Foo({ metadata: key, spec: { deploymentName: 'taken' } }));
  await env.settle();
  const { status } = await client.get(Foo, key);
  expect(findCondition(status?.conditions, 'Ready')).toMatchObject({
    status: 'False',
    message: expect.stringContaining('is not controlled by this Foo'),
  });
  await expectEvent(env, key, 'Warning ErrResourceExists');
  expect((await client.get(Deployment, key)).metadata.ownerReferences).toBeUndefined();
});

/** Waits for the Events that `kubectl describe` shows for a Foo. */
function expectEvent(env: TestEnvironment, key: { readonly namespace: string; readonly name: string }, event: string) {
  const { namespace, name } = key;
  return env.eventually(async () => {
    const fieldSelector = { 'involvedObject.kind': 'Foo', 'involvedObject.name': name };
    const { items } = await env.client.list(Event, { namespace, fieldSelector });
    expect(items.map(({ type, reason }) => `${type} ${reason}`)).toContain(event);
  });
}

test('the demo prints what happens, and why', async () => {
  // Always on the embedded server: it needs the garbage collector, and simulates the Deployments itself.
  await using server = await ApiServer.start();
  await using manager = await Manager.create({ config: server.config, runtime: { log: silentLogger } });
  const stop = new AbortController();
  const running = manager.run({ signal: stop.signal });
  const lines: string[] = [];
  await play(manager, (line) => lines.push(line));
  stop.abort();
  await running;
  const printed = lines.map((line) => line.trim().replace(/, [\d.]+ ms$/, ''));
  expect(printed.filter((line) => !line.startsWith('pretend') && !line.startsWith('foo'))).toEqual([
    'Create a Foo with 2 replicas',
    'now: Foo web, 2 of 2 available',
    'Scale it to 4',
    'now: Foo web, 4 of 4 available',
    'Delete the Deployment: it is restored',
    'now: Foo web, 4 of 4 available',
    'Delete the Foo: its Deployment is garbage-collected',
  ]);
  expect(printed).toContain('foo (for Foo Added): patch Deployment default/web, patch Foo default/web/status');
});
