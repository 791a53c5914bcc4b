import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../runtime/random.js';
import { isLostLease } from '../../runtime/stop-reasons.js';
import { election, holder } from './leader-elector.fixture.js';

describe('losing', () => {
  test('without renewals until the deadline: the signal says LostLease, and the work is over before others begin', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    const b = join('b');
    await clock.advance(4_500);
    server.passage = (identity) => (identity === 'a' ? { refused: 503 } : {});
    // The last renewal was sent at 4 s.
    await clock.advance(9_499);
    expect([a.elector.isLeader, a.reported]).toEqual([true, ['new leader a', 'started']]);
    await clock.advance(1);
    expect(a.elector.isLeader).toBe(false);
    expect(a.reported).toEqual(['new leader a', 'started', 'abort LostLease', 'stopped']);
    expect(a.metrics.value('leader_election_master_status', { name: 'lock' })).toBe(0);
    await clock.advance(4_999);
    expect(b.elector.isLeader).toBe(false);
    await clock.advance(5_000);
    expect(b.elector.isLeader).toBe(true);
    expect(a.result).toMatchObject({ outcome: 'lost' });
    expect(a.result).toHaveProperty(
      'reason.message',
      'Lease test/lock is lost: the last renewal was 10000 ms ago, the renew deadline is 10000 ms',
    );
    expect(a.result).toHaveProperty('reason.cause.code', 503);
  });

  test('the deadline counts from the sending of the write that won', async () => {
    const { clock, server, join } = election();
    server.passage = (_, verb) => (verb === 'create' ? { thereMs: 2_000, backMs: 2_000 } : {});
    const a = join('a');
    await clock.advance(4_000);
    expect(a.elector.isLeader).toBe(true);
    server.passage = () => ({ refused: 503 });
    await clock.advance(5_999);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(1);
    expect(a.elector.isLeader).toBe(false);
  });

  test('requests that hang do not hold it up', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(4_500);
    server.passage = () => ({ lost: 'request' });
    await clock.advance(9_499);
    expect(a.elector.isLeader).toBe(true);
    await clock.advance(1);
    expect(a.reported).toContain('abort LostLease');
    await clock.advance(30_000);
    expect(a.result).toMatchObject({ outcome: 'lost' });
  });

  test('a renewal that hung is followed by the next at once, which has time to be answered', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(1_900);
    server.passage = () => ({ lost: 'request' });
    // Sent at 2 s, given up at 7 s.
    await clock.advance(5_000);
    server.passage = () => ({ thereMs: 1_000, backMs: 1_000 });
    const asked = server.log.length;
    await clock.advance(3_000);
    expect(server.log.slice(asked)).toEqual(['a update']);
    await clock.advance(1_000);
    expect([a.elector.isLeader, a.reported]).toEqual([true, ['new leader a', 'started']]);
    expect(a.log.records.filter(({ message }) => message.startsWith('the event loop'))).toEqual([]);
  });

  test('a renewal that is answered after the deadline does not bring it back', async () => {
    const { clock, server, join } = election();
    const a = join('a', { leaseDuration: '60s', renewDeadline: '10s' });
    await clock.advance(0);
    server.passage = () => ({ backMs: 4_900 });
    await clock.advance(2_100);
    a.process.stop();
    await clock.advance(8_000);
    a.process.resume();
    await clock.settle();
    expect(a.elector.isLeader).toBe(false);
    expect(a.reported).toContain('abort LostLease');
  });

  test('another’s name in it ends it with the next renewal', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(1_000);
    server.put({ holderIdentity: 'b' });
    await clock.advance(1_000);
    expect(a.reported).toEqual(['new leader a', 'started', 'new leader b', 'abort LostLease', 'stopped']);
    expect(a.result).toHaveProperty('reason.message', 'Lease test/lock is lost: b holds it');
    expect(holder(server)).toBe('b');
  });

  test('so does an empty holder: another candidate may have led meanwhile', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(1_000);
    server.put({ holderIdentity: '' });
    await clock.advance(1_000);
    expect(a.result).toHaveProperty('reason.message', 'Lease test/lock is lost: nobody holds it');
  });

  test('and a second process of the same name', async () => {
    const { clock, join } = election();
    const a = join('same');
    await clock.advance(1_000);
    const b = join('same');
    await clock.advance(2_000);
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([false, true]);
    expect(a.result).toHaveProperty('reason.message', 'Lease test/lock is lost: another process called same holds it');
  });

  test('a lock that was deleted is made again by its holder; who has seen it held waits', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(0);
    const b = join('b');
    await clock.advance(100);
    expect(b.elector.observedLeader).toBe('a');
    server.state = undefined;
    // Others are blocked, so that the holder is late.
    server.passage = (identity) => (identity === 'a' ? { refused: 503 } : {});
    await clock.advance(7_000);
    expect([holder(server), b.elector.isLeader]).toEqual([undefined, false]);
    server.passage = () => ({});
    await clock.advance(1_000);
    expect([a.elector.isLeader, holder(server)]).toEqual([true, 'a']);
    expect(a.reported).toEqual(['new leader a', 'started']);
    server.state = undefined;
    server.passage = (identity) => (identity === 'a' ? { refused: 503 } : {});
    await clock.advance(30_000);
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([false, true]);
  });

  test('it can run again', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(1_000);
    await expect(a.elector.run()).rejects.toThrow('already running');
    server.put({ holderIdentity: 'b' });
    await clock.advance(2_000);
    await a.ran;
    const stop = new AbortController();
    const again = a.elector.run({ signal: stop.signal });
    await clock.advance(20_000);
    expect(a.elector.isLeader).toBe(true);
    stop.abort();
    await clock.settle();
    expect(await again).toEqual({ outcome: 'stopped' });
    expect(a.reported.filter((word) => word === 'stopped')).toHaveLength(2);
  });
});

describe('a process that was stopped', () => {
  test('for less than the deadline leads on, and logs it', async () => {
    const { clock, join } = election();
    const a = join('a');
    await clock.advance(4_100);
    a.process.stop();
    await clock.advance(8_000);
    a.process.resume();
    await clock.advance(1_000);
    expect(a.elector.isLeader).toBe(true);
    const { message, fields } = a.log.records.find(({ level }) => level === 'warn') ?? {};
    expect(message).toMatch(/^the event loop was blocked for \d+ ms; renewal late by 6100 ms/);
    expect(fields).toMatchObject({ lateMs: 6_100, leftMs: 1_900 });
    expect(fields?.blockedMs).toBeGreaterThan(7_000);
    expect(fields?.blockedMs).toBeLessThanOrEqual(8_000);
  });

  test.each([1, 2, 3, 4, 5])(
    'for longer finds out before anything is written, whatever runs first (%i)',
    async (seed) => {
      const { clock, server, join } = election();
      const started: number[] = [];
      const a = join('a', {
        process: { random: seededRandom(seed) },
        onStartedLeading: async (signal) => {
          while (!signal.aborted) {
            a.elector.assertLeading();
            started.push(clock.monotonic());
            await a.process.sleep(700);
          }
        },
      });
      await clock.advance(4_100);
      a.process.stop();
      await clock.advance(10_000);
      const asked = server.log.length;
      const before = started.length;
      a.process.resume();
      await clock.settle();
      expect(a.elector.isLeader).toBe(false);
      expect(started.length).toBe(before);
      // All that is written then gives the lease up.
      expect(server.log.slice(asked)).toEqual(['a update']);
      expect(holder(server)).toBe('');
      expect(a.result).toMatchObject({ outcome: 'lost' });
      expect(a.result).toHaveProperty('reason');
    },
  );

  test('finds another leading, and leaves him alone', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(0);
    const b = join('b');
    await clock.advance(5_000);
    a.process.stop();
    await clock.advance(60_000);
    expect(b.elector.isLeader).toBe(true);
    expect(a.elector.isLeader).toBe(false);
    a.process.resume();
    await clock.advance(5_000);
    expect([holder(server), b.elector.isLeader]).toEqual(['b', true]);
    expect((a.result as { reason?: unknown }).reason).toSatisfy(isLostLease);
  });

  test('wall clocks may jump as they like', async () => {
    const { clock, join } = election();
    const a = join('a', { process: { skewMs: -3_600_000 } });
    const b = join('b', { process: { skewMs: 3_600_000 } });
    for (let i = 0; i < 20; i += 1) {
      await clock.advance(3_000);
      clock.setWall(clock.now() + (i % 2 ? 86_400_000 : -90_000_000));
      expect([a.elector.isLeader, b.elector.isLeader]).toEqual([true, false]);
    }
  });
});
describe('health', () => {
  test('who does not lead, and who leads and renews, is well', async () => {
    const { clock, join } = election();
    const a = join('a');
    expect(a.elector.check()).toBeUndefined();
    await clock.advance(100_000);
    expect(a.elector.check()).toBeUndefined();
  });

  test('work that continues long after the lease expired is logged', async () => {
    const { clock, server, join } = election();
    const a = join('a', { onStartedLeading: () => new Promise(() => {}) });
    await clock.advance(4_000);
    server.passage = () => ({ refused: 503 });
    await clock.advance(15_000);
    expect(a.elector.check()).toBeUndefined();
    await clock.advance(5_000);
    expect(a.elector.check('20s')).toBeUndefined();
    expect(() => a.elector.check()).toThrow(
      'Lease test/lock ran out 5000 ms ago, and what a does as the leader has not ended',
    );
    await clock.advance(15_001);
    expect(() => a.elector.check('20s')).toThrow('ran out 20001 ms ago');
  });
});
