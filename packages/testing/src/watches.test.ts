import { controllerOf, type KindRef, type KubeObject } from 'riata';
import { control, type Enqueue, enqueueRequestForOwner, handlerFuncs, kindSource } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

const map = (name: string, data: Record<string, string> = {}) => ConfigMap({ metadata: inDefault(name), data });

test('a handler says of a change, old and new, what it leads to, when, and how urgent that is', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const enqueueOwner = ({ data = {} }: ConfigMap, enqueue: Enqueue, options?: Parameters<Enqueue>[1]) => {
    if (data.widget !== undefined) enqueue(inDefault(data.widget), options);
  };
  const handler = handlerFuncs<ConfigMap>({
    create: (now, enqueue) => enqueueOwner(now, enqueue, { after: '10m' }),
    update: (old, now, enqueue) => {
      if (old.data?.colour !== now.data?.colour) enqueueOwner(now, enqueue, { priority: 7 });
    },
  });
  const ran: [minute: number, name: string, priority: number][] = [];
  const started = env.clock.monotonic();
  const widgets = control(Widget)
    .watches(ConfigMap, { handler })
    .reconcile(({ key, priority, clock, reasons }) => {
      if (reasons.some(({ source }) => source === 'watches ConfigMap')) {
        ran.push([Math.floor((clock.monotonic() - started) / 60_000), key.name, priority]);
      }
    });
  await env.client.create(widget('a'));
  const manager = await env.run(widgets);
  await env.settle();
  await env.client.create(map('m', { widget: 'a', colour: 'red' }));
  await env.settle();
  expect(ran).toEqual([]);
  await env.settle({ horizon: '11m' });
  expect(ran).toEqual([[10, 'a', 0]]);
  expect(manager.explain.at(-1)).toMatchObject({ queuedMs: 0, reasons: [{ object: 'ConfigMap default/m' }] });
  for (const data of [{ size: '3' }, { colour: 'blue' }]) {
    await env.client.patch(ConfigMap, inDefault('m'), { type: 'merge', body: { data } });
    await env.settle();
  }
  await env.client.delete(ConfigMap, inDefault('m'));
  await env.settle();
  expect(ran.slice(1)).toEqual([[10, 'a', 7]]);
});

test('a source may be a watch, and begin when the reconciler has learnt what to watch', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const reasons: string[] = [];
  let watch: (kind: KindRef) => Promise<void> = () => Promise.reject(new Error('not begun'));
  const widgets = control(Widget)
    .source(({ cache }) => ({
      name: 'learnt',
      start: async (queue, options) => {
        const handler = enqueueRequestForOwner(Widget);
        watch = (kind) => kindSource<KubeObject>(cache, kind, handler).start(queue, options);
      },
    }))
    .reconcile(async ({ object, apply, reasons: causes }) => {
      reasons.push(...causes.map(({ source, change }) => `${source} ${change}`));
      await apply(ConfigMap({ metadata: { name: object.metadata.name } }));
    });
  const manager = await env.startManager();
  const added = manager.add(widgets);
  await env.client.create(widget('a'));
  await env.settle();
  await env.client.delete(ConfigMap, inDefault('a'));
  await env.settle();
  expect(reasons.splice(0)).toEqual(['for Widget Added']);
  await watch(ConfigMap);
  await env.settle();
  await env.client.patch(Widget, inDefault('a'), { type: 'merge', body: { spec: { size: 2 } } });
  await env.settle();
  expect(reasons.splice(0)).toEqual(['for Widget Updated', 'watches ConfigMap Added']);
  await env.client.delete(ConfigMap, inDefault('a'));
  await env.settle();
  expect(reasons).toEqual(['watches ConfigMap Deleted', 'watches ConfigMap Added']);
  await added.remove();
  expect(manager.manager.cache.holds(ConfigMap)).toBe(false);
});

test('a watch that is a source has the keys of the cluster that it is made for', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const keys: string[] = [];
  const widgets = control(Widget, { clusters: 'all' })
    .source(({ cache }) => kindSource(cache, ConfigMap, enqueueRequestForOwner(Widget)))
    .reconcile(async ({ key, apply, reasons }) => {
      await apply(ConfigMap({ metadata: { name: key.name } }));
      if (reasons.some(({ source }) => source === 'watches ConfigMap')) keys.push(`${key.cluster} ${key.name}`);
    });
  const { manager } = await env.run(widgets);
  // The same server by another name.
  manager.clusters.add('north', env.connect({ name: 'north' }).config);
  await env.client.create(widget('a'));
  await env.settle();
  expect(keys.sort()).toEqual(['north a', 'undefined a']);
});

test('what a controller lists by is part of it, comes and goes with it, and is shared', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const owner = (each: ConfigMap) => [controllerOf(each)?.name ?? ''];
  const seen: Record<string, readonly string[]> = {};
  const counting = (name: string) =>
    control(Widget, { name })
      .owns(ConfigMap)
      .indexes(ConfigMap, 'owner', owner)
      .reconcile(async ({ object, client, apply }) => {
        const { namespace, name: own } = object.metadata;
        await apply(ConfigMap({ metadata: { name: `${own}-${name}` } }));
        const { items } = await client.list(ConfigMap, { namespace, fieldSelector: { owner: own } });
        seen[`${name} ${own}`] = items.map(({ metadata }) => metadata.name).sort();
      });
  await env.client.create(widget('a'));
  await env.client.create(widget('b'));
  const manager = await env.startManager();
  const [one, two] = [manager.add(counting('one')), manager.add(counting('two'))];
  await env.settle();
  await env.expectConverged();
  expect(seen).toEqual({
    'one a': ['a-one', 'a-two'],
    'one b': ['b-one', 'b-two'],
    'two a': ['a-one', 'a-two'],
    'two b': ['b-one', 'b-two'],
  });
  await one.remove();
  await two.remove();
  expect(manager.manager.cache.holds(ConfigMap)).toBe(false);
  seen['one a'] = [];
  manager.add(counting('one'));
  await env.settle();
  expect(seen['one a']).toEqual(['a-one', 'a-two']);
});

test('a missing or duplicate index is reported', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const lists = (name: string, field: string) =>
    control(Widget, { name, maxRetries: 0 })
      .owns(ConfigMap)
      .reconcile(async ({ client }) => {
        await client.list(ConfigMap, { fieldSelector: { [field]: 'a' } });
      });
  await env.client.create(widget('a'));
  await env.client.create(map('m'));
  const manager = await env.run(lists('path', '.metadata.controller'), lists('word', 'owner'));
  await env.settle();
  const outcomes = new Map(
    manager.explain.map(({ controller, outcome, error }) => [controller, `${outcome} ${error}`]),
  );
  expect(outcomes.get('path')).toContain('no field and no index ".metadata.controller"');
  expect(outcomes.get('word')).toBe('success undefined');
  const reported = env.log.records.filter(({ message }) => message === 'no object has the field of the selector');
  expect(reported.map(({ fields }) => [fields.kind, fields.field])).toEqual([['ConfigMap', 'owner']]);

  for (const name of ['first', 'second']) {
    manager.add(
      control(Widget, { name })
        .indexes(ConfigMap, 'owner', () => [name])
        .reconcile(() => {}),
    );
  }
  const exit = await manager.ended;
  expect(exit).toMatchObject({ reason: 'failed', runnable: 'controller second' });
  expect(String((exit as { error: unknown }).error)).toContain(
    'indexes ConfigMap by owner: already registered with a different function',
  );
});
