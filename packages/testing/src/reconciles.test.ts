import { Manager } from 'riata';
import { control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { findCondition } from 'riata/object';
import { type Span, silentLogger, type Tracer } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

describe('the status of what fails', () => {
  async function start() {
    const env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
    const state = async () => {
      const { status } = await env.client.get(Widget, inDefault('a'));
      const ready = findCondition(status?.conditions, 'Ready');
      return [status?.size, ready?.status, ready?.reason, ready?.message];
    };
    const writes = () => env.requests.lines({ verb: 'write' });
    return { env, state, writes };
  }

  test('a status before the failure: the two do not take turns, and tries wait longer each time', async () => {
    const { env, state, writes } = await start();
    await using _ = env;
    let isWell = false;
    const widgets = control(Widget).reconcile(async ({ object, status }) => {
      await status({ size: object.spec.size, conditions: [{ type: 'Ready', status: 'Unknown', reason: 'Begun' }] });
      if (!isWell) throw new Error('no luck');
    });
    const manager = await env.run(widgets);
    await env.client.create(widget('a', 3));
    await env.advance('1m');
    expect(await state()).toEqual([3, 'False', 'ReconcileFailed', 'Error: no luck']);
    // What was said, and the failure.
    expect(writes()).toHaveLength(2);
    expect(manager.explain.length).toBeLessThan(20);
    // What is said of the size is not held back.
    await env.client.patch(Widget, inDefault('a'), { type: 'merge', body: { spec: { size: 4 } } });
    await env.advance('1m');
    expect(await state()).toEqual([4, 'False', 'ReconcileFailed', 'Error: no luck']);
    isWell = true;
    await env.settle({ horizon: '20m', timeout: '1h' });
    expect(await state()).toEqual([4, 'Unknown', 'Begun', '']);
    await env.expectConverged();
  });

  test('a message that differs each time is written with each try, and causes no more tries', async () => {
    const { env, state, writes } = await start();
    await using _ = env;
    let tries = 0;
    const widgets = control(Widget, { backoff: () => '10s' })
      .owns(ConfigMap)
      .reconcile(() => {
        tries += 1;
        throw new Error(`no luck at try ${tries}`);
      });
    await env.run(widgets);
    await env.client.create(widget('a'));
    await env.advance('1s');
    expect([tries, await state()]).toEqual([1, [undefined, 'False', 'ReconcileFailed', 'Error: no luck at try 1']]);
    await env.advance('10s');
    expect([tries, await state()]).toEqual([2, [undefined, 'False', 'ReconcileFailed', 'Error: no luck at try 2']]);
    expect(writes()).toHaveLength(2);
  });

  test('several controllers of one kind: Ready is false while one of them fails, and they do not take turns', async () => {
    const { env, state, writes } = await start();
    await using _ = env;
    const broken = { one: false, two: true };
    const named = (name: 'one' | 'two') =>
      control(Widget, { name, backoff: () => '10s' }).reconcile(async ({ object, status }) => {
        if (name === 'one') await status({ size: object.spec.size });
        if (broken[name]) throw new Error(`${name} fails`);
      });
    const manager = await env.run(named('one'), named('two'));
    await env.client.create(widget('a', 3));
    await env.advance('1m');
    expect(await state()).toEqual([3, 'False', 'ReconcileFailed', 'Error: two fails']);
    expect(writes().length).toBeLessThan(10);
    expect(manager.explain.length).toBeLessThan(40);
    const before = writes().length;
    await env.advance('1m');
    expect(writes()).toHaveLength(before);
    broken.two = false;
    await env.advance('20s');
    expect(await state()).toEqual([3, 'True', 'Reconciled', '']);
    broken.one = true;
    await env.client.patch(Widget, inDefault('a'), { type: 'merge', body: { spec: { size: 4 } } });
    await env.advance('1m');
    expect(await state()).toEqual([4, 'False', 'ReconcileFailed', 'Error: one fails']);
    broken.one = false;
    await env.advance('20s');
    expect(await state()).toEqual([4, 'True', 'Reconciled', '']);
    await env.expectConverged();
  });
});

describe('timeouts', () => {
  test('a reconcile that takes too long is reported in the status, with its earlier values', async () => {
    await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
    let isStuck = true;
    const widgets = control(Widget, { timeout: '10s', backoff: () => '1h' }).reconcile(async (context) => {
      await context.status({ size: 3 });
      if (isStuck) await context.clock.sleep(60_000, { signal: context.signal });
    });
    const manager = await env.run(widgets);
    await env.client.create(widget('a'));
    await env.advance('11s');
    const ready = async () => {
      const { status } = await env.client.get(Widget, inDefault('a'));
      return { size: status?.size, ...findCondition(status?.conditions, 'Ready') };
    };
    expect(await ready()).toMatchObject({
      ...{ size: 3, status: 'False', reason: 'ReconcileFailed' },
      message: expect.stringContaining('the reconcile took longer than 10s'),
    });
    expect(manager.explain.at(0)).toMatchObject({ outcome: 'error' });
    isStuck = false;
    await env.settle({ horizon: '2h', timeout: '3h' });
    expect(await ready()).toMatchObject({ size: 3, status: 'True' });
  });

  test('reads from the server end with the reconcile, too', async () => {
    await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
    const widgets = control(Widget, { timeout: '10s', maxRetries: 0 }).reconcile(async ({ client }) => {
      await client.find(Secret, inDefault('s'));
    });
    const manager = await env.run(widgets);
    env.faults.add({ verb: 'get', kind: Secret }, { stall: 'request' });
    await env.client.create(widget('a'));
    await env.eventually(() => manager.explain.length > 0, { within: '11s' });
    expect(manager.explain[0]).toMatchObject({ outcome: 'gave_up', durationMs: 10_000 });
    expect(manager.explain[0]?.error).toContain('the reconcile took longer than 10s');
  });
});

describe('work that is not awaited', () => {
  test('a reconciler that continues after it has returned is reported, once', async () => {
    await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
    const ends: Promise<unknown>[] = [];
    const widgets = control(Widget).reconcile(({ object, apply, clock }) => {
      const work = async () => {
        await clock.sleep(1_000);
        await apply(ConfigMap({ metadata: { name: object.metadata.name } }));
      };
      // Not waited for.
      ends.push(work());
    });
    await env.run(widgets);
    await env.client.create(widget('a'));
    await env.client.create(widget('b'));
    await env.advance('5s');
    await Promise.all(ends);
    const reported = env.log.records.filter(({ message }) => message.includes('made a call after it had returned'));
    expect(reported.map(({ level, fields }) => [level, fields.controller, fields.key])).toEqual([
      ['warn', 'widget', 'default/a'],
    ]);
  });
});

describe('tracing', () => {
  /** Keeps each span as text, and those of what it was part of. */
  function memoryTracer() {
    const paths = new Map<Span, string>();
    const lines: string[] = [];
    const tracer: Tracer = {
      enabled: true,
      span: (name, attributes = {}, parent) => {
        const words = name === 'reconcile' ? [name, attributes.key] : [attributes.verb, attributes.route];
        const path = [parent && paths.get(parent), words.join(' ')].filter(Boolean).join(' > ');
        const span: Span = { set() {}, error() {}, end: () => void lines.push(path) };
        paths.set(span, path);
        return span;
      },
    };
    return { tracer, lines };
  }

  test('what a reconcile asks of the server is part of its span', async () => {
    await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
    const { tracer, lines } = memoryTracer();
    const widgets = control(Widget)
      .owns(ConfigMap)
      .reconcile(async ({ apply, status, client, clock, span }) => {
        await apply(ConfigMap({ metadata: { name: 'a' } }));
        await client.find(Secret, inDefault('s'));
        await status({ size: 1 });
        tracer.span('reconcile', { key: `own work at ${clock.now() > 0}` }, span).end();
      });
    const { config } = env.connect({ name: 'traced' });
    await using manager = new Manager({
      config,
      loopMonitor: false,
      runtime: { clock: env.clock, log: silentLogger, tracer },
    });
    manager.add(widgets);
    const stop = new AbortController();
    const ended = manager.run({ signal: stop.signal });
    await env.client.create(widget('a'));
    await env.eventually(() => manager.explain.length > 0);
    expect(lines.filter((line) => line.startsWith('reconcile default/a')).slice(0, 5)).toEqual([
      expect.stringMatching(/^reconcile default\/a > PATCH .*configmaps\/\{name\}$/i),
      expect.stringMatching(/^reconcile default\/a > GET .*secrets\/\{name\}$/i),
      expect.stringMatching(/^reconcile default\/a > PATCH .*widgets\/\{name\}\/status$/i),
      'reconcile default/a > reconcile own work at true',
      'reconcile default/a',
    ]);
    stop.abort();
    await env.eventually(() => ended);
  });
});

describe('kinds that are not read from the cache', () => {
  test('kinds that are not to be read from the cache are not, in reconcilers neither', async () => {
    await using env = await TestEnvironment.start({ server: 'in-process' });
    const maps = control(ConfigMap)
      .reads(Secret)
      .reconcile(async ({ client, object: { metadata } }) => {
        if (metadata.name === 'a') await client.find(Secret, inDefault('s'));
      });
    const run = await env.startManager({ uncached: [Secret], run: [maps] });
    await env.client.create(ConfigMap({ metadata: inDefault('a') }));
    await env.settle();
    await run.manager.client.find(Secret, inDefault('s'));
    const lines = env.requests.lines({ kind: Secret }).filter((line) => line.startsWith('get'));
    expect(lines).toEqual(['get Secret default/s', 'get Secret default/s']);
  });
});
