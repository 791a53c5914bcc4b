import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { LockServer } from './election.fixture.js';
import { election, holder } from './leader-elector.fixture.js';
import { LeaderElector } from './leader-elector.js';
import type { LeaderElectorOptions } from './leader-elector-options.js';

describe('options', () => {
  const lock = new LockServer(new VirtualClock()).lock('a');
  const create = (options: Partial<LeaderElectorOptions>) =>
    new LeaderElector({ lock, onStartedLeading: () => {}, ...options });

  test.each([
    [{ leaseDuration: '10s' }, 'leaseDuration must be longer than renewDeadline, got 10s and 10s'],
    [{ renewDeadline: '2400ms' }, 'renewDeadline must be more than 1.2 times retryPeriod, got 2400ms and 2s'],
    [{ retryPeriod: '0s' }, 'retryPeriod must be greater than 0, got 0s'],
    [{ leaseDuration: 'never' as never }, 'leaseDuration must be finite'],
    [
      { leaseDuration: 'soon' as never },
      'LeaderElector of Lease test/lock: leaseDuration: expected a number and one of',
    ],
  ] as const)('%o is refused', (options, message) => {
    expect(() => create(options)).toThrow(message);
  });

  test('the duration in the record is in whole seconds, rounded up', async () => {
    const { clock, server, join } = election();
    join('a', { leaseDuration: '1500ms', renewDeadline: '1s', retryPeriod: '100ms' });
    await clock.advance(0);
    expect(server.state?.record.leaseDurationSeconds).toBe(2);
  });
});

describe('acquire or renew', () => {
  test('a lock that is not there is made', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(0);
    expect(server.log).toEqual(['a get', 'a create']);
    expect(server.state?.record).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaderTransitions: 0,
    });
    expect(a.elector.isLeader).toBe(true);
    expect(a.elector.observedLeader).toBe('a');
    expect(a.reported).toEqual(['new leader a', 'started']);
    expect(a.metrics.value('leader_election_master_status', { name: 'lock' })).toBe(1);
  });

  test('a lease without a holder is acquired at once; the transition is counted', async () => {
    const { clock, server, join } = election();
    server.put({ holderIdentity: '', leaderTransitions: 4 });
    const a = join('a');
    await clock.advance(0);
    expect(server.state?.record).toMatchObject({ holderIdentity: 'a', leaderTransitions: 5 });
    expect(a.elector.isLeader).toBe(true);
  });

  test('the highest possible number of transitions does not prevent leading', async () => {
    const { clock, server, join } = election();
    server.put({ holderIdentity: '', leaderTransitions: 2 ** 31 - 1 });
    const a = join('a');
    await clock.advance(0);
    expect(a.elector.isLeader).toBe(true);
    // Servers take 32 bits.
    expect(server.state?.record.leaderTransitions).toBe(2 ** 31 - 1);
  });

  test('one of the same identity is taken at once; that is no transition', async () => {
    const { clock, server, join } = election();
    server.put({ holderIdentity: 'a', leaderTransitions: 4 });
    join('a');
    await clock.advance(0);
    expect(server.state?.record).toMatchObject({ holderIdentity: 'a', leaderTransitions: 4 });
  });

  test('one that another holds is waited for, from when it was first seen, whatever its times say', async () => {
    const { clock, server, join } = election();
    server.put({ holderIdentity: 'b', renewTime: '1970-01-01T00:00:00.000000Z', leaseDurationSeconds: 20 });
    const a = join('a');
    await clock.advance(19_999);
    expect([a.elector.isLeader, a.elector.observedLeader]).toEqual([false, 'b']);
    await clock.advance(5_000);
    expect(a.elector.isLeader).toBe(true);
    expect(server.state?.record).toMatchObject({ holderIdentity: 'a', leaderTransitions: 1 });
    expect(a.reported).toEqual(['new leader b', 'new leader a', 'started']);
  });

  test('each change of it restarts the wait, even one that leaves the record as it is', async () => {
    const { clock, server, join } = election();
    server.put({ holderIdentity: 'b' });
    const a = join('a');
    for (let i = 0; i < 10; i += 1) {
      await clock.advance(10_000);
      server.put({});
    }
    expect(a.elector.isLeader).toBe(false);
    await clock.advance(25_000);
    expect(a.elector.isLeader).toBe(true);
  });

  test('a holder with a duration of nought gets the candidate’s own', async () => {
    const { clock, server, join } = election();
    server.put({ holderIdentity: 'b', leaseDurationSeconds: 0 });
    const a = join('a');
    await clock.advance(14_999);
    expect(a.elector.isLeader).toBe(false);
    await clock.advance(5_000);
    expect(a.elector.isLeader).toBe(true);
  });

  test('candidates ask at random times between one and 2.2 retry periods', async () => {
    const { clock, server, join } = election();
    server.put({ holderIdentity: 'b' });
    const at: number[] = [];
    server.passage = () => {
      at.push(clock.monotonic());
      return {};
    };
    join('a');
    for (let i = 0; i < 20; i += 1) {
      await clock.advance(5_000);
      server.put({});
    }
    const gaps = at.slice(1).map((t, i) => t - (at[i] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(2_000);
    expect(Math.max(...gaps)).toBeLessThan(4_400);
    expect(new Set(gaps.map(Math.round)).size).toBeGreaterThan(10);
  });

  test('a server that fails is asked again', async () => {
    const { clock, server, join } = election();
    server.passage = () => ({ refused: 503 });
    const a = join('a');
    await clock.advance(60_000);
    expect(a.elector.isLeader).toBe(false);
    server.passage = () => ({});
    await clock.advance(5_000);
    expect(a.elector.isLeader).toBe(true);
    expect(a.log.records.some(({ message }) => message.startsWith('cannot read or write the lock'))).toBe(true);
  });

  test('who loses the race for a new or a free lock waits', async () => {
    const { clock, server, join } = election();
    server.passage = () => ({ thereMs: 10, backMs: 10 });
    const [a, b] = [join('a'), join('b')];
    await clock.advance(100);
    expect(server.log).toEqual(['a get', 'b get', 'a create', 'b create']);
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([true, false]);
    await clock.advance(10_000);
    expect(b.elector.observedLeader).toBe('a');
    server.put({ holderIdentity: '' });
    await clock.advance(5_000);
    expect(server.state?.record.holderIdentity).toBe('b');
  });

  test('an answer that comes after the renew deadline is no leadership; the next try is', async () => {
    const { clock, server, join } = election();
    const a = join('a', { leaseDuration: '60s', renewDeadline: '50s' });
    a.process.stop();
    await clock.advance(0);
    // The lock is his by now, for all that others see.
    expect(holder(server)).toBe(undefined);
    a.process.resume();
    let stopped = false;
    server.passage = (_, verb) => {
      if (verb === 'create' && !stopped) a.process.stop();
      stopped ||= verb === 'create';
      return {};
    };
    await clock.advance(51_000);
    expect(holder(server)).toBe('a');
    a.process.resume();
    await clock.settle();
    expect(a.reported).toEqual(['new leader a']);
    await clock.advance(5_000);
    expect(a.reported).toEqual(['new leader a', 'started']);
  });
});

describe('fast path', () => {
  test('a leader renews without reading', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(10_500);
    expect(server.log).toEqual(['a get', 'a create', ...Array(5).fill('a update')]);
    expect(server.state?.record).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:10.000000Z',
    });
    expect(a.metrics.value('leader_election_slowpath_total', { name: 'lock' })).toBeUndefined();
  });

  test('after an edit by another client it reads first, once, and leads on', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(1_000);
    server.put({});
    await clock.advance(3_500);
    expect(server.log).toEqual(['a get', 'a create', 'a update', 'a get', 'a update', 'a update']);
    expect(a.elector.isLeader).toBe(true);
    expect(a.metrics.value('leader_election_slowpath_total', { name: 'lock' })).toBe(1);
  });

  test('a renewal whose answer was lost is found to be its own', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(1_000);
    let updates = 0;
    server.passage = (_, verb) => (verb === 'update' && ++updates === 1 ? { lost: 'answer' } : {});
    await clock.advance(30_000);
    expect(a.elector.isLeader).toBe(true);
    expect(a.reported).toEqual(['new leader a', 'started']);
    expect(server.state?.record.leaderTransitions).toBe(0);
  });

  test('a wall clock that stands still renews all the same', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    a.process.frozenWall = 1_800_000_000_000;
    const b = join('b');
    await clock.advance(60_000);
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([true, false]);
    expect(holder(server)).toBe('a');
  });
});
