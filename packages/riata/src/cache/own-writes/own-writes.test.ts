import { expect, test } from 'vitest';
import type { KubeObject, ObjectMeta } from '../../object/meta.js';
import { memoryMetrics, noMetrics } from '../../runtime/metrics.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { OwnWrites } from './own-writes.js';

function object(resourceVersion: string, uid = 'u1', name = 'a'): KubeObject {
  const metadata: ObjectMeta = { name, uid, resourceVersion, creationTimestamp: '2026-01-01T00:00:00Z' };
  return { apiVersion: 'v1', kind: 'Thing', metadata };
}

function ownWrites() {
  const clock = new VirtualClock();
  const metrics = memoryMetrics();
  const own = new OwnWrites<KubeObject>({ clock, metrics, name: 'things' });
  const write = (thing: KubeObject) => own.written('a', thing.metadata, thing);
  return { own, clock, metrics, write };
}

test('an own write is seen until the watch has shown it', () => {
  const { own, write } = ownWrites();
  own.shownAll('10');
  write(object('12'));
  expect(own.view('a', object('9'))).toMatchObject({ metadata: { resourceVersion: '12' } });
  expect(Object.isFrozen(own.view('a', undefined)?.metadata)).toBe(true);
  own.shown('b', '11');
  expect(own.view('a', object('9'))?.metadata.resourceVersion).toBe('12');
  own.shown('a', '12');
  expect(own.size).toBe(0);
  expect(own.view('a', object('12'))?.metadata.resourceVersion).toBe('12');
});

test('an answer that comes after its event changes nothing', () => {
  const { own, write } = ownWrites();
  own.shown('a', '12');
  write(object('12'));
  own.deleted('a', 'u1', '11');
  expect(own.size).toBe(0);
});

test('a bookmark or an event of another object that is newer ends it', () => {
  const { own, write } = ownWrites();
  own.shownAll('10');
  write(object('12'));
  own.shownUpTo('12');
  expect(own.size).toBe(0);
  write(object('14'));
  own.shown('other', '15');
  expect(own.view('a', undefined)).toBeUndefined();
});

test('answers in the wrong order: the newest version stays', () => {
  const { own, write } = ownWrites();
  own.shownAll('10');
  write(object('14'));
  write(object('12'));
  expect(own.view('a', undefined)?.metadata.resourceVersion).toBe('14');
});

test('UpdateConcurrentDelete: a late answer does not bring back what was deleted', () => {
  const { own, write } = ownWrites();
  own.shownAll('10');
  own.deleted('a', 'u1');
  write(object('12', 'u1'));
  expect(own.view('a', object('9', 'u1'))).toBeUndefined();
});

test('UpdateConcurrentRecreate: a deletion hides its UID alone', () => {
  const { own } = ownWrites();
  own.shownAll('10');
  own.deleted('a', 'u1');
  expect(own.view('a', object('9', 'u1'))).toBeUndefined();
  expect(own.view('a', object('13', 'u2'))?.metadata.uid).toBe('u2');
  own.shownDeleted('a', 'u1', '12');
  expect(own.size).toBe(0);
});

test('several objects of one name are gone: none of them is seen, whichever the watch shows', () => {
  const { own, write } = ownWrites();
  own.shownAll('10');
  own.deleted('a', 'u1');
  own.deleted('a', 'u2');
  own.deleted('a', 'u1');
  expect(own.view('a', object('9', 'u1'))).toBeUndefined();
  expect(own.view('a', object('13', 'u2'))).toBeUndefined();
  write(object('12', 'u1'));
  expect(own.view('a', undefined)).toBeUndefined();
  expect(own.view('a', object('15', 'u3'))?.metadata.uid).toBe('u3');
  own.shownDeleted('a', 'u2', '14');
  // The answers may have come in any order: the other one may be shown yet.
  expect(own.view('a', object('16', 'u1'))).toBeUndefined();
  own.shownDeleted('a', 'u1', '17');
  expect(own.size).toBe(0);
});

test('a deletion of an object that the watch has not shown yet is uncertain where it shows another one', () => {
  let shown: KubeObject | undefined;
  const options = { clock: new VirtualClock(), metrics: noMetrics, name: 'things' };
  const own = new OwnWrites<KubeObject>({ ...options, shown: () => shown });
  own.shownAll('10');
  shown = object('9', 'u1');
  own.deleted('a', 'u1');
  expect(own.uncertainWriteOf('a')).toBeUndefined();
  own.deleted('a', 'u3');
  expect(own.uncertainWriteOf('a')).toBeUndefined();
  shown = object('12', 'u2');
  own.shown('a', '12');
  expect(own.uncertainWriteOf('a')).toBeDefined();
});

test('a deletion reported with an older version is no step back', () => {
  const { own, write } = ownWrites();
  own.shown('b', '20');
  own.shownDeleted('c', 'u9', '7');
  write(object('18'));
  expect(own.size).toBe(0);
});

test('a recreated object is visible in place of the deleted one, and of the one that the watch still shows', () => {
  const { own, write } = ownWrites();
  own.shownAll('10');
  own.deleted('a', 'u1');
  write(object('13', 'u2'));
  expect(own.view('a', object('9', 'u1'))?.metadata.uid).toBe('u2');
  own.shownDeleted('a', 'u1', '12');
  expect(own.view('a', undefined)?.metadata.uid).toBe('u2');
});

test('a deletion of unknown revision that the watch never shows is forgotten after five minutes', async () => {
  const { own, clock } = ownWrites();
  own.shownAll('10');
  own.deleted('a', 'u1');
  await clock.advance(299_000);
  own.shownUpTo('20');
  expect(own.size).toBe(1);
  await clock.advance(2_000);
  own.shownUpTo('21');
  expect(own.size).toBe(0);
});

test('an object that left the selection is hidden until the watch has shown it', () => {
  const { own } = ownWrites();
  own.shownAll('10');
  own.written('a', object('12').metadata, undefined);
  expect(own.view('a', object('9'))).toBeUndefined();
  own.shownDeleted('a', 'u1', '12');
  expect(own.size).toBe(0);
});

test('a list reveals own writes that only it knows about', () => {
  const { own, write } = ownWrites();
  own.shownAll('10');
  write(object('12'));
  expect(own.shownAll('11')).toEqual([]);
  expect(own.shownAll('15')).toEqual([['a', object('12')]]);
  own.deleted('a', 'u1', '18');
  expect(own.shownAll('20')).toEqual([]);
});

test('revisions that cannot be compared: shown by its very version, by its deletion, or by a new list', () => {
  const { own, write } = ownWrites();
  own.shownAll('x1');
  write(object('x3'));
  own.shown('a', 'x2');
  expect(own.view('a', undefined)?.metadata.resourceVersion).toBe('x3');
  own.shown('a', 'x3');
  expect(own.size).toBe(0);
  write(object('x4'));
  own.shownDeleted('a', 'u1', 'x5');
  expect(own.size).toBe(0);
  write(object('x6'));
  own.shownAll('x7');
  expect(own.size).toBe(0);
});

test('a write is uncertain until it is settled, or the watch has reached its revision', () => {
  const { own } = ownWrites();
  own.shownAll('10');
  own.markUncertain('a');
  own.markUncertain('b', '12');
  own.markUncertain('c', '9');
  expect(own.uncertainKeys()).toEqual(['a', 'b']);
  const first = own.uncertainWriteOf('a');
  own.markUncertain('a');
  if (first !== undefined) own.settle(first, 'a');
  expect(own.uncertainWriteOf('a')).toBeDefined();
  const second = own.uncertainWriteOf('a');
  if (second !== undefined) own.settle(second, 'a');
  expect(own.uncertainWriteOf('a')).toBeUndefined();
  own.shown('x', '12');
  expect(own.uncertainWriteOf('b')).toBeUndefined();
});

test('uncertain writes expire', async () => {
  const { own, clock } = ownWrites();
  own.shownAll('10');
  for (let i = 0; i < 1000; i += 1) own.markUncertain(`k${i}`);
  await clock.advance(200_000);
  own.markUncertain('late');
  own.markAllUncertain();
  own.shown('other', '11');
  expect(own.uncertainKeys()).toHaveLength(1001);
  await clock.advance(100_001);
  own.shown('other', '12');
  expect(own.uncertainKeys()).toEqual(['late']);
  expect(own.uncertainWriteOf()).toBeDefined();
  await clock.advance(200_000);
  expect([own.uncertainWriteOf(), own.uncertainWriteOf('late'), own.uncertainKeys()]).toEqual([
    undefined,
    undefined,
    [],
  ]);
});

test('the revision of an uncertain write may be learned later; writes in between stay uncertain', () => {
  const { own } = ownWrites();
  own.shownAll('10');
  own.markUncertain('a');
  own.markAllUncertain();
  const open = own.uncertainWrites();
  own.markUncertain('a');
  own.boundUncertainWrites(open, '14');
  expect(own.uncertainWriteOf()).toEqual({ resourceVersion: '14' });
  own.shown('b', '14');
  expect([own.uncertainWriteOf(), own.uncertainWriteOf('a')]).toEqual([undefined, { resourceVersion: undefined }]);
  own.boundUncertainWrites(own.uncertainWrites(), '14');
  expect(own.uncertainWriteOf('a')).toBeUndefined();
});

test('an uncertain write about all is settled for one object that was checked, until the next one', () => {
  const { own } = ownWrites();
  own.shownAll('10');
  own.markAllUncertain();
  own.settle(own.uncertainWriteOf('a') ?? { resourceVersion: '' }, 'a');
  expect([own.uncertainWriteOf('a') === undefined, own.uncertainWriteOf('b') === undefined]).toEqual([true, false]);
  own.markAllUncertain();
  expect(own.uncertainWriteOf('a')).toBeDefined();
});

test('an uncertain write about all is one about each', () => {
  const { own } = ownWrites();
  own.shownAll('10');
  own.markAllUncertain();
  expect(own.uncertainWriteOf('a')).toEqual({ resourceVersion: undefined });
  const write = own.uncertainWriteOf();
  if (write !== undefined) own.settle(write, 'a');
  expect(own.uncertainWriteOf()).toBe(write);
  if (write !== undefined) own.settle(write);
  expect(own.uncertainWriteOf('a')).toBeUndefined();
  own.markAllUncertain('12');
  own.shownUpTo('12');
  expect(own.uncertainWriteOf()).toBeUndefined();
});

test('one can wait for a revision', async () => {
  const { own } = ownWrites();
  own.shownAll('10');
  await own.reached('10');
  const order: string[] = [];
  const waiting = own.reached('12').then(() => order.push('reached'));
  own.shown('b', '11');
  await Promise.resolve();
  order.push('11');
  own.shown('b', '13');
  await waiting;
  expect(order).toEqual(['11', 'reached']);
  const controller = new AbortController();
  const given = own.reached('99', { signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
});

test('reports how many there are and how long they waited', async () => {
  const { own, clock, metrics, write } = ownWrites();
  own.shownAll('10');
  write(object('12'));
  expect(metrics.value('riata_cache_overlay_entries', { name: 'things' })).toBe(1);
  await clock.advance(500);
  own.shown('a', '12');
  expect(metrics.value('riata_cache_overlay_entries', { name: 'things' })).toBe(0);
  expect(metrics.observed('riata_cache_overlay_age_seconds', { name: 'things' })).toEqual([0.5]);
});
