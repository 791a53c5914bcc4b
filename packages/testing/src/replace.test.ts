import { defineKind } from 'riata';
import {
  type ControlOptions,
  channelSource,
  control,
  intervalSource,
  isRestartRequired,
  PushChannel,
} from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

/** The same kind as another module would have it: a loop of edits evaluates each module anew. */
function widgetAnew(): typeof Widget {
  return defineKind({
    group: 'testing.riata.dev',
    version: 'v1',
    kind: 'Widget',
    spec: z.object({ size: z.int().default(1) }),
    status: z.object({ size: z.int() }),
  }) as typeof Widget;
}

const map = (name: string, data: Record<string, string> = {}) => ConfigMap({ metadata: inDefault(name), data });

/** Which kinds were listed or watched. */
const reads = (env: TestEnvironment) =>
  env.requests.all
    .filter(({ verb }) => verb === 'list' || verb === 'watch')
    .map(({ verb, object }) => `${verb} ${object}`);

type LoopOptions = Omit<ControlOptions, 'predicates'>;

/** A controller that notes which code ran for which object. */
function noting(ran: string[], code: string, options: LoopOptions = {}) {
  return control(widgetAnew(), options).reconcile(({ key }) => {
    ran.push(`${code} ${key.name}`);
  });
}

test('the new code runs for every object, and nothing is listed or watched again', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  for (const name of ['a', 'b']) await env.client.create(widget(name));
  const ran: string[] = [];
  const manager = await env.startManager();
  const added = manager.add(noting(ran, 'old'));
  await env.settle();
  expect(ran.splice(0).sort()).toEqual(['old a', 'old b']);
  env.requests.clear();
  await added.replace(noting(ran, 'new'));
  await env.settle();
  expect(ran.splice(0).sort()).toEqual(['new a', 'new b']);
  await env.client.patch(Widget, inDefault('a'), { type: 'merge', body: { spec: { size: 2 } } });
  await env.settle();
  expect(ran).toEqual(['new a']);
  expect(reads(env)).toEqual([]);
  expect(manager.explain.at(-2)?.reasons[0]).toMatchObject({ source: 'replaced' });
});

test('objects to run are those that failed and ran last, or none, if so asked; what changes later runs in any case', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  for (const name of ['a', 'b', 'c']) await env.client.create(widget(name));
  const ran: string[] = [];
  const options = { history: 1 };
  const manager = await env.startManager({ controllers: { history: 1 } });
  const added = manager.add(
    control(Widget, { ...options, backoff: () => '10m' }).reconcile(({ key }) => {
      ran.push(`old ${key.name}`);
      if (key.name === 'b') throw new Error('no b');
    }),
  );
  await env.settle();
  await env.client.patch(Widget, inDefault('c'), { type: 'merge', body: { spec: { size: 2 } } });
  await env.settle();
  ran.length = 0;
  await added.replace(noting(ran, 'recent', options), { reconcile: 'recent' });
  await env.settle();
  expect(ran.splice(0)).toEqual(['recent b', 'recent c']);
  await added.replace(noting(ran, 'none', options), { reconcile: 'none' });
  await env.settle();
  expect(ran).toEqual([]);
  // The retry that was due after ten minutes had been merged with the run by the new code.
  await env.settle({ horizon: '11m' });
  expect(ran).toEqual([]);
  await env.client.patch(Widget, inDefault('a'), { type: 'merge', body: { spec: { size: 2 } } });
  await env.settle();
  expect(ran).toEqual(['none a']);
});

test('a reconcile in flight ends with the old code, then its key runs with the new one, never both at once', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await env.client.create(widget('a'));
  const steps: string[] = [];
  let finish: () => void = () => {};
  let active = 0;
  const manager = await env.startManager();
  const added = manager.add(
    control(Widget).reconcile(async ({ client }) => {
      active += 1;
      steps.push('old begins');
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      // It still reads from the cache what the new code does not use.
      const { items } = await client.list(Widget);
      steps.push(`old ends, reads ${items.length}`);
      active -= 1;
    }),
  );
  await env.client.create(map('m'));
  while (steps.length === 0) await env.advance('1s');
  await added.replace(
    control(widgetAnew()).reconcile(() => {
      steps.push(`new, beside ${active}`);
    }),
    { reconcile: 'none' },
  );
  await env.advance('1s');
  expect(steps).toEqual(['old begins']);
  finish();
  await env.settle();
  expect(steps).toEqual(['old begins', 'old ends, reads 1', 'new, beside 0']);
});

test('new watches are synced before the new code runs, old ones end, and an index is rebuilt from the cache', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await env.client.create(widget('a'));
  await env.client.create(map('one', { widget: 'a' }));
  await env.client.create(Secret({ metadata: inDefault('s'), stringData: { widget: 'a' } }));
  const seen: string[] = [];
  const manager = await env.startManager();
  const first = control(Widget)
    .owns(ConfigMap)
    .indexes(ConfigMap, 'widget', ({ data }) => (data?.widget === undefined ? [] : [data.widget]))
    .reconcile(async ({ client, key }) => {
      const { items } = await client.list(ConfigMap, { fieldSelector: { widget: key.name } });
      seen.push(`first ${items.length}`);
    });
  const added = manager.add(first);
  await env.settle();
  env.requests.clear();
  const second = control(widgetAnew())
    .watches(Secret, () => [inDefault('a')])
    .indexes(ConfigMap, 'owner', ({ data }) => (data?.widget === undefined ? [] : [`of ${data.widget}`]))
    .reconcile(async ({ client, key }) => {
      const { items } = await client.list(ConfigMap, { fieldSelector: { owner: `of ${key.name}` } });
      const secrets = await client.list(Secret);
      seen.push(`second ${items.length} ${secrets.items.length}`);
    });
  await added.replace(second);
  await env.settle();
  expect([...new Set(seen.splice(0))]).toEqual(['first 1', 'second 1 1']);
  expect(reads(env).filter((line) => !line.includes('Secret'))).toEqual([]);
  expect(reads(env).length).toBeGreaterThan(0);
  await env.client.patch(Secret, inDefault('s'), { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
  await env.settle();
  expect(seen.splice(0)).toEqual(['second 1 1']);
  // The same field by another function.
  env.requests.clear();
  const third = control(widgetAnew())
    .indexes(ConfigMap, 'owner', ({ metadata }) => [metadata.name])
    .reconcile(async ({ client }) => {
      const { items } = await client.list(ConfigMap, { fieldSelector: { owner: 'one' } });
      seen.push(`third ${items.length}`);
    });
  await added.replace(third);
  await env.settle();
  expect(seen).toEqual(['third 1']);
  expect(reads(env)).toEqual([]);
  expect(manager.manager.cache.holds(Secret)).toBe(false);
  expect(manager.manager.cache.holds(ConfigMap)).toBe(true);
});

test('changed predicates, maps and references count from then on', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  for (const name of ['a', 'b']) await env.client.create(widget(name));
  for (const name of ['m-a', 'm-b']) await env.client.create(map(name));
  const ran: string[] = [];
  const define = (code: string, refers: (name: string) => string, isMeant: (name: string) => boolean) =>
    control(widgetAnew(), { predicates: [({ metadata }) => isMeant(metadata.name)] })
      .watches(ConfigMap, { referencedBy: (object) => refers(object.metadata.name) })
      .reconcile(({ key, reasons }) => {
        ran.push(`${code} ${key.name} ${reasons.map(({ source }) => source).join()}`);
      });
  const manager = await env.startManager();
  const added = manager.add(
    define(
      'old',
      () => 'm-a',
      () => true,
    ),
  );
  await env.settle();
  await added.replace(
    define(
      'new',
      () => 'm-b',
      (name) => name === 'a',
    ),
    { reconcile: 'none' },
  );
  await env.settle();
  ran.length = 0;
  const touch = async (name: string) => {
    await env.client.patch(ConfigMap, inDefault(name), { type: 'merge', body: { data: { now: `${ran.length}` } } });
    await env.settle();
  };
  await touch('m-a');
  expect(ran).toEqual([]);
  await touch('m-b');
  expect(ran.splice(0).sort()).toEqual(['new a watches ConfigMap', 'new b watches ConfigMap']);
  for (const name of ['a', 'b']) {
    await env.client.patch(Widget, inDefault(name), { type: 'merge', body: { spec: { size: 3 } } });
  }
  await env.settle();
  expect(ran).toEqual(['new a for Widget']);
});

test('an object that a predicate failed for is retried at once by the new one', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const ran: string[] = [];
  const define = (predicate: () => boolean) =>
    control(widgetAnew(), { predicates: [predicate] }).reconcile(({ key }) => {
      ran.push(key.name);
    });
  const manager = await env.startManager();
  const added = manager.add(
    define(() => {
      throw new Error('not yet');
    }),
  );
  await env.client.create(widget('a'));
  await env.advance('1m');
  await added.replace(
    define(() => true),
    { reconcile: 'none' },
  );
  await env.settle();
  expect(ran).toEqual(['a']);
  expect(manager.manager.controllers[0]?.failing).toEqual([]);
});

test('a definition that cannot be started is refused, and the old one keeps running', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await env.client.create(widget('a'));
  const ran: string[] = [];
  const manager = await env.startManager();
  const added = manager.add(noting(ran, 'old'));
  await env.settle();
  env.requests.clear();
  const failing = control(Widget)
    .reads(ConfigMap)
    .source(() => {
      throw new Error('no broker');
    })
    .reconcile(() => {});
  await expect(added.replace(failing)).rejects.toThrow('no broker');
  const breaking = control(Widget)
    .reads(ConfigMap)
    .source(() => ({ name: 'broker', start: () => Promise.reject(new Error('refused')) }))
    .reconcile(() => {});
  await expect(added.replace(breaking)).rejects.toThrow('refused');
  await expect(added.replace(noting(ran, 'new', { concurrency: 0 }))).rejects.toThrow(
    'controller "widget": concurrency must be an integer ≥ 1, got 0',
  );
  await expect(added.replace(noting(ran, 'new', { name: 'other' }))).rejects.toThrow(
    'controller "widget": cannot be replaced by controller "other"; give it the same name',
  );
  const restart = await added.replace(noting(ran, 'new', { sharded: true, priority: false })).catch((error) => error);
  expect(isRestartRequired(restart)).toBe(true);
  expect(restart).toMatchObject({
    message: 'controller "widget": sharded cannot change while it runs; remove it and add the new definition',
  });
  await expect(added.replace(noting(ran, 'new', { priority: false }))).rejects.toThrow('priority cannot change');
  await expect(added.replace(control(ConfigMap, { name: 'widget' }).reconcile(() => {}))).rejects.toThrow('its kind');
  await expect(added.replace(noting(ran, 'new'), { reconsile: 'all' } as never)).rejects.toThrow('reconcile');
  ran.length = 0;
  await env.client.patch(Widget, inDefault('a'), { type: 'merge', body: { spec: { size: 2 } } });
  await env.settle();
  expect(ran).toEqual(['old a']);
  expect(reads(env).filter((line) => line.includes('Widget'))).toEqual([]);
  expect(manager.manager.cache.holds(ConfigMap)).toBe(false);
});

test('of several, the newest that can be started wins; after a removal none does', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await env.client.create(widget('a'));
  const ran: string[] = [];
  const manager = await env.startManager();
  const added = manager.add(noting(ran, 'old'));
  await env.settle();
  ran.length = 0;
  const bad = control(Widget)
    .source(() => {
      throw new Error('broken');
    })
    .reconcile(() => {});
  const slow = control(widgetAnew())
    .reads(ConfigMap)
    .reconcile(({ key }) => void ran.push(`slow ${key.name}`));
  const results = await Promise.allSettled([
    added.replace(slow),
    added.replace(noting(ran, 'second')),
    added.replace(noting(ran, 'third')),
    added.replace(bad),
  ]);
  await env.settle();
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
  expect(ran).toEqual(['third a']);
  await added.remove();
  await expect(added.replace(noting(ran, 'late'))).rejects.toThrow('controller "widget" was removed');
});

test('options of the loop count from then on', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const names = ['a', 'b', 'c', 'd'];
  for (const name of names) await env.client.create(widget(name));
  const peaks: Record<string, number> = {};
  let active = 0;
  const define = (code: string, options: LoopOptions) =>
    control(widgetAnew(), options).reconcile(async ({ clock, signal }) => {
      active += 1;
      peaks[code] = Math.max(peaks[code] ?? 0, active);
      try {
        await clock.sleep(100, { signal });
      } finally {
        active -= 1;
      }
    });
  const manager = await env.startManager();
  const added = manager.add(define('one', { concurrency: 1 }));
  await env.settle();
  await added.replace(define('three', { concurrency: 3, fairness: 'namespace', history: 2 }));
  await env.settle();
  await added.replace(define('two', { concurrency: 2, history: 3 }));
  await env.settle();
  expect(peaks).toEqual({ one: 1, three: 3, two: 2 });
  expect(manager.manager.explain).toHaveLength(3);
  const outcomes = () => manager.manager.explain.slice(-4).map(({ outcome }) => outcome);
  await added.replace(define('timed', { timeout: '50ms', maxRetries: 1, rateLimiter: tenMinutes }));
  await env.advance('10s');
  expect(outcomes()).toEqual(['error', 'error', 'error', 'error']);
  await env.advance('10m');
  await env.advance('10s');
  expect(outcomes()).toEqual(['gave_up', 'gave_up', 'gave_up', 'gave_up']);
});

const tenMinutes = () => ({ when: () => 600_000, forget: () => {}, numRequeues: () => 0 });

test('timers keep their time, and what was pushed into a channel is not lost', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await env.client.create(widget('a'));
  const ran: string[] = [];
  const define = (code: string, channel: PushChannel, keys = [inDefault('a')]) =>
    control(widgetAnew())
      .source(() => intervalSource('10m', keys, { jitter: 0 }))
      .source(() => channelSource(channel))
      .reconcile(({ key, reasons }) => {
        ran.push(...reasons.map(({ source }) => `${code} ${key.name} ${source}`));
      });
  const [first, second] = [new PushChannel(), new PushChannel()];
  const manager = await env.startManager();
  const added = manager.add(define('one', first));
  await env.settle();
  await env.advance('6m');
  ran.length = 0;
  const replaced = added.replace(define('two', first), { reconcile: 'none' });
  first.push(inDefault('a'));
  await replaced;
  await env.settle();
  // The old code may have been faster: then the new one runs for the key, too.
  expect(ran.splice(0).at(-1)).toMatch(/^two a (channel|replaced)$/);
  first.push(inDefault('a'));
  const again = added.replace(define('three', second), { reconcile: 'none' });
  second.push(inDefault('b'));
  await again;
  await env.settle();
  expect(ran.splice(0).at(-1)).toMatch(/^three a (channel|replaced)$/);
  await env.client.create(widget('b'));
  await env.settle();
  ran.length = 0;
  second.push(inDefault('b'));
  await env.settle();
  expect(ran.splice(0)).toEqual(['three b channel']);
  await env.advance('5m');
  expect(ran).toEqual(['three a every 10m']);
});

test('a renamed finalizer moves with the code, and one that is left out is not dropped', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  for (const name of ['a', 'b']) await env.client.create(widget(name));
  const cleaned: string[] = [];
  const define = (name: string) =>
    control(widgetAnew())
      .finalize(({ key }) => void cleaned.push(`${name} ${key.name}`), { name: `testing.riata.dev/${name}` })
      .reconcile(() => {});
  const finalizers = async (name: string) =>
    (await env.client.find(Widget, inDefault(name)))?.metadata.finalizers ?? 'none';
  const manager = await env.startManager();
  const added = manager.add(define('old'));
  await env.settle();
  await added.replace(define('new'));
  await env.settle();
  expect(await finalizers('a')).toEqual(['testing.riata.dev/new']);
  await env.client.delete(Widget, inDefault('a'));
  await env.settle();
  expect(cleaned.splice(0)).toEqual(['new a']);
  await added.replace(control(widgetAnew()).reconcile(() => {}));
  await env.settle();
  expect(await finalizers('b')).toEqual(['testing.riata.dev/new']);
  await added.replace(define('newer'), { reconcile: 'none' });
  await env.client.delete(Widget, inDefault('b'));
  await env.settle();
  expect(cleaned).toEqual(['newer b']);
  expect(await finalizers('b')).toBe('none');
});
