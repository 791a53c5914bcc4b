import { createClient, findCondition } from 'riata';
import { control, generationChanged } from 'riata/controller';
import { ConfigMap, CustomResourceDefinition, Lease, Namespace } from 'riata/kinds';
import { setOwnerReference } from 'riata/object';
import { isNotFound } from 'riata/rest';
import { systemClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { eventually } from './eventually.js';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget, widgets } from './widget.fixture.js';

test('a controller does its work between two lines of a test', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await env.run(widgets);
  await env.client.create(widget('w', 3));
  await env.settle();
  expect(await env.client.get(ConfigMap, inDefault('w'))).toMatchObject({ data: { size: '3' } });
  const done = await env.client.get(Widget, inDefault('w'));
  expect(findCondition(done.status?.conditions, 'Ready')?.status).toBe('True');
  expect(env.requests.lines({ verb: 'write' })).toEqual(['patch ConfigMap default/w', 'patch Widget default/w/status']);
  await env.expectConverged();
  expect(env.requests.writes).toHaveLength(2);
});

test('the same test makes the same run', async () => {
  const run = async () => {
    await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process', seed: 7 });
    await env.run(widgets);
    for (const name of ['a', 'b', 'c']) await env.client.create(widget(name));
    await env.settle();
    const { items } = await env.client.list(Widget);
    return { items, requests: env.requests.all, now: env.clock.now() };
  };
  expect(await run()).toEqual(await run());
});

test('reset: managers end, and all that was made since is gone', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const before = await env.client.list(ConfigMap);
  const manager = await env.run(widgets);
  const namespace = await env.namespace();
  await env.client.create(widget('w'));
  await env.client.create(
    Widget({ metadata: { namespace, name: 'stuck', finalizers: ['example.com/never'] }, spec: {} }),
  );
  const other = { ...Widget.crd(), metadata: { name: 'gadgets.testing.riata.dev' } };
  const names = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' };
  await env.client.create(CustomResourceDefinition({ ...other, spec: { ...other.spec, names } } as never));
  // By any client.
  await using second = createClient(env.config, { runtime: { clock: env.clock } });
  await second.create(ConfigMap({ metadata: inDefault('by-hand') }));
  await env.settle();
  await env.reset();
  expect(manager.exit).toEqual({ reason: 'stopped', unfinished: [] });
  expect([env.managers, env.requests.all, env.log.records]).toEqual([[], [], []]);
  expect((await env.client.list(Widget)).items).toEqual([]);
  expect((await env.client.list(ConfigMap)).items).toEqual(before.items);
  expect((await env.client.list(CustomResourceDefinition)).items.map(({ spec }) => spec.names.kind)).toEqual([
    'Widget',
  ]);
  expect(await env.client.find(Namespace, { name: namespace })).toBe(undefined);
  // It works as before.
  await env.run(widgets);
  await env.client.create(widget('w'));
  await env.settle();
  expect(env.requests.writes).toHaveLength(2);
});

test('install and keep: what several tests share stays, the rest goes', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  await env.install(Widget);
  const namespace = await env.namespace();
  await env.client.create(widget('shared'));
  env.keep();
  const { spec, ...rest } = Widget.crd();
  const names = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' };
  await env.install({ ...rest, metadata: { name: 'gadgets.testing.riata.dev' }, spec: { ...spec, names } });
  const gadgets = '/apis/testing.riata.dev/v1/namespaces/default/gadgets';
  await using connection = env.connect();
  await connection.client.rest.get().absPath(gadgets).do();
  expect(connection.requests.lines()).toEqual(['list Gadget default']);
  await env.client.create(widget('own'));
  await env.reset();
  expect((await env.client.list(Widget)).items.map(({ metadata }) => metadata.name)).toEqual(['shared']);
  expect(await env.client.find(Namespace, { name: namespace })).toBeDefined();
  await expect(env.client.rest.get().absPath(gadgets).do()).rejects.toSatisfy(isNotFound);
});

test('in real time, and without controllers: no garbage collection, and a reset removes everything all the same', async () => {
  const embedded = { controllers: false };
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process', time: 'real', embedded });
  expect([env.isVirtual, env.clock]).toEqual([false, systemClock]);
  const before = await env.client.list(Namespace);
  const ownMaps = await env.client.list(ConfigMap);
  const namespace = await env.namespace();
  const owner = await env.client.create(widget('owner'));
  const finalizers = ['example.com/never'];
  await env.client.create(setOwnerReference(owner, ConfigMap({ metadata: inDefault('owned') })));
  await env.client.create(ConfigMap({ metadata: { namespace, name: 'stuck', finalizers } }));
  await env.client.delete(Widget, inDefault('owner'));
  await env.server?.idle();
  expect(await env.client.find(ConfigMap, inDefault('owned'))).toBeDefined();
  // One that a test has deleted is waiting for its controller.
  await env.client.delete(Namespace, { name: await env.namespace() });
  const rule = env.faults.failWrite(1);
  await env.run(widgets);
  await env.client.create(widget('w'));
  await env.eventually(() => env.client.get(ConfigMap, inDefault('w')));
  expect(rule.hits).toBe(1);
  await env.reset();
  expect((await env.client.list(Namespace)).items).toEqual(before.items);
  expect((await env.client.list(ConfigMap)).items).toEqual(ownMaps.items);
});

test('eventually: time moves until the condition holds; the last failure is reported', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const polling = control(Widget, { predicates: [generationChanged] }).reconcile(async ({ object, status }) => {
    await status({ size: (object.status?.size ?? 0) + 1 });
    return { requeueAfter: '10s' };
  });
  await env.run(polling);
  await env.client.create(widget('w'));
  const size = await env.eventually(
    async () => {
      const { status } = await env.client.get(Widget, inDefault('w'));
      expect(status?.size).toBeGreaterThanOrEqual(5);
      return status?.size;
    },
    { within: '2m' },
  );
  expect(size).toBe(5);
  await expect(env.eventually(() => false, { within: '1s', what: 'pigs fly' })).rejects.toThrow(
    'eventually pigs fly: not within 1s: it gave false',
  );
});

test('eventually without an environment: in real time', async () => {
  let looks = 0;
  expect(await eventually(() => (++looks < 3 ? false : looks))).toBe(3);
  const failing = () => expect(looks).toBe(4);
  await expect(eventually(failing, { within: '1ms', what: 'it is four' })).rejects.toThrow(
    /^eventually it is four: not within 1ms: .*expected 3 to be 4/,
  );
});

test('several replicas: one leads, and when it crashes another takes over', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const leaderElection = { namespace: 'default', name: 'widgets' };
  const start = (name: string) =>
    env.startManager({ name, run: [widgets], leaderElection: { ...leaderElection, identity: name } });
  const first = await start('first');
  await start('second');
  await env.client.create(widget('a'));
  await env.settle();
  await first.kill();
  expect((await env.client.get(Lease, inDefault('widgets'))).spec?.holderIdentity).toBe('first');
  await env.client.create(widget('b'));
  await env.eventually(() => env.client.get(ConfigMap, inDefault('b')));
  await env.expectConverged();
  const writes = env.requests.select({ verb: 'write', kind: ConfigMap }).map(({ client, object }) => [client, object]);
  expect(writes).toContainEqual(['first', 'ConfigMap default/a']);
  expect(writes).toContainEqual(['second', 'ConfigMap default/b']);
});

test('nothing is started in an environment that has stopped', async () => {
  const env = await TestEnvironment.start({ server: 'in-process' });
  await env.stop();
  await expect(env.run(widgets)).rejects.toThrow('the environment has stopped: start another one');
  await expect(env.runHandlers(() => {})).rejects.toThrow('the environment has stopped');
  expect(() => env.connect()).toThrow('the environment has stopped');
  await env.stop();
});

test('what the variable or option names must be there', async () => {
  await expect(TestEnvironment.start({ server: '/no/such/file' })).rejects.toThrow('got "/no/such/file"');
});

test('controllers come and go, and a name is taken once', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await expect(env.run(widgets, widgets)).rejects.toThrow('controller "widget" already exists');
  const manager = await env.startManager();
  const added = manager.add(widgets);
  await env.client.create(widget('a'));
  await env.expectConverged();
  await added.remove();
  await env.client.create(widget('b'));
  await env.settle();
  expect(env.requests.lines({ verb: 'create' })).toEqual([]);
  expect(env.requests.lines({ verb: 'patch', kind: ConfigMap })).toEqual(['patch ConfigMap default/a']);
  expect(await manager.stop()).toEqual({ reason: 'stopped', unfinished: [] });
  await env.settle();
});
