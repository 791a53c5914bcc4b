import type { KubeObject } from 'riata/object';
import { VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { DurableStorage } from './durable-storage.js';
import { HeldStore } from './held-store.fixture.js';

function started() {
  const clock = new VirtualClock();
  const records = new HeldStore();
  const content = { versions: [], revision: 0, compacted: 0 };
  const storage = new DurableStorage({ records, content, name: '/data', clock, realTime: clock });
  const put = (name: string) => storage.put('/configmaps', name, object(name)).revision;
  return { clock, records, storage, put };
}

function object(name: string) {
  return (revision: number) =>
    ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, resourceVersion: String(revision) } }) as KubeObject;
}

test('writes during an fsync share the next one', async () => {
  const { clock, records, storage, put } = started();
  put('a');
  put('b');
  await clock.settle();
  for (const name of ['c', 'd', 'e']) put(name);
  await clock.settle();
  expect(records.batches).toEqual([[1, 2]]);
  const first = storage.durable(2);
  const second = storage.durable(5);
  records.letThrough();
  await first;
  await clock.settle();
  expect(records.batches).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  expect(storage.durableRevision).toBe(2);
  records.letThrough();
  await second;
});

test('a full disk refuses writes, loses nothing, and recovers when there is space', async () => {
  const { clock, records, storage, put } = started();
  const reported: number[] = [];
  storage.watch('/configmaps', 0, ({ revision }) => reported.push(revision));
  put('a');
  const waiting = storage.durable(1)!;
  await clock.settle();
  records.fail('IO error: /data/journal/000003.log: No space left on device');
  const message =
    'data directory /data: cannot write: no space left on the disk; writes are accepted again once that is fixed';
  await expect(waiting).rejects.toThrow(message);
  expect(storage.problem?.message).toBe(message);
  await expect(storage.durable(1)).rejects.toThrow(message);
  put('b');
  records.reopenError = new Error('No space left on device');
  await clock.advance(3_000);
  expect(records.reopened).toBe(3);
  expect(records.batches).toEqual([[1]]);
  records.reopenError = undefined;
  await clock.advance(1_000);
  expect(records.batches).toEqual([[1], [1, 2]]);
  expect(reported).toEqual([]);
  records.letThrough();
  await clock.settle();
  expect(storage.problem).toBeUndefined();
  expect(storage.durable(2)).toBeUndefined();
  expect(reported).toEqual([1, 2]);
});

test('a failed transaction that reached the disk is not written twice', async () => {
  const { clock, records, storage, put } = started();
  put('a');
  await clock.settle();
  records.fail('fsync: EIO', true);
  await clock.settle();
  put('b');
  await clock.advance(1_000);
  expect(records.batches).toEqual([[1], [2]]);
  records.letThrough();
  await clock.settle();
  expect(storage.durable(2)).toBeUndefined();
});

test('closing while the disk is full rejects with the cause', async () => {
  const { clock, records, storage, put } = started();
  put('a');
  await clock.settle();
  records.fail('EROFS: read-only file system');
  await clock.settle();
  const closed = expect(storage.close()).rejects.toThrow('cannot write: the file system is read-only');
  // It retries once.
  await clock.settle();
  records.fail('EROFS: read-only file system');
  await closed;
  expect(records.batches).toEqual([[1], [1]]);
});

test('compacted versions are deleted once', async () => {
  const { clock, records, storage, put } = started();
  for (const name of ['a', 'b', 'a', 'a']) put(name);
  storage.remove('/configmaps', 'b', object('b'));
  await clock.settle();
  records.letThrough();
  await clock.settle();
  expect(records.pruned).toEqual([]);
  storage.compact(3);
  await clock.settle();
  expect(records.pruned).toEqual([1]);
  storage.compact(5);
  await clock.settle();
  expect(records.pruned).toEqual([1, 3, 2, 5]);
});

test('versions are deleted while writes keep coming', async () => {
  const { clock, records, storage, put } = started();
  put('a');
  for (let count = 0; count < 5; count += 1) {
    await clock.settle();
    put('a');
    storage.compact(storage.revision);
    // The next write is waiting when this one is through.
    records.letThrough();
  }
  await clock.settle();
  expect(records.batches.length).toBeGreaterThan(4);
  expect(records.pruned.length).toBeGreaterThan(3);
});
