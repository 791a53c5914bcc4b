import { type CacheOptions, cached, type FailingObject } from 'riata/cache';
import { type ControllerDefinition, type ControlOptions, control, kindSource } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import type { KindRef, KubeObject } from 'riata/object';
import { describe, expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import type { TestManager } from './test-manager.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

/** Where a function of the user's stands between what a server sends and a reconcile. */
interface Position {
  readonly source: string;
  readonly function: string;
  /** Whose objects the function gets. */
  readonly kind: 'Widget' | 'ConfigMap';
  /** A controller whose function calls `fail` with every object that it gets. */
  readonly make: (fail: (object: KubeObject) => void) => ControllerDefinition;
  /** @default as a manager has it */
  readonly cache?: (fail: (object: KubeObject) => void) => CacheOptions;
}

const itself = ({ metadata: { namespace, name } }: KubeObject) => ({ namespace, name });
const widgets = (options: Pick<ControlOptions, 'fairness' | 'rateLimiter' | 'predicates'> = {}) =>
  control(Widget, { name: 'widgets', ...(options as object) });
const done = () => {};
const passes = (fail: (object: KubeObject) => void) => (change: { old?: KubeObject; new?: KubeObject }) => {
  if (change.new !== undefined) fail(change.new);
  return true;
};

const positions: Readonly<Record<string, Position>> = {
  'a predicate of the controller’s own kind': {
    ...{ source: 'for Widget', function: 'predicate', kind: 'Widget' },
    make: (fail) => widgets({ predicates: [passes(fail)] }).reconcile(done),
  },
  'a predicate that is async': {
    ...{ source: 'for Widget', function: 'predicate', kind: 'Widget' },
    make: (fail) =>
      widgets({
        predicates: [
          (change: { new?: KubeObject }) => {
            try {
              if (change.new !== undefined) fail(change.new);
              return true;
            } catch (error) {
              return Promise.reject(error) as unknown as boolean;
            }
          },
        ],
      }).reconcile(done),
  },
  'an event filter': {
    ...{ source: 'for Widget', function: 'predicate', kind: 'Widget' },
    make: (fail) => widgets().filter(passes(fail)).reconcile(done),
  },
  'a predicate of owned objects': {
    ...{ source: 'owns ConfigMap', function: 'predicate', kind: 'ConfigMap' },
    make: (fail) =>
      widgets()
        .owns(ConfigMap, { predicates: [passes(fail)] })
        .reconcile(done),
  },
  'a map function': {
    ...{ source: 'watches ConfigMap', function: 'map', kind: 'ConfigMap' },
    make: (fail) =>
      widgets()
        .watches(ConfigMap, (object) => {
          fail(object);
          return [itself(object)];
        })
        .reconcile(done),
  },
  'a map function that rejects': {
    ...{ source: 'watches ConfigMap', function: 'map', kind: 'ConfigMap' },
    make: (fail) =>
      widgets()
        .watches(ConfigMap, async (object) => {
          fail(object);
          return [itself(object)];
        })
        .reconcile(done),
  },
  'a map function of metadata': {
    ...{ source: 'watches ConfigMap', function: 'map', kind: 'ConfigMap' },
    make: (fail) =>
      widgets()
        .watchesMetadata(ConfigMap, (object) => {
          fail(object);
          return [itself(object)];
        })
        .reconcile(done),
  },
  'a predicate of a watch': {
    ...{ source: 'watches ConfigMap', function: 'predicate', kind: 'ConfigMap' },
    make: (fail) =>
      widgets()
        .watches(ConfigMap, (object) => [itself(object)], { predicates: [passes(fail)] })
        .reconcile(done),
  },
  'a handler': {
    ...{ source: 'watches ConfigMap', function: 'handler', kind: 'ConfigMap' },
    make: (fail) =>
      widgets()
        .watches(ConfigMap, {
          handler: ({ metadata, new: now }, enqueue) => {
            if (now !== undefined) fail(now);
            enqueue(inDefault(metadata.name));
          },
        })
        .reconcile(done),
  },
  'a handler that rejects': {
    ...{ source: 'watches ConfigMap', function: 'handler', kind: 'ConfigMap' },
    make: (fail) =>
      widgets()
        .watches(ConfigMap, {
          handler: async ({ metadata, new: now }, enqueue) => {
            await Promise.resolve();
            if (now !== undefined) fail(now);
            enqueue(inDefault(metadata.name));
          },
        })
        .reconcile(done),
  },
  referencedBy: {
    ...{ source: 'references to ConfigMap', function: 'referencedBy', kind: 'Widget' },
    make: (fail) =>
      widgets()
        .watches(ConfigMap, {
          referencedBy: (object) => {
            fail(object);
            return object.metadata.name;
          },
        })
        .reconcile(done),
  },
  'a handler of a source of one’s own': {
    ...{ source: 'mine', function: 'handler', kind: 'ConfigMap' },
    make: (fail) =>
      widgets()
        .source(({ cache }) =>
          kindSource(
            cache,
            ConfigMap,
            ({ metadata, new: now }, enqueue) => {
              if (now !== undefined) fail(now);
              enqueue(inDefault(metadata.name));
            },
            { name: 'mine' },
          ),
        )
        .reconcile(done),
  },
};

/** An environment with a controller whose function fails for objects called `poison…` that are not marked as fixed. */
async function play({ kind, make, source, function: func, cache }: Position) {
  const env = await TestEnvironment.start({ server: 'in-process', kinds: [Widget] });
  let isBroken = true;
  const calls: { readonly name: string; readonly at: number }[] = [];
  const fail = ({ metadata: { name, annotations } }: KubeObject) => {
    if (name.startsWith('poison')) calls.push({ name, at: env.clock.monotonic() });
    if (isBroken && name.startsWith('poison') && annotations?.fixed !== 'true') throw new Error('boom');
  };
  const definition = make(fail);
  const poisonKind: KindRef<KubeObject, 'Namespaced'> = kind === 'Widget' ? Widget : ConfigMap;
  let test: TestManager | undefined;
  const manager = () => (test as TestManager).manager;
  const ask = async (path: string, server = 'health probes') => {
    const response = await fetch(`${manager().urls[server]}${path}`, { headers: { connection: 'close' } });
    return { status: response.status, body: await response.text() };
  };
  return {
    env,
    calls,
    manager,
    ask,
    repair: () => {
      isBroken = false;
    },
    corrupt: () => {
      isBroken = true;
    },
    async start() {
      const endpoint = { host: '127.0.0.1', port: 0 };
      test = await env.startManager({ health: endpoint, metrics: endpoint, run: [definition], cache: cache?.(fail) });
      // Sockets open in their own time.
      await expect.poll(() => Object.values(manager().urls).filter(Boolean), { timeout: 60_000 }).toHaveLength(2);
      await env.settle();
    },
    /** Of both kinds, so that the function gets either. */
    async create(name: string) {
      const { metadata } = await env.client.create(widget(name));
      const { apiVersion, kind } = Widget;
      const ownerReferences = [{ apiVersion, kind, name, uid: metadata.uid, controller: true }];
      await env.client.create(ConfigMap({ metadata: { ...inDefault(name), ownerReferences } }));
    },
    async change(name: string, annotations: Readonly<Record<string, string>>) {
      await env.client.patch(poisonKind, inDefault(name), { type: 'merge', body: { metadata: { annotations } } });
    },
    remove: (name: string) => env.client.delete(poisonKind, inDefault(name)),
    /** How often an object has led to a reconcile through the source. */
    led: (name: string) =>
      manager().explain.filter(
        (record) =>
          record.key.name === name &&
          record.outcome === 'success' &&
          record.reasons.some((cause) => cause.source === source),
      ).length,
    failing: (): readonly FailingObject[] => manager().controllers.flatMap(({ failing }) => failing),
    errors: () =>
      env.log.records.filter(({ level, fields }) => level === 'error' && fields.function === func).map((r) => r.fields),
    async counted(name: string, label = `source="${source}"`) {
      const line = (await ask('/metrics', 'metrics')).body
        .split('\n')
        .find((each) => each.startsWith(`${name}{`) && each.includes(label));
      return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
    },
    async [Symbol.asyncDispose]() {
      await env[Symbol.asyncDispose]();
    },
  };
}

describe.each(Object.entries(positions))('%s fails for one object', (_, position) => {
  test.each(['that is there at the start', 'that comes later'])('%s', async (when) => {
    await using world = await play(position);
    const { env, calls, failing, led } = world;
    const all = ['a', 'poison', 'z'];
    if (when === 'that comes later') await world.start();
    for (const name of all) await world.create(name);
    if (when === 'that comes later') await env.settle();
    else await world.start();

    // Others pass, at once. What refers to something is known, but leads to nothing yet.
    const others = position.function === 'referencedBy' ? 0 : 1;
    expect(['a', 'z'].map((name) => Math.min(1, led(name)))).toEqual([others, others]);
    expect(led('poison')).toBe(0);
    const reference = world.manager().controllers[0];
    expect(reference).toMatchObject({ phase: 'running', queued: 0, active: [] });

    // It is named by log, health, probes, metrics and explain.
    const at = expect.stringContaining('failing-functions.test.ts');
    const isAsync = _ === 'a predicate that is async';
    const error = isAsync
      ? 'TypeError: predicate must return true or false, got a promise; remove async'
      : 'Error: boom';
    const where = { source: position.source, function: position.function, key: 'default/poison' };
    expect(world.errors()).toMatchObject([{ controller: 'widgets', ...where, attempt: 1, ...(isAsync ? {} : { at }) }]);
    expect(failing()).toMatchObject([{ ...where, error, ...(isAsync ? {} : { at }) }]);
    const [healthz, readyz] = [await world.ask('/healthz'), await world.ask('/readyz')];
    expect([healthz.status, readyz.status]).toEqual([200, 200]);
    const line = `${position.source}: ${position.function} fails for default/poison: ${error}`;
    expect((await world.ask('/readyz?verbose')).body).toContain(
      `[-]controllers/widgets failed, which does not count: Error: ${line}`,
    );
    expect((await world.ask('/readyz/controllers/widgets')).status).toBe(503);
    expect(await world.counted('riata_source_failing_objects')).toBe(1);
    expect(await world.counted('riata_source_failures_total')).toBe(calls.length);
    expect(world.manager().explain.filter(({ outcome }) => outcome === 'not_enqueued')).toMatchObject([
      { controller: 'widgets', key: inDefault('poison'), error: expect.stringContaining(error) },
    ]);

    // It is retried with backoff.
    calls.length = 0;
    await env.advance('10m');
    const times = calls.map((call) => call.at);
    const gaps = times.slice(1).map((time, index) => Math.round(time - (times[index] ?? 0)));
    expect(gaps.length).toBeGreaterThan(8);
    for (const [index, gap] of gaps.entries()) expect(gap).toBe(Math.min(2 * (gaps[index - 1] ?? gap / 2), 60_000));

    // For a newer version it is called again, at once, and starts with short waits.
    calls.length = 0;
    const changedAt = env.clock.monotonic();
    await world.change('poison', { touched: 'true' });
    await env.advance('250ms');
    expect(calls.map((call) => call.at - changedAt < 260)).toEqual([true, true]);
    expect(failing()).toMatchObject([{ key: 'default/poison', attempts: 2 }]);

    // When it works again, the object is reconciled, and nothing is left.
    world.repair();
    await env.advance('61s');
    await env.settle();
    expect(led('poison')).toBeGreaterThan(0);
    expect(failing()).toEqual([]);
    expect(await world.counted('riata_source_failing_objects')).toBe(0);
    expect((await world.ask('/readyz/controllers/widgets')).status).toBe(200);

    // A newer version for which it works takes the place of the one for which it did not.
    world.corrupt();
    for (const name of ['poison-2', 'poison-3']) await world.create(name);
    await env.settle();
    expect(failing().map(({ key }) => key)).toEqual(['default/poison-2', 'default/poison-3']);
    await world.change('poison-2', { fixed: 'true' });
    await env.settle();
    expect(led('poison-2')).toBeGreaterThan(0);
    expect(failing().map(({ key }) => key)).toEqual(['default/poison-3']);

    // Once the object is gone it is not retried any more.
    await world.remove('poison-3');
    await env.settle();
    expect(failing()).toEqual([]);
    calls.length = 0;
    await env.advance('10m');
    expect(calls.filter(({ name }) => name === 'poison-3')).toEqual([]);
  });
});

describe('a function of the queue fails for one key, which runs all the same', () => {
  test.each(['that is there at the start', 'that comes later'])('fairness, for one %s', async (when) => {
    const fails = (fail: (object: KubeObject) => void) =>
      widgets({
        fairness: (key) => {
          fail({ metadata: key } as KubeObject);
          return '';
        },
      }).reconcile(done);
    await using world = await play({ source: 'queue', function: 'fairness', kind: 'Widget', make: fails });
    const { env, failing } = world;
    if (when === 'that comes later') await world.start();
    for (const name of ['a', 'poison', 'z']) await world.create(name);
    if (when === 'that comes later') await env.settle();
    else await world.start();
    const reconciled = world.manager().explain.filter(({ outcome }) => outcome === 'success');
    expect(new Set(reconciled.map(({ key }) => key.name))).toEqual(new Set(['a', 'poison', 'z']));
    const where = { source: 'queue', function: 'fairness', key: 'default/poison' };
    const at = expect.stringContaining('failing-functions.test.ts');
    expect(world.errors()).toMatchObject([{ controller: 'widgets', ...where, at }]);
    expect(failing()).toMatchObject([{ ...where, at, error: 'Error: boom' }]);
    expect((await world.ask('/readyz/controllers/widgets')).status).toBe(503);
    expect(await world.counted('riata_source_failures_total')).toBeGreaterThan(0);
    // No deletion is reported for a key.
    await env.advance('10m');
    expect(failing()).toEqual([]);
    world.repair();
    await world.change('poison', { touched: 'true' });
    await env.settle();
    expect(failing()).toEqual([]);
  });

  test('a rate limiter: the key waits as long as the default one says', async () => {
    let failures = 3;
    const fails = (fail: (object: KubeObject) => void) =>
      widgets({
        rateLimiter: () => ({
          when: (id) => {
            fail({ metadata: { name: id.replace('default/', '') } } as KubeObject);
            return 1;
          },
          forget: (id) => fail({ metadata: { name: id.replace('default/', '') } } as KubeObject),
          numRequeues: () => 0,
        }),
      }).reconcile(({ object }) => {
        if (object.metadata.name === 'poison' && failures-- > 0) throw new Error('not yet');
      });
    await using world = await play({ source: 'queue', function: 'rateLimiter', kind: 'Widget', make: fails });
    await world.start();
    for (const name of ['a', 'poison', 'z']) await world.create(name);
    await world.env.settle();
    expect(world.manager().explain.map(({ key, outcome }) => `${key.name} ${outcome}`)).toEqual(
      expect.arrayContaining(['a success', 'poison error', 'poison success', 'z success']),
    );
    expect(world.failing()).toMatchObject([
      { source: 'queue', function: 'rateLimiter', key: 'default/poison', error: 'Error: boom' },
    ]);
    expect(world.manager().controllers).toMatchObject([{ phase: 'running' }]);
  });
});

describe('a function that never returns', () => {
  test.each(['that is there at the start', 'that comes later'])('holds up only its object, %s', async (when) => {
    const hangs = () =>
      widgets()
        .watches(ConfigMap, async (object) => {
          if (object.metadata.name === 'poison') await new Promise(done);
          return [itself(object)];
        })
        .reconcile(done);
    const watches = { source: 'watches ConfigMap', function: 'map' } as const;
    await using world = await play({ ...watches, kind: 'ConfigMap', make: hangs });
    if (when === 'that comes later') await world.start();
    for (const name of ['a', 'poison', 'z']) await world.create(name);
    if (when === 'that comes later') await world.env.advance('31s');
    else {
      const started = world.start();
      await world.env.advance('31s');
      await started;
    }
    await world.env.settle();
    expect(['a', 'z'].map((name) => Math.min(1, world.led(name)))).toEqual([1, 1]);
    const error = 'has not returned for 30 s';
    expect(world.failing()).toMatchObject([{ ...watches, key: 'default/poison', error }]);
    expect((await world.ask('/readyz/controllers/widgets')).body).toContain(
      `watches ConfigMap: map fails for default/poison: ${error}`,
    );
    expect(world.env.log.messages('warn')).toContain('handler has not returned, not waiting for it any longer');
  });
});

describe('a transform fails for one object', () => {
  test.each(['that is there at the start', 'that comes later'])('%s', async (when) => {
    const position: Position = {
      ...{ source: 'for Widget', function: 'transform', kind: 'Widget' },
      make: () => widgets().reconcile(done),
      cache: (fail) => ({
        kinds: [
          cached(Widget, {
            transform: (object) => {
              fail(object);
              return { ...object, spec: { size: 100 } };
            },
          }),
        ],
      }),
    };
    await using world = await play(position);
    const { env, calls, led } = world;
    const informer = 'widgets.testing.riata.dev';
    const label = `informer="${informer}"`;
    const health = () => world.manager().cache.health.find(({ kind }) => kind.kind === 'Widget')?.informers[0];
    const poison = inDefault('poison');
    if (when === 'that comes later') await world.start();
    for (const name of ['a', 'poison', 'z']) await world.create(name);
    if (when === 'that comes later') await env.settle();
    else await world.start();

    // Others are reconciled; it is known, and reads of it say why it is not there.
    expect(['a', 'z', 'poison'].map((name) => Math.min(1, led(name)))).toEqual([1, 1, 0]);
    const at = expect.stringContaining('failing-functions.test.ts');
    expect(world.errors()).toMatchObject([{ kind: 'Widget', key: 'default/poison', function: 'transform', at }]);
    expect(health()).toMatchObject({ synced: true, objects: 2, missing: 1, withheld: 1, failingObjects: 1 });
    const error = 'TransformError: transform failed for Widget "default/poison": boom';
    expect(health()?.failing).toMatchObject([{ key: 'default/poison', function: 'transform', error, at }]);
    expect((await world.ask('/readyz')).status).toBe(200);
    expect((await world.ask(`/readyz/objects/${informer}`)).body).toContain('transform fails for default/poison');
    expect(await world.counted('riata_informer_failing_objects', label)).toBe(1);
    expect(await world.counted('riata_informer_failures_total', label)).toBe(calls.length);
    const { client } = world.manager();
    await expect(client.get(Widget, poison)).rejects.toThrow(
      'Widget "default/poison" is withheld from the cache: transform failed for Widget "default/poison": boom',
    );
    expect((await client.list(Widget)).items.map(({ metadata }) => metadata.name).toSorted()).toEqual(['a', 'z']);
    const incomplete = 'list from the cache is incomplete, objects are withheld';
    expect(env.log.messages('warn').filter((message) => message === incomplete)).toHaveLength(1);

    // Retried with backoff; reconciled when it works again.
    calls.length = 0;
    await env.advance('10m');
    expect(calls.length).toBeGreaterThan(8);
    expect(calls.length).toBeLessThan(25);
    world.repair();
    await env.advance('61s');
    await env.settle();
    expect(led('poison')).toBe(1);
    expect(await client.get(Widget, poison)).toMatchObject({ spec: { size: 100 } });
    expect(health()).toMatchObject({ objects: 3, missing: 0, withheld: 0, failing: [] });

    // The last good version stays while it fails for a newer one, and no deletion is reported.
    world.corrupt();
    await world.change('poison', { touched: 'true' });
    await env.settle();
    expect(health()).toMatchObject({ objects: 3, missing: 0, withheld: 1 });
    await expect(client.find(Widget, poison)).rejects.toThrow('is withheld from the cache');
    await world.change('poison', { fixed: 'true' });
    await env.settle();
    expect(health()).toMatchObject({ objects: 3, withheld: 0 });
    expect(await client.get(Widget, poison)).toMatchObject({ metadata: { annotations: { fixed: 'true' } } });

    // One that is gone is forgotten.
    await world.create('poison-2');
    await env.settle();
    expect(health()).toMatchObject({ objects: 3, missing: 1 });
    await world.remove('poison-2');
    await env.settle();
    expect(health()).toMatchObject({ objects: 3, missing: 0, failing: [] });
    calls.length = 0;
    await env.advance('10m');
    expect(calls).toEqual([]);
  });
});

describe('an index function fails for one object', () => {
  test.each(['that is there at the start', 'that comes later'])('%s', async (when) => {
    const position: Position = {
      ...{ source: 'for Widget', function: 'index "field:size"', kind: 'Widget' },
      make: (fail) =>
        widgets()
          .indexes(Widget, 'size', (object) => {
            fail(object);
            return [String(object.spec.size)];
          })
          .reconcile(done),
    };
    await using world = await play(position);
    const { env, calls, led } = world;
    const label = 'informer="widgets.testing.riata.dev"';
    const health = () => world.manager().cache.health.find(({ kind }) => kind.kind === 'Widget')?.informers[0];
    if (when === 'that comes later') await world.start();
    for (const name of ['a', 'poison', 'z']) await world.create(name);
    if (when === 'that comes later') await env.settle();
    else await world.start();

    // All are in the store, and reconciled; one is not in the index, which is said.
    expect(['a', 'z', 'poison'].map((name) => Math.min(1, led(name)))).toEqual([1, 1, 1]);
    const { client } = world.manager();
    const bySize = async () =>
      (await client.list(Widget, { fieldSelector: { size: '1' } })).items.map(({ metadata }) => metadata.name);
    expect((await bySize()).toSorted()).toEqual(['a', 'z']);
    const incomplete = 'list by a field is incomplete, its index function fails for objects';
    expect(env.log.messages('warn').filter((message) => message === incomplete)).toHaveLength(1);
    const at = expect.stringContaining('failing-functions.test.ts');
    const where = { key: 'default/poison', function: position.function };
    expect(world.errors()).toMatchObject([{ kind: 'Widget', ...where, at }]);
    expect(health()).toMatchObject({ objects: 3, missing: 0, failingObjects: 1 });
    expect(health()?.failing).toMatchObject([{ ...where, error: 'Error: boom', at }]);
    expect((await world.ask('/readyz/objects/widgets.testing.riata.dev')).status).toBe(503);
    expect(await world.counted('riata_informer_failing_objects', label)).toBe(1);
    expect(await world.counted('riata_informer_failures_total', label)).toBe(calls.length);

    calls.length = 0;
    await env.advance('10m');
    expect(calls.length).toBeGreaterThan(8);
    expect(calls.length).toBeLessThan(25);
    world.repair();
    await env.advance('61s');
    expect((await bySize()).toSorted()).toEqual(['a', 'poison', 'z']);
    expect(health()).toMatchObject({ failing: [] });

    // By a newer version, and once it is gone.
    world.corrupt();
    for (const name of ['poison-2', 'poison-3']) await world.create(name);
    await env.settle();
    expect(health()?.failing.map(({ key }) => key)).toEqual(['default/poison-2', 'default/poison-3']);
    await world.change('poison-2', { fixed: 'true' });
    await world.remove('poison-3');
    await env.settle();
    expect(health()).toMatchObject({ failing: [] });
    expect((await bySize()).toSorted()).toEqual(['a', 'poison', 'poison-2', 'z']);
  });
});
