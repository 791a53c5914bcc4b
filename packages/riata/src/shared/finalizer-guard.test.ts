import { expect, test } from 'vitest';
import type { KubeObject } from '../object/meta.js';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { FinalizerGuard } from './finalizer-guard.js';

const object = (uid: string, metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', uid, resourceVersion: '1', creationTimestamp: '', ...metadata },
});
const deletionTimestamp = '2026-01-01T00:00:00Z';

test('an object whose last finalizer is gone is stale for a minute, as long as it seems to be deleted', async () => {
  const clock = new VirtualClock();
  const guard = new FinalizerGuard(clock);
  guard.left(object('a', { deletionTimestamp, finalizers: [] }));
  guard.left(object('b', { deletionTimestamp, finalizers: ['one'] }));
  guard.left(object('c'));
  guard.left(undefined);
  const seen = { deletionTimestamp, finalizers: ['one'] };
  expect(['a', 'b', 'c'].filter((uid) => guard.isStale(object(uid, seen)))).toEqual(['a']);
  expect(guard.isStale(object('a'))).toBe(false);
  expect(guard.isStale(undefined)).toBe(false);
  await clock.advance(59_999);
  expect(guard.isStale(object('a', seen))).toBe(true);
  await clock.advance(1);
  expect(guard.isStale(object('a', seen))).toBe(false);
});

test('it forgets what is over', async () => {
  const clock = new VirtualClock();
  const guard = new FinalizerGuard(clock);
  for (let i = 0; i < 1_000; i += 1) {
    guard.left(object(`uid-${i}`, { deletionTimestamp }));
    await clock.advance(1_000);
    guard.isStale(undefined);
  }
  expect(guard.size).toBeLessThanOrEqual(60);
});
