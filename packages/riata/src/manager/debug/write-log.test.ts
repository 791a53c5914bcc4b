import { expect, test } from 'vitest';
import { type Cache, tryCached } from '../../cache/cache.js';
import { notCached } from '../../cache/cache-reader.js';
import type { Write, WriteListener } from '../../client/operation/write-hook.js';
import { Lease } from '../../kinds/generated/groups/coordination.k8s.io/v1.js';
import { ConfigMap, Secret } from '../../kinds/generated/groups/core/v1.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { WriteLog } from './write-log.js';

function setUp(cached: () => unknown) {
  const log = new WriteLog(new VirtualClock());
  let listener: WriteListener = () => {};
  const onWrite = (given: WriteListener) => {
    listener = given;
    return { [Symbol.dispose]: () => {} };
  };
  log.follow({ onWrite } as never, () => ({ [tryCached]: cached }) as unknown as Cache);
  return { log, write: (write: unknown) => listener(write as Write) };
}

const version = (kind: string, resourceVersion: string, data: object) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'a', namespace: 'n', resourceVersion },
  data,
});
const named = { cluster: undefined, apiVersion: 'v1', namespace: 'n', name: 'a' };
const operation = { verb: 'update', kind: ConfigMap, namespace: 'n', name: 'a', params: {} };

test('compares with what the cache had; with its own last write if the watch was faster than the answer', () => {
  let cached: unknown = version('ConfigMap', '1', { size: 1 });
  const { log, write } = setUp(() => cached);
  write({ operation, answer: version('ConfigMap', '2', { size: 2 }) });
  cached = version('ConfigMap', '3', { size: 3 });
  write({ operation, answer: cached });
  const [first, second] = log.of({ ...named, kind: 'ConfigMap' });
  expect(first).toMatchObject({ compared: 'stored', changes: [{ path: 'data.size', before: 1, after: 2 }] });
  expect(second).toMatchObject({ compared: 'stored', changes: [{ path: 'data.size', before: 2, after: 3 }] });
});

test('without a version before, shows what was sent, and no values of a Secret', () => {
  const { log, write } = setUp(() => notCached);
  const secret = { ...operation, verb: 'patch', kind: Secret };
  const answer = version('Secret', '2', { a: 'xyzzy' });
  write({ operation: { ...secret, body: { data: { a: 'xyzzy' } } }, answer });
  write({ operation: { ...secret, body: [{ op: 'replace', path: '/data/a', value: 'xyzzy' }] }, answer });
  const writes = log.of({ ...named, kind: 'Secret' });
  expect(writes).toMatchObject([{ compared: 'sent' }, { compared: 'sent' }]);
  expect(writes[1]?.changes).toEqual([{ path: '0', after: { op: 'replace', path: '/data/a' } }]);
  expect(JSON.stringify(writes)).not.toContain('xyzzy');
});

test('kinds of two groups with the same name are two, versions of one group are one', () => {
  const { log, write } = setUp(() => undefined);
  const other = { ...operation, kind: { kind: 'ConfigMap', apiVersion: 'example.com/v1' } };
  write({ operation: other, answer: { ...version('ConfigMap', '7', { size: 1 }), apiVersion: 'example.com/v1' } });
  expect(log.of({ ...named, kind: 'ConfigMap' })).toEqual([]);
  const found = log.of({ ...named, kind: 'ConfigMap', apiVersion: 'example.com/v1beta1' });
  expect(found).toMatchObject([{ resourceVersion: '7' }]);
});

test('keeps the newest 256', () => {
  const { log, write } = setUp(() => undefined);
  for (let at = 0; at < 300; at += 1) write({ operation, answer: version('ConfigMap', `${at}`, {}) });
  const versions = log.of({ ...named, kind: 'ConfigMap' }).map(({ resourceVersion }) => resourceVersion);
  expect([versions.length, versions[0], versions.at(-1)]).toEqual([256, '44', '299']);
});

test('a busy kind pushes out its own oldest writes, not those of another kind', () => {
  const { log, write } = setUp(() => undefined);
  const quiet = { ...operation, kind: Secret };
  for (let at = 0; at < 3; at += 1) write({ operation: quiet, answer: version('Secret', `${at}`, {}) });
  for (let at = 0; at < 1_000; at += 1) write({ operation, answer: version('ConfigMap', `${at}`, {}) });
  expect(log.of({ ...named, kind: 'Secret' })).toHaveLength(3);
  const busy = log.of({ ...named, kind: 'ConfigMap' }).map(({ resourceVersion }) => resourceVersion);
  expect([busy.length, busy[0], busy.at(-1)]).toEqual([253, '747', '999']);
});

test('renewed Leases push nothing out', () => {
  const { log, write } = setUp(() => notCached);
  write({ operation, answer: version('ConfigMap', '2', { size: 2 }) });
  for (let turn = 0; turn < 300; turn += 1) {
    write({ operation: { ...operation, kind: Lease }, answer: version('Lease', `${turn}`, {}) });
  }
  expect(log.of({ ...named, kind: 'ConfigMap' })).toHaveLength(1);
  expect(log.of({ ...named, kind: 'Lease' })).toEqual([]);
});

test('keeps what differs instead of large versions, and fewer writes than 256 if what differs is large, too', () => {
  const large = (fill: string) =>
    Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, fill.repeat(400)]));
  let cached: unknown = version('ConfigMap', '0', large('a'));
  const { log, write } = setUp(() => cached);
  cached = version('ConfigMap', '1', { ...large('a'), k7: 'b' });
  write({ operation, answer: version('ConfigMap', '2', { ...large('a'), k7: 'c' }) });
  const changes = [{ path: 'data.k7', before: 'b', after: 'c' }];
  expect(log.of({ ...named, kind: 'ConfigMap' })).toMatchObject([{ compared: 'stored', changes }]);
  for (let at = 0; at < 100; at += 1) write({ operation, answer: version('ConfigMap', `${at + 3}`, large('d')) });
  const kept = log.of({ ...named, kind: 'ConfigMap' });
  expect(JSON.stringify(kept).length).toBeLessThanOrEqual(2_000_000);
  expect(kept.at(-1)).toMatchObject({ resourceVersion: '102', moreChanges: 0 });
});

test('compares the oldest writes early when all versions together are large', () => {
  const text = 'x'.repeat(12_000);
  let size = 0;
  const { log, write } = setUp(() => version('ConfigMap', `${size}`, { text, size }));
  for (let at = 1; at <= 200; at += 1) {
    write({ operation, answer: version('ConfigMap', `${at + 1000}`, { text, size: size + 1 }) });
    size += 1;
  }
  const kept = log.of({ ...named, kind: 'ConfigMap' });
  expect(kept).toHaveLength(200);
  expect(kept[0]?.changes).toEqual([{ path: 'data.size', before: 0, after: 1 }]);
  expect(kept.at(-1)?.changes).toEqual([{ path: 'data.size', before: 199, after: 200 }]);
});
