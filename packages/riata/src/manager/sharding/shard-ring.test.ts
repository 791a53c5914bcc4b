import { describe, expect, test } from 'vitest';
import { isNotInShard } from '../../controller/loop/not-in-shard.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { isLostLease } from '../../runtime/stop-reasons.js';
import { ringWorld } from './shard-ring.fixture.js';
import { ShardRing } from './shard-ring.js';

const allSlots = Array.from({ length: 64 }, (_, slot) => slot);
const sorted = (slots: readonly number[]) => [...slots].sort((a, b) => a - b);
const keyIn = (ring: ShardRing, slots: readonly number[]) => {
  for (let at = 0; ; at += 1) if (slots.includes(ring.slotOf(`k${at}`))) return `k${at}`;
};

describe('sharing', () => {
  test('a new ring begins after one lease duration; a second one that joins takes over half, and nothing else moves', async () => {
    const { base, join } = ringWorld();
    const a = join('a');
    await base.advance(14_900);
    expect(a.ring.owned).toEqual([]);
    await base.advance(3_100);
    expect(sorted(a.ring.owned)).toEqual(allSlots);
    const b = join('b');
    await base.advance(6_100);
    expect([a.ring.owned.length, b.ring.owned.length]).toEqual([32, 32]);
    expect(sorted([...a.ring.owned, ...b.ring.owned])).toEqual(allSlots);
    expect(a.ring.members).toEqual(['a', 'b']);
    const c = join('c');
    await base.advance(9_100);
    expect([a.ring.owned.length, b.ring.owned.length, c.ring.owned.length]).toEqual([22, 21, 21]);
    const gains = [a, b, c].map(({ changes }) => changes.reduce((sum, { gained }) => sum + gained.length, 0));
    expect(gains).toEqual([64, 32, 21]);
  });

  test('who leaves hands over; the others have all within a renewal, and keep what they had', async () => {
    const { base, join } = ringWorld();
    const [a, b, c] = [join('a'), join('b'), join('c')];
    await base.advance(30_000);
    const before = [sorted(a.ring.owned), sorted(b.ring.owned)];
    c.stop.abort();
    await base.advance(3_100);
    await c.ended;
    expect(c.ring.owned).toEqual([]);
    expect(sorted([...a.ring.owned, ...b.ring.owned])).toEqual(allSlots);
    for (const [at, { ring }] of [a, b].entries()) expect(ring.owned).toEqual(expect.arrayContaining(before[at] ?? []));
    expect(a.ring.members).toEqual(['a', 'b']);
    b.stop.abort();
    a.stop.abort();
    await base.advance(3_100);
    await Promise.all([a.ended, b.ended]);
    const d = join('d');
    await base.advance(100);
    expect(sorted(d.ring.owned)).toEqual(allSlots);
  });

  test('what a crashed one had is dealt out when its lease has run out, not before', async () => {
    const { base, join } = ringWorld();
    const [a, b] = [join('a'), join('b')];
    await base.advance(30_000);
    b.clock.stop();
    await base.advance(14_900);
    expect(a.ring.owned).toHaveLength(32);
    await base.advance(3_200);
    expect(sorted(a.ring.owned)).toEqual(allSlots);
    // It wakes: it knows at once that it owns nothing, and comes back under a new id.
    const guard = b.ring.guard(keyIn(b.ring, allSlots));
    expect(b.ring.owned).toEqual([]);
    expect(guard.assertLeading).toThrow();
    b.clock.resume();
    await base.advance(10_000);
    expect([a.ring.owned.length, b.ring.owned.length]).toEqual([32, 32]);
  });

  test('costs one request per replica and renewal', async () => {
    const { base, server, join } = ringWorld();
    join('a');
    join('b');
    await base.advance(40_000);
    server.log.length = 0;
    await base.advance(300_000);
    expect(new Set(server.log)).toEqual(new Set(['a patch', 'b patch']));
    expect(server.log.length).toBeLessThanOrEqual(200);
  });

  test('a slot is handed over when the work on it has ended, one by one', async () => {
    const { base, join } = ringWorld();
    const a = join('a');
    await base.advance(20_000);
    const ends = new Map<number, () => void>();
    a.ring.onChange(({ lost }) => new Promise<void>((done) => ends.set(lost[0] as number, done)));
    const b = join('b');
    await base.advance(10_000);
    expect(ends.size).toBe(32);
    expect([a.ring.owned.length, b.ring.owned.length]).toEqual([32, 0]);
    const [slot, end] = [...ends][0] as [number, () => void];
    const key = keyIn(a.ring, [slot]);
    const guard = a.ring.guard(key);
    guard.assertLeading();
    expect([a.ring.owns(key), a.ring.epochOf(slot)]).toEqual([false, 1]);
    end();
    await base.advance(3_100);
    expect(b.ring.owned).toEqual([slot]);
    expect(b.ring.epochOf(slot)).toBe(2);
    expect(guard.assertLeading).toThrow('which is not a');
  });

  test('abandoned, it waits for nothing, and others for its lease', async () => {
    const { base, join } = ringWorld();
    const [a, b] = [join('a'), join('b')];
    await base.advance(30_000);
    b.ring.onChange(() => new Promise(() => {}));
    b.stop.abort();
    await base.advance(1_000);
    b.abandon.abort();
    await base.settle();
    await b.ended;
    expect([a.ring.owned.length, b.ring.owned.length]).toEqual([32, 0]);
    await base.advance(20_000);
    expect(a.ring.owned).toHaveLength(64);
  });
});

describe('ownership', () => {
  test('a key of another replica is not in the shard, which does not mean that it is gone', async () => {
    const { base, join } = ringWorld();
    const [a, b] = [join('a'), join('b')];
    expect(() => a.ring.assertOwns('k')).toThrow('is in slot');
    await base.advance(30_000);
    const key = { namespace: 'shop', name: keyIn(a.ring, allSlots) };
    const [owner, other] = a.ring.owns(key) ? [a, b] : [b, a];
    owner.ring.assertOwns(key);
    owner.ring.guard(key).assertLeading();
    expect(() => other.ring.assertOwns(key)).toThrow(expect.toSatisfy(isNotInShard));
    expect(other.ring.guard(key).assertLeading).toThrow(expect.toSatisfy(isNotInShard));
    expect(other.ring.epochOf(owner.ring.slotOf(key))).toBeUndefined();
    expect(isNotInShard(new Error('a', { cause: { cause: undefined } }))).toBe(false);
  });

  test('a guard is of one time of owning: after a lost lease it stays shut, though the slot has come back', async () => {
    const { base, server, join } = ringWorld();
    const a = join('a');
    await base.advance(20_000);
    const guard = a.ring.guard('k');
    server.passage = () => ({ refused: 503 });
    await base.advance(6_900);
    guard.assertLeading();
    await base.advance(3_100);
    expect(guard.assertLeading).toThrow(expect.toSatisfy(isLostLease));
    expect(guard.lostSignal?.aborted).toBe(true);
    expect(a.changes.at(-1)).toMatchObject({ lost: allSlots, reason: expect.toSatisfy(isLostLease) });
    server.passage = () => ({});
    await base.advance(6_000);
    expect(a.ring.owned).toHaveLength(64);
    a.ring.guard('k').assertLeading();
    expect(guard.assertLeading).toThrow(expect.toSatisfy(isLostLease));
  });

  test('a Lease that is deleted ends all ownership; a new one begins after a lease duration', async () => {
    const { base, server, join } = ringWorld();
    const [a, b] = [join('a'), join('b')];
    await base.advance(30_000);
    server.delete();
    await base.advance(10_000);
    expect([a.ring.owned, b.ring.owned]).toEqual([[], []]);
    await base.advance(15_000);
    expect([a.ring.owned.length, b.ring.owned.length]).toEqual([32, 32]);
  });

  test('one that was taken out by hand notices with its next renewal', async () => {
    const { base, server, join } = ringWorld();
    const a = join('a');
    await base.advance(20_000);
    const { metadata } = server.lease ?? expect.fail('there is no Lease');
    const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => !key.startsWith('member.'));
    server.lease = {
      ...server.lease,
      metadata: { ...metadata, annotations: Object.fromEntries(annotations) },
    } as never;
    await base.advance(3_100);
    expect(a.changes.some(({ reason }) => reason?.message.includes('a was taken out of Lease shop/carts'))).toBe(true);
    await base.advance(20_000);
    expect(a.ring.owned).toHaveLength(64);
  });

  test('a table that was put back to an earlier one, as by a restored backup, ends what was owned by later ones', async () => {
    const { base, server, join } = ringWorld();
    const a = join('a');
    await base.advance(20_000);
    const backup = server.lease;
    const b = join('b');
    await base.advance(10_000);
    expect([a.ring.owned.length, b.ring.owned.length]).toEqual([32, 32]);
    server.lease = backup;
    await base.advance(4_000);
    expect([a.ring.owned, b.ring.owned]).toEqual([[], []]);
    const reasons = a.changes.flatMap(({ reason }) => reason?.message ?? []);
    expect(reasons).toEqual(['Lease shop/carts was put back to an earlier state, in which others may own what a has']);
    await base.advance(25_000);
    expect(sorted([...a.ring.owned, ...b.ring.owned])).toEqual(allSlots);
    expect([a.ring.owned.length, b.ring.owned.length]).toEqual([32, 32]);
  });

  test('a table that was cut by hand ends all ownership: keys are in other slots', async () => {
    const { base, server, join } = ringWorld();
    const [a, b] = [join('a'), join('b')];
    await base.advance(30_000);
    const { metadata } = server.lease ?? expect.fail('there is no Lease');
    const [name, text] = Object.entries(metadata.annotations ?? {}).find(([key]) => key.endsWith('slots')) ?? [];
    const table = JSON.parse(text ?? '') as { slots: unknown[] };
    const cut = JSON.stringify({ ...table, slots: table.slots.slice(0, 7) });
    const annotations = { ...metadata.annotations, [name ?? '']: cut };
    server.lease = { ...server.lease, metadata: { ...metadata, annotations } } as never;
    await base.advance(4_000);
    expect([a.ring.owned, b.ring.owned]).toEqual([[], []]);
    await base.advance(30_000);
    expect([a.ring.slots, b.ring.slots]).toEqual([7, 7]);
    expect(sorted([...a.ring.owned, ...b.ring.owned])).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test('one slot among several replicas is one replica’s, and the next one’s when that goes', async () => {
    const { base, join } = ringWorld();
    const all = ['a', 'b', 'c'].map((identity) => join(identity, { slots: 1 }));
    const owners = () => all.filter(({ ring }) => ring.owned.length === 1);
    await base.advance(30_000);
    const [first] = owners();
    expect(owners()).toHaveLength(1);
    first?.stop.abort();
    await base.advance(10_000);
    expect(owners()).toHaveLength(1);
    expect(owners()[0]).not.toBe(first);
  });
});

describe('check', () => {
  test('a replica whose work continues after its lease has run out is not well; others are', async () => {
    const { base, server, join } = ringWorld();
    const a = join('a');
    let end: () => void = () => {};
    a.ring.onChange(({ lost }) => (lost.length > 0 ? new Promise<void>((resolve) => (end = resolve)) : undefined));
    expect(() => a.ring.check()).not.toThrow();
    await base.advance(18_100);
    expect(a.ring.owned).toHaveLength(64);
    expect(() => a.ring.check()).not.toThrow();
    server.passage = () => ({ lost: 'request' });
    await base.advance(14_000);
    expect(a.ring.owned).toEqual([]);
    expect(() => a.ring.check()).not.toThrow();
    await base.advance(4_000);
    expect(() => a.ring.check('5s')).not.toThrow();
    expect(() => a.ring.check('1s')).toThrow(/^a's lease in .*shop\/carts.* ran out \d+ ms ago, .* has not ended/);
    end();
    await base.advance(1);
    expect(() => a.ring.check()).not.toThrow();
    a.abandon.abort();
    await base.advance(1);
    await a.ended;
  });
});

describe('odds and ends', () => {
  test('the number of slots is that of the ring', async () => {
    const { base, join } = ringWorld();
    const a = join('a', { slots: 8 });
    await base.advance(20_000);
    const b = join('b', { slots: 32 });
    await base.advance(10_000);
    expect([a.ring.slots, b.ring.slots, b.ring.owned.length]).toEqual([8, 8, 4]);
  });

  test('times need not be whole milliseconds', async () => {
    const { base, join } = ringWorld();
    const times = { leaseDuration: '3000.5ms', renewDeadline: '2000.5ms', retryPeriod: '500.5ms' } as const;
    const a = join('a', times);
    const b = join('b', times);
    await base.advance(8_000);
    expect([a.ring.owned.length, b.ring.owned.length]).toEqual([32, 32]);
  });

  test('a Lease that is something else is left alone', async () => {
    const { base, server, join } = ringWorld();
    server.lease = { metadata: { name: 'carts', namespace: 'shop', uid: 'u' }, spec: { holderIdentity: 'x' } } as never;
    const a = join('a');
    const failed = expect(a.ended).rejects.toThrow('Lease shop/carts is there and has no table of slots');
    await base.advance(100);
    await failed;
  });

  test('what makes no sense is refused', () => {
    const options = { client: {} as never, namespace: 'shop', name: 'carts' };
    expect(() => new ShardRing({ ...options, name: '' })).toThrow('name must be a non-empty string, got ""');
    expect(() => new ShardRing({ ...options, slots: 0 })).toThrow('slots must be an integer from 1 to 4096, got 0');
    expect(() => new ShardRing({ ...options, leaseDuration: '10s' })).toThrow('leaseDuration must be longer than');
    expect(() => new ShardRing({ ...options, leaseDuration: 'never' as '1s' })).toThrow('leaseDuration must be finite');
    expect(() => new ShardRing({ ...options, retryPeriod: '5s' })).toThrow('more than twice the retryPeriod');
  });

  test('a listener that throws does not keep a slot; metrics count moves', async () => {
    const { base, join } = ringWorld();
    const metrics = memoryMetrics();
    const a = join('a', { runtime: { metrics } });
    a.ring.onChange(() => {
      throw new Error('no');
    });
    await base.advance(20_000);
    join('b');
    await base.advance(10_000);
    expect(a.ring.owned).toHaveLength(32);
    const value = (name: string, labels: Record<string, string>) => metrics.value(name, { ring: 'carts', ...labels });
    expect(value('riata_shard_moves_total', { move: 'gained' })).toBe(64);
    expect(value('riata_shard_moves_total', { move: 'given' })).toBe(32);
    expect(value('riata_shard_slots_owned', {})).toBe(32);
    expect(value('riata_shard_members', {})).toBe(2);
  });

  test('it runs once at a time', async () => {
    const { base, join } = ringWorld();
    const a = join('a');
    await expect(a.ring.run()).rejects.toThrow('already running');
    a.stop.abort();
    await base.advance(100);
    await a.ended;
    expect(a.ring.members).toEqual([]);
  });
});

describe('requests that hang', () => {
  test('are followed by the next at once, which has time to be answered', async () => {
    const { base, server, join } = ringWorld();
    const a = join('a');
    await base.advance(20_000);
    expect(a.ring.owned).toHaveLength(64);
    const beats = () => server.log.length;
    for (const before = beats(); beats() === before; ) await base.advance(10);
    server.passage = () => ({ lost: 'request' });
    // Sent after 3 s, given up after a third of the deadline, 3.3 s.
    await base.advance(6_000);
    server.passage = () => ({ thereMs: 1_500, backMs: 1_500 });
    await base.advance(6_000);
    expect(a.ring.owned).toHaveLength(64);
    expect(a.changes.filter(({ reason }) => reason)).toEqual([]);
  });
});

test('fifty that come at once share evenly, and so do those that are left when most of them go at once', async () => {
  const { base, join } = ringWorld();
  const all = Array.from({ length: 50 }, (_, at) => join(`r${at}`));
  const shares = () => all.map(({ ring }) => ring.owned.length).sort((a, b) => a - b);
  await base.advance(60_000);
  expect(shares().filter((count) => count === 1)).toHaveLength(36);
  expect(shares().filter((count) => count === 2)).toHaveLength(14);
  for (const { stop } of all.slice(0, 20)) stop.abort();
  for (const { clock } of all.slice(20, 47)) clock.stop();
  await base.advance(60_000);
  const left = all.slice(47);
  expect(left.map(({ ring }) => ring.owned.length).sort()).toEqual([21, 21, 22]);
  expect(sorted(left.flatMap(({ ring }) => ring.owned))).toEqual(allSlots);
  await Promise.all(all.slice(0, 20).map(({ ended }) => ended));
});
