import { ConfigMap } from 'riata/kinds';
import type { KubeObject } from 'riata/object';
import { Apply, Controllers, registerGeneratingHandler, registerStatusHandler, relatedResource } from 'riata/patterns';
import { memoryMetrics } from 'riata/runtime';
import { DynamicController, type SharedControllerFactory } from 'riata/shared';
import { describe, expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

interface Registered {
  /** Calls `fail` with every object that the function gets. */
  readonly fail: (object: KubeObject | undefined) => void;
  /** Notes that the function has done its work for an object. */
  readonly pass: (name: string) => void;
  readonly controllers: Controllers;
  readonly factory: SharedControllerFactory;
  readonly signal: AbortSignal;
}

interface Position {
  /** The controller that runs it, and what it is called there. */
  readonly controller: string;
  readonly handler: string;
  readonly register: (registered: Registered) => unknown;
}

const widgets = 'widgets.v1.testing.riata.dev';

const positions: Readonly<Record<string, Position>> = {
  'a handler of lasso': {
    ...{ controller: widgets, handler: 'mine' },
    register: ({ factory, fail, pass, signal }) =>
      factory.forKind(Widget).registerHandler(
        'mine',
        (_, object) => {
          fail(object);
          if (object !== undefined) pass(object.metadata.name);
        },
        { signal },
      ),
  },
  'a handler with a queue of its own': {
    ...{ controller: 'own', handler: 'own' },
    register: ({ factory, fail, pass }) =>
      factory.dedicated('own', Widget, async (_, object) => {
        await Promise.resolve();
        fail(object);
        if (object !== undefined) pass(object.metadata.name);
      }),
  },
  onChange: {
    ...{ controller: widgets, handler: 'mine' },
    register: ({ controllers, fail, pass, signal }) =>
      controllers.for(Widget).onChange(
        'mine',
        async (_, object) => {
          fail(object);
          if (object !== undefined) pass(object.metadata.name);
        },
        { signal },
      ),
  },
  'a status handler': {
    ...{ controller: widgets, handler: 'mine' },
    register: ({ controllers, fail, pass, signal }) =>
      registerStatusHandler(controllers.for(Widget), { name: 'mine', condition: 'Mine', signal }, (object, status) => {
        fail(object);
        pass(object.metadata.name);
        return { ...status, size: 1 };
      }),
  },
  'a generating handler': {
    ...{ controller: widgets, handler: 'mine' },
    register: ({ controllers, fail, pass, signal }) =>
      registerGeneratingHandler(
        controllers.for(Widget),
        new Apply(controllers.factory.clients.client, { kinds: [ConfigMap] }),
        { name: 'mine', signal },
        (object) => {
          fail(object);
          pass(object.metadata.name);
          return { objects: [ConfigMap({ metadata: inDefault(`of-${object.metadata.name}`) })] };
        },
      ),
  },
  'a resolver': {
    ...{ controller: widgets, handler: 'mine' },
    register: ({ controllers, fail, pass, signal }) => {
      const maps = controllers.for(ConfigMap);
      const enqueued = (key: string, _: unknown, { reasons }: { readonly reasons: readonly { source: string }[] }) => {
        if (reasons.some(({ source }) => source === 'enqueue')) pass(key.replace('default/', ''));
      };
      maps.onChange('maps', enqueued, { signal });
      const resolve = async (_: string, name: string, object: KubeObject | undefined) => {
        fail(object);
        return [inDefault(name)];
      };
      relatedResource.watch('mine', resolve, maps, [controllers.for(Widget)], { signal });
    },
  },
};

/** Handlers of which one fails for Widgets called `poison…` that are not marked as fixed. */
async function play(register: Position['register']) {
  const env = await TestEnvironment.start({ server: 'in-process', kinds: [Widget] });
  let factory: SharedControllerFactory | undefined;
  const calls: { readonly name: string; readonly atMs: number }[] = [];
  const passed = new Set<string>();
  const fail = (object: KubeObject | undefined) => {
    const { name = 'gone', annotations } = object?.metadata ?? {};
    if (name.startsWith('poison')) calls.push({ name, atMs: env.clock.monotonic() });
    if (name.startsWith('poison') && annotations?.fixed !== 'true') throw new Error('boom');
  };
  return {
    env,
    calls,
    passed,
    async start() {
      await env.runHandlers((given, { signal }) => {
        factory = given;
        const controllers = new Controllers(given);
        return register({ fail, pass: (name) => void passed.add(name), controllers, factory: given, signal });
      });
      await env.advance('1s');
    },
    async create(name: string) {
      await env.client.create(ConfigMap({ metadata: inDefault(name) }));
      await env.client.create(widget(name));
    },
    fix: (name: string) =>
      env.client.patch(Widget, inDefault(name), {
        type: 'merge',
        body: { metadata: { annotations: { fixed: 'true' } } },
      }),
    failing: () => factory?.health.flatMap(({ failing }) => failing) ?? [],
    explain: () => factory?.explain ?? [],
    errors: () => env.log.records.filter(({ level }) => level === 'error').map(({ fields }) => fields),
    [Symbol.asyncDispose]: () => env[Symbol.asyncDispose](),
  };
}

describe.each(Object.entries(positions))('%s fails for one object', (_, { controller, handler, register }) => {
  test.each(['that is there at the start', 'that comes later'])('%s', async (when) => {
    await using world = await play(register);
    const { env, calls, passed, failing } = world;
    if (when === 'that comes later') await world.start();
    for (const name of ['a', 'poison', 'z']) await world.create(name);
    if (when === 'that comes later') await env.advance('1s');
    else await world.start();

    // Others pass, at once.
    expect([...passed].sort()).toEqual(['a', 'z']);

    // It is named by log, health and explain.
    const at = expect.stringContaining('failing-handlers.test.ts');
    const where = { source: 'handlers', function: `handler "${handler}"`, key: 'default/poison' };
    expect(failing()).toMatchObject([{ ...where, error: 'Error: boom', at }]);
    expect(failing()[0]?.attempts).toBe(calls.length);
    const [first] = world.errors();
    expect(first).toMatchObject({ controller, key: 'default/poison', attempt: 1, at });
    expect(world.explain().filter(({ outcome }) => outcome === 'error')).toHaveLength(calls.length);

    // It is retried with backoff.
    calls.length = 0;
    await env.advance('5m');
    const times = calls.map(({ atMs }) => atMs);
    const gaps = times.slice(1).map((time, index) => Math.round(time - (times[index] ?? 0)));
    expect(gaps.length).toBeGreaterThan(3);
    for (const [index, gap] of gaps.entries())
      expect(gap).toBeGreaterThanOrEqual(Math.min(gaps[index - 1] ?? 0, 29_000));

    // A newer version for which it works ends that.
    passed.clear();
    await world.fix('poison');
    await env.advance('1s');
    expect([...passed]).toContain('poison');
    expect(failing()).toEqual([]);

    // Once the object is gone it is not retried any more.
    await world.create('poison-2');
    await env.advance('1s');
    expect(failing()).toMatchObject([{ key: 'default/poison-2' }]);
    await env.client.delete(Widget, inDefault('poison-2'));
    await env.advance('5m');
    expect(failing()).toEqual([]);
    calls.length = 0;
    await env.advance('30m');
    expect(calls).toEqual([]);
  });
});

test('onRemove fails for one object: others go, it stays and is retried, until its finalizer is removed by hand', async () => {
  await using world = await play(({ controllers, fail, pass, signal }) =>
    controllers.for(Widget).onRemove(
      'mine',
      (_, object) => {
        fail(object);
        pass(object.metadata.name);
      },
      { signal },
    ),
  );
  const { env, calls, passed, failing } = world;
  await world.start();
  for (const name of ['a', 'poison', 'z']) await world.create(name);
  await env.advance('1s');
  for (const name of ['a', 'poison', 'z']) await env.client.delete(Widget, inDefault(name));
  await env.advance('1m');
  expect([...passed].sort()).toEqual(['a', 'z']);
  expect((await env.client.list(Widget)).items.map(({ metadata }) => metadata.name)).toEqual(['poison']);
  expect(failing()).toMatchObject([{ function: 'handler "mine"', key: 'default/poison', attempts: calls.length }]);
  await env.client.patch(Widget, inDefault('poison'), { type: 'merge', body: { metadata: { finalizers: null } } });
  await env.advance('1s');
  calls.length = 0;
  await env.advance('30m');
  expect([calls, failing()]).toEqual([[], []]);
});

describe('a resolver that fails for an object that is gone', () => {
  const related = (resolve: (name: string, object: KubeObject | undefined) => void): Position['register'] => {
    return ({ controllers, pass, signal }) => {
      const maps = controllers.for(ConfigMap);
      maps.onChange('maps', (key, _, { reasons }) => {
        if (reasons.some(({ source }) => source === 'enqueue')) pass(key.replace('default/', ''));
      });
      const resolver = (_: string, name: string, object: KubeObject | undefined) => {
        resolve(name, object);
        return [inDefault(object?.metadata.labels?.for ?? name)];
      };
      relatedResource.watch('mine', resolver, maps, [controllers.for(Widget)], { signal });
    };
  };
  const gaveUp = (env: TestEnvironment) =>
    env.log.records.filter(
      ({ message }) => message === 'resolver failed for an object that is gone or replaced, gave up',
    );

  test('is given up after three minutes, as nothing newer will come', async () => {
    let calls = 0;
    await using world = await play(
      related((name, object) => {
        if (name !== 'poison' || object?.metadata.deletionTimestamp !== undefined) return;
        calls += 1;
        // The mistake that is easily made: the object is undefined once it is gone.
        if ((object as KubeObject).metadata.name === '') return;
        if (object?.metadata.labels?.bad === 'true') throw new Error('boom');
      }),
    );
    const { env, failing } = world;
    await world.start();
    await world.create('poison');
    await env.advance('1s');
    const bad = { metadata: { labels: { bad: 'true' } } };
    await env.client.patch(Widget, inDefault('poison'), { type: 'merge', body: bad });
    await env.advance('10s');
    expect(failing()).toMatchObject([{ key: 'default/poison', error: 'Error: boom' }]);
    calls = 0;
    await env.client.delete(Widget, inDefault('poison'));
    await env.advance('2m');
    expect(calls).toBeGreaterThan(5);
    expect(failing()).toHaveLength(1);
    await env.advance('3m');
    expect(failing()).toEqual([]);
    const at = expect.stringContaining('failing-handlers.test.ts');
    // That it is gone, and its last version.
    expect(gaveUp(env).map(({ fields }) => fields)).toMatchObject([
      { controller: widgets, key: 'default/poison', handler: 'mine', at },
      { controller: widgets, key: 'default/poison', handler: 'mine', at },
    ]);
    calls = 0;
    await env.advance('2h');
    expect(calls).toBe(0);
  });

  test('and works again in time has the related objects enqueued', async () => {
    let isBroken = false;
    await using world = await play(
      related((name) => {
        if (name === 'poison' && isBroken) throw new Error('boom');
      }),
    );
    const { env, passed } = world;
    await world.start();
    await world.create('poison');
    const labels = (value: string) => ({ type: 'merge' as const, body: { metadata: { labels: { for: value } } } });
    await env.client.patch(Widget, inDefault('poison'), labels('first'));
    await env.advance('1s');
    isBroken = true;
    // Both are what the object referred to while the resolver failed.
    await env.client.patch(Widget, inDefault('poison'), labels('second'));
    await env.client.delete(Widget, inDefault('poison'));
    await env.advance('1m');
    passed.clear();
    isBroken = false;
    await env.advance('1m');
    expect([...passed].sort()).toEqual(['first', 'poison', 'second']);
    expect([world.failing(), gaveUp(env)]).toEqual([[], []]);
  });

  test('earlier versions of an object that lives are given up, too, and few are kept', async () => {
    const seen = new Set<string>();
    let newest = 'none';
    await using world = await play(
      related((name, object) => {
        const version = object?.metadata.labels?.version ?? 'none';
        seen.add(version);
        if (name === 'poison' && version !== newest) throw new Error('boom');
      }),
    );
    const { env, failing } = world;
    await world.start();
    await world.create('poison');
    await env.advance('1s');
    for (let version = 1; version <= 30; version += 1) {
      const labels = { version: String(version) };
      newest = labels.version;
      await env.client.patch(Widget, inDefault('poison'), { type: 'merge', body: { metadata: { labels } } });
      await env.advance('100ms');
    }
    seen.clear();
    await env.advance('1m');
    expect(failing()).toHaveLength(1);
    expect(seen.size).toBe(11);
    expect(seen).toContain('none');
    expect(seen).toContain('29');
    await env.advance('5m');
    expect(failing()).toEqual([]);
    seen.clear();
    await env.advance('1h');
    expect([...seen]).toEqual([]);
  });
});

test('a kind matcher that fails for one kind: others get the handler, it is retried while the kind is served', async () => {
  const calls: number[] = [];
  const seen = new Set<string>();
  let isBroken = true;
  let dynamic: DynamicController | undefined;
  const metrics = memoryMetrics();
  await using world = await play(({ factory, signal }) => {
    dynamic = new DynamicController(factory, { runtime: { clock: world0.clock, log: world0.log, metrics } });
    const matcher = ({ group, kind }: { readonly group: string; readonly kind: string }) => {
      if (kind === 'Widget') {
        calls.push(world0.clock.monotonic());
        if (isBroken) throw new Error('boom');
      }
      return group === 'testing.riata.dev' || kind === 'ConfigMap';
    };
    dynamic.onChange('all', matcher, (kind, key) => void seen.add(`${kind.kind} ${key}`), { signal });
  });
  const world0 = world.env;
  const { env } = world;
  await world.start();
  await world.create('a');
  await env.advance('2s');
  expect([...seen]).toContain('ConfigMap default/a');
  expect([...seen]).not.toContain('Widget default/a');
  const at = expect.stringContaining('failing-handlers.test.ts');
  const failing = {
    source: 'all',
    function: 'matcher',
    key: 'testing.riata.dev/v1, Kind=Widget',
    error: 'Error: boom',
    at,
  };
  expect(dynamic?.failing).toMatchObject([failing]);
  expect(world.errors()).toMatchObject([{ handler: 'all', kind: failing.key, at }]);
  calls.length = 0;
  await env.advance('10m');
  const gaps = calls.slice(1).map((time, index) => time - (calls[index] ?? 0));
  expect(gaps.length).toBeGreaterThan(8);
  for (const [index, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(Math.min(gaps[index - 1] ?? 0, 59_000));
  expect(world.errors()).toHaveLength(1);
  const labels = { controller: 'dynamic kinds', source: 'all' };
  expect(metrics.value('riata_source_failing_objects', labels)).toBe(1);
  expect(metrics.value('riata_source_failures_total', { ...labels, function: 'matcher' })).toBeGreaterThan(8);
  isBroken = false;
  await env.advance('2m');
  expect([...seen]).toContain('Widget default/a');
  expect(dynamic?.failing).toEqual([]);
  expect(metrics.value('riata_source_failing_objects', labels)).toBe(0);
});

test.each(['at the start', 'later'])('an indexer of a typed cache that fails for one object, %s', async (when) => {
  let cache: ReturnType<Controllers['for']>['cache'] | undefined;
  await using world = await play(({ controllers, fail, signal }) => {
    const typed = controllers.for(Widget);
    typed.onChange('none', () => {}, { signal });
    cache = typed.cache as unknown as typeof cache;
    typed.cache.addIndexer('size', (object) => {
      fail(object);
      return ['any'];
    });
  });
  const { env, calls } = world;
  if (when === 'later') await world.start();
  for (const name of ['a', 'poison', 'z']) await world.create(name);
  if (when === 'later') await env.advance('1s');
  else await world.start();
  const found = async () => (await cache?.getByIndex('size', 'any'))?.map(({ metadata }) => metadata.name).sort();
  expect(await found()).toEqual(['a', 'z']);
  const at = expect.stringContaining('failing-handlers.test.ts');
  expect(world.errors()).toMatchObject([{ key: 'default/poison', at }]);
  await world.fix('poison');
  await env.advance('1s');
  expect(await found()).toEqual(['a', 'poison', 'z']);
  await world.create('poison-2');
  await env.client.delete(Widget, inDefault('poison-2'));
  await env.advance('1s');
  calls.length = 0;
  await env.advance('30m');
  expect(calls).toEqual([]);
});
