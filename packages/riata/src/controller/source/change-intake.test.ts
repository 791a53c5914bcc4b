import { expect, test } from 'vitest';
import { type Change, StoredChange } from '../../cache/informer/change.js';
import type { KubeObject } from '../../object/meta.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { resolveRuntime } from '../../runtime/runtime.js';
import { ChangeIntake } from './change-intake.js';
import type { EventHandler } from './event-handler.js';
import { sourceBench } from './source.fixture.js';
import { SourceFailures } from './source-failures.js';

function version(name: string, resourceVersion: number, uid = name): KubeObject {
  const metadata = { namespace: 'shop', name, uid, resourceVersion: `${resourceVersion}`, creationTimestamp: '' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
}

const added = (now: KubeObject) => new StoredChange('Added', `shop/${now.metadata.name}`, undefined, now);
const updated = (old: KubeObject, now: KubeObject) =>
  new StoredChange('Updated', `shop/${now.metadata.name}`, old, now);
const deleted = (old: KubeObject) => new StoredChange('Deleted', `shop/${old.metadata.name}`, old, undefined);

/** An intake whose handler does what `answer` says, and the changes that it received. */
function bench(answer: (change: Change<KubeObject>, call: number) => void | Promise<void>) {
  const { clock, log, queue, names } = sourceBench();
  const metrics = memoryMetrics();
  const runtime = resolveRuntime({ clock, log, metrics });
  const failures = new SourceFailures('c', runtime);
  const reported: string[] = [];
  const handler: EventHandler = ({ type, key, old, new: now }, enqueue) => {
    reported.push(`${type} ${key} ${old?.metadata.resourceVersion ?? ''}>${now?.metadata.resourceVersion ?? ''}`);
    const taken = () => enqueue({ name: key.replace('/', '-') });
    const waiting = answer({ type, key, old, new: now } as Change<KubeObject>, reported.length);
    return waiting === undefined ? taken() : waiting.then(taken);
  };
  const stop = new AbortController();
  const kind = 'ConfigMap';
  const parts = { name: 'watches ConfigMap', kind, handler, predicates: [], cluster: undefined, runtime, failures };
  const intake = new ChangeIntake<KubeObject>(parts, queue, stop.signal);
  const failing = () => failures.list.map(({ key, attempts, error }) => `${key} ${attempts} ${error}`);
  return {
    clock,
    log,
    metrics,
    names,
    reported,
    failing,
    stop,
    take: (change: Change<KubeObject>) => intake.onChange(change),
  };
}

test('a handler that does not return: named after a while, others pass, and when it has returned', async () => {
  let end = () => {};
  const { clock, log, take, names, failing, reported } = bench(({ key }) => {
    if (key !== 'shop/a') return;
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  let isTaken = false;
  void Promise.resolve(take(added(version('a', 1)))).then(() => {
    isTaken = true;
  });
  await clock.advance(29_999);
  expect([log.records, isTaken, failing()]).toEqual([[], false, []]);
  await clock.advance(60_001);
  expect(isTaken).toBe(true);
  const where = { controller: 'c', source: 'watches ConfigMap', function: 'handler', key: 'shop/a' };
  expect(log.records).toMatchObject([
    {
      level: 'warn',
      message: 'handler has not returned, not waiting for it any longer',
      fields: { ...where, afterMs: 30_000 },
    },
  ]);
  expect(failing()).toEqual(['shop/a 1 has not returned for 30 s']);
  await take(added(version('b', 1)));
  expect(names()).toEqual(['shop-b']);
  // Changes of the same object wait for it, and are merged then.
  await take(updated(version('a', 1), version('a', 2)));
  await take(updated(version('a', 2), version('a', 3)));
  expect(reported).toHaveLength(2);
  const before = end;
  before();
  await clock.settle();
  expect(reported.slice(2)).toEqual(['Updated shop/a 1>3']);
  expect(log.records[1]).toMatchObject({ level: 'info', message: 'handler has returned', fields: where });
  expect(names()).toEqual(['shop-a']);
  end();
  await clock.settle();
  expect([failing(), names(), clock.pending]).toEqual([[], ['shop-a'], 0]);
});

test('while one hangs, others that do so are waited for a second each', async () => {
  const { clock, take, failing } = bench(() => new Promise<void>(() => {}));
  void take(added(version('a', 1)));
  await clock.advance(30_000);
  void take(added(version('b', 1)));
  await clock.advance(1_000);
  expect(failing()).toEqual(['shop/a 1 has not returned for 30 s', 'shop/b 1 has not returned for 1 s']);
});

test('a handler that fails after it has hung is retried, with what has come meanwhile', async () => {
  let fail: (error: Error) => void = () => {};
  const { clock, take, reported, failing, names } = bench((_, call) => {
    if (call > 1) return;
    return new Promise<void>((_resolve, reject) => {
      fail = reject;
    });
  });
  void take(updated(version('a', 1), version('a', 2)));
  await clock.advance(30_000);
  void take(deleted(version('a', 2)));
  fail(new Error('late'));
  await clock.settle();
  expect(reported.slice(1)).toEqual(['Deleted shop/a 1>']);
  expect([failing(), names()]).toEqual([[], ['shop-a']]);
});

test('an async retry in flight: later changes of the object wait for it', async () => {
  let end = () => {};
  const { clock, take, reported, failing } = bench((_, call) => {
    if (call === 1) throw new Error('not now');
    if (call > 2) return;
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  void take(added(version('a', 1)));
  await clock.advance(200);
  void take(updated(version('a', 1), version('a', 2)));
  await clock.settle();
  expect(reported).toHaveLength(2);
  end();
  await clock.settle();
  expect(reported).toEqual(['Added shop/a >1', 'Added shop/a >1', 'Updated shop/a 1>2']);
  expect(failing()).toEqual([]);
});

test('an object that was taken and is gone: retried for a while, then given up', async () => {
  const { clock, take, reported, log, failing } = bench(() => {
    throw new Error('boom');
  });
  void take(deleted(version('a', 1)));
  await clock.advance(60_000);
  expect(failing()).toEqual(['shop/a 9 Error: boom']);
  await clock.advance(600_000);
  expect([reported.length, failing()]).toEqual([10, []]);
  expect(log.messages('error')).toEqual([
    'function failed for one object, will be retried',
    'function failed for an object that is gone, gave up',
  ]);
});

test('another object in the place of one that is gone does not wait for that', async () => {
  const { take, reported, log, failing, names } = bench(({ type }) => {
    if (type === 'Deleted') throw new Error('boom');
  });
  void take(deleted(version('a', 1)));
  void take(added(version('a', 7, 'another')));
  expect(reported).toEqual(['Deleted shop/a 1>', 'Deleted shop/a 1>', 'Added shop/a >7']);
  expect([failing(), names()]).toEqual([[], ['shop-a']]);
  expect(log.messages('error')).toContain('function failed for an object that another one has replaced, gave up');
});

test('one that fails for all objects is not called for all of them over and over, and when it works, soon for all', async () => {
  let isBroken = true;
  const { clock, take, reported, log, names, metrics } = bench(() => {
    if (isBroken) throw new Error('boom');
  });
  for (let count = 0; count < 1_000; count += 1) void take(added(version(`o${count}`, 1)));
  const gauge = () => metrics.value('riata_source_failing_objects', { controller: 'c', source: 'watches ConfigMap' });
  expect(gauge()).toBe(1_000);
  // The first ones, and then tens, hundreds…
  expect(log.messages('error')).toHaveLength(20 + 2);
  reported.length = 0;
  await clock.advance(10_000);
  expect(reported.length).toBeLessThan(50 + 10 * 50 + 1);
  isBroken = false;
  await clock.advance(60_000);
  expect(names()).toHaveLength(1_000);
  expect(gauge()).toBe(0);
});

test('nothing is retried once its source has ended', async () => {
  const { clock, take, reported, failing, stop } = bench(() => {
    throw new Error('boom');
  });
  void take(added(version('a', 1)));
  expect(failing()).toHaveLength(1);
  stop.abort();
  expect(failing()).toEqual([]);
  await clock.advance(600_000);
  expect([reported.length, clock.pending]).toEqual([1, 0]);
});

test('a key that the queue refuses keeps none of the others from it', async () => {
  const { clock, log, queue, names } = sourceBench();
  const runtime = resolveRuntime({ clock, log });
  const add = queue.add.bind(queue);
  let isBroken = true;
  queue.add = (key, options) => {
    if (isBroken && key.name === 'b') throw new Error('not this one');
    add(key, options);
  };
  const handler: EventHandler = (_, enqueue) => {
    for (const name of ['a', 'b', 'c']) enqueue({ name });
  };
  const parts = { name: 's', kind: 'ConfigMap', handler, predicates: [], cluster: undefined, runtime };
  void new ChangeIntake<KubeObject>(parts, queue, new AbortController().signal).onChange(added(version('x', 1)));
  expect(names()).toEqual(['a', 'c']);
  isBroken = false;
  await clock.advance(200);
  expect(names()).toContain('b');
});
