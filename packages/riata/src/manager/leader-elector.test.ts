import { describe, expect, test } from 'vitest';
import { memoryLogger } from '../runtime/memory-logger.js';
import { memoryMetrics } from '../runtime/metrics.js';
import { seededRandom } from '../runtime/random.js';
import { isLostLease, Shutdown } from '../runtime/stop-reasons.js';
import { VirtualClock } from '../runtime/virtual-clock.js';
import { LockServer, ProcessClock, type ProcessClockOptions } from './election.fixture.js';
import { type ElectionOutcome, LeaderElector } from './leader-elector.js';
import type { LeaderElectorOptions } from './leader-elector-options.js';

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

/** A lock server and the candidates of a test, on one virtual clock. */
function election() {
  const clock = new VirtualClock();
  const server = new LockServer(clock);
  const join = (identity: string, options: Partial<LeaderElectorOptions> & { process?: ProcessClockOptions } = {}) => {
    const process = new ProcessClock(clock, options.process);
    const log = memoryLogger();
    const metrics = memoryMetrics();
    const stop = new AbortController();
    const abandon = new AbortController();
    const told: string[] = [];
    const elector = new LeaderElector({
      lock: server.lock(identity, process),
      onStartedLeading: (signal) => {
        told.push('started');
        signal.addEventListener('abort', () => told.push(`abort ${(signal.reason as Error).name}`));
        return untilAborted(signal);
      },
      onStoppedLeading: () => void told.push('stopped'),
      onNewLeader: (leader) => void told.push(`new leader ${leader}`),
      runtime: { clock: process, random: seededRandom(identity), log, metrics },
      ...options,
    });
    const result: { outcome?: ElectionOutcome | undefined; error?: unknown } = {};
    const ran = elector.run({ signal: stop.signal, abandon: abandon.signal }).then(
      (outcome) => void Object.assign(result, outcome),
      (error: unknown) => void Object.assign(result, { error }),
    );
    return { elector, process, log, metrics, told, result, ran, stop: () => stop.abort(new Shutdown()), abandon };
  };
  return { clock, server, join };
}

const holder = (server: LockServer) => server.state?.record.holderIdentity;

describe('options', () => {
  const lock = new LockServer(new VirtualClock()).lock('a');
  const create = (options: Partial<LeaderElectorOptions>) =>
    new LeaderElector({ lock, onStartedLeading: () => {}, ...options });

  test.each([
    [{ leaseDuration: '10s' }, 'leaseDuration wants more than renewDeadline, got 10s and 10s'],
    [{ renewDeadline: '2400ms' }, 'renewDeadline wants more than 1.2 times retryPeriod, got 2400ms and 2s'],
    [{ retryPeriod: '0s' }, 'retryPeriod wants more than 0, got 0s'],
    [{ leaseDuration: 'never' as never }, 'leaseDuration wants an end'],
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
    expect(a.told).toEqual(['new leader a', 'started']);
    expect(a.metrics.value('leader_election_master_status', { name: 'lock' })).toBe(1);
  });

  test('one that nobody holds is taken at once; the transition is counted', async () => {
    const { clock, server, join } = election();
    server.put({ holderIdentity: '', leaderTransitions: 4 });
    const a = join('a');
    await clock.advance(0);
    expect(server.state?.record).toMatchObject({ holderIdentity: 'a', leaderTransitions: 5 });
    expect(a.elector.isLeader).toBe(true);
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
    expect(a.told).toEqual(['new leader b', 'new leader a', 'started']);
  });

  test('each change of it starts the wait anew, even one that leaves the record as it is', async () => {
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
    expect(a.log.records.some(({ message }) => message.startsWith('the lock could not be read'))).toBe(true);
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
    expect(a.told).toEqual(['new leader a']);
    await clock.advance(5_000);
    expect(a.told).toEqual(['new leader a', 'started']);
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

  test('after somebody else’s edit it reads first, once, and leads on', async () => {
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
    expect(a.told).toEqual(['new leader a', 'started']);
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

describe('losing', () => {
  test('without renewals until the deadline: the signal says LostLease, and the work is over before others begin', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    const b = join('b');
    await clock.advance(4_500);
    server.passage = (identity) => (identity === 'a' ? { refused: 503 } : {});
    // The last renewal was sent at 4 s.
    await clock.advance(9_499);
    expect([a.elector.isLeader, a.told]).toEqual([true, ['new leader a', 'started']]);
    await clock.advance(1);
    expect(a.elector.isLeader).toBe(false);
    expect(a.told).toEqual(['new leader a', 'started', 'abort LostLease', 'stopped']);
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
    expect(a.told).toContain('abort LostLease');
    await clock.advance(30_000);
    expect(a.result).toMatchObject({ outcome: 'lost' });
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
    expect(a.told).toContain('abort LostLease');
  });

  test('another’s name in it ends it with the next renewal', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(1_000);
    server.put({ holderIdentity: 'b' });
    await clock.advance(1_000);
    expect(a.told).toEqual(['new leader a', 'started', 'new leader b', 'abort LostLease', 'stopped']);
    expect(a.result).toHaveProperty('reason.message', 'Lease test/lock is lost: b holds it');
    expect(holder(server)).toBe('b');
  });

  test('so does nobody’s: somebody may have led meanwhile', async () => {
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
    // Nobody else is let through, so that the holder is late.
    server.passage = (identity) => (identity === 'a' ? { refused: 503 } : {});
    await clock.advance(7_000);
    expect([holder(server), b.elector.isLeader]).toEqual([undefined, false]);
    server.passage = () => ({});
    await clock.advance(1_000);
    expect([a.elector.isLeader, holder(server)]).toEqual([true, 'a']);
    expect(a.told).toEqual(['new leader a', 'started']);
    server.state = undefined;
    server.passage = (identity) => (identity === 'a' ? { refused: 503 } : {});
    await clock.advance(30_000);
    expect([a.elector.isLeader, b.elector.isLeader]).toEqual([false, true]);
  });

  test('it can run again', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(1_000);
    await expect(a.elector.run()).rejects.toThrow('it is running already');
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
    expect(a.told.filter((word) => word === 'stopped')).toHaveLength(2);
  });
});

describe('stopping', () => {
  test('the lease is renewed until the work is done, then given up: nobody holds it, for one second', async () => {
    const { clock, server, join } = election();
    const told: string[] = [];
    const a = join('a', {
      onStartedLeading: async (signal) => {
        await untilAborted(signal);
        await clock.sleep(60_000);
        told.push(`worked, ${holder(server)}`);
      },
      onStoppedLeading: () => void told.push(`stopped, ${holder(server)}`),
    });
    await clock.advance(1_000);
    a.stop();
    await clock.advance(59_999);
    expect([a.elector.isLeader, holder(server), told]).toEqual([true, 'a', []]);
    await clock.advance(2);
    expect(told).toEqual(['worked, a', 'stopped, a']);
    expect(a.result).toEqual({ outcome: 'stopped' });
    expect(server.state?.record).toEqual({
      holderIdentity: '',
      leaseDurationSeconds: 1,
      acquireTime: '2026-01-01T00:01:01.000000Z',
      renewTime: '2026-01-01T00:01:01.000000Z',
      leaderTransitions: 0,
    });
    expect([a.elector.isLeader, a.elector.observedLeader]).toEqual([false, undefined]);
    expect(clock.pending).toBe(0);
  });

  test('the next one need not wait', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(0);
    const b = join('b');
    await clock.advance(10_000);
    a.stop();
    await clock.advance(4_400);
    expect(b.elector.isLeader).toBe(true);
    expect(server.state?.record).toMatchObject({ holderIdentity: 'b', leaderTransitions: 1 });
  });

  test('a release that meets a conflict is tried again, as long as the lock is its own', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    const b = join('b', { lock: new LockServer(clock).lock('b') });
    await clock.advance(1_000);
    server.put({});
    a.stop();
    await clock.settle();
    expect(server.log.slice(-3)).toEqual(['a update', 'a get', 'a update']);
    expect(holder(server)).toBe('');
    b.stop();
    await clock.settle();
    expect(b.result).toEqual({ outcome: 'stopped' });
  });

  test('one that another has taken stays his', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(1_000);
    server.put({ holderIdentity: 'b' });
    a.stop();
    await clock.settle();
    expect([holder(server), a.result]).toEqual(['b', { outcome: 'stopped' }]);
  });

  test('one that conflicts for ever, or a server that is gone, only costs the next one a wait', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(1_000);
    server.passage = (_, verb) => (verb === 'update' ? { refused: 409 } : {});
    a.stop();
    await clock.settle();
    expect(a.result).toEqual({ outcome: 'stopped' });
    expect(server.log.filter((line) => line === 'a update')).toHaveLength(5);
    expect(a.log.records.at(-1)?.message).toContain('the next leader has to wait');
    const other = election();
    const b = other.join('b');
    await other.clock.advance(1_000);
    other.server.passage = () => ({ lost: 'request' });
    b.stop();
    await other.clock.advance(5_000);
    expect(b.result).toEqual({ outcome: 'stopped' });
  });

  test('a renewal under way does not undo it', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(0);
    server.passage = () => ({ thereMs: 100, backMs: 100 });
    await clock.advance(2_050);
    a.stop();
    await clock.advance(1_000);
    expect([holder(server), a.result]).toEqual(['', { outcome: 'stopped' }]);
  });

  test('releaseOnStop: false leaves it', async () => {
    const { clock, server, join } = election();
    const a = join('a', { releaseOnStop: false });
    await clock.advance(1_000);
    a.stop();
    await clock.settle();
    expect([holder(server), a.result]).toEqual(['a', { outcome: 'stopped' }]);
  });

  test('before it led: told too, and nothing is left', async () => {
    const { clock, server, join } = election();
    server.put({ holderIdentity: 'b' });
    const a = join('a');
    await clock.advance(3_000);
    a.stop();
    await clock.settle();
    expect([a.told, a.result]).toEqual([['new leader b', 'stopped'], { outcome: 'stopped' }]);
    expect([holder(server), clock.pending]).toEqual(['b', 0]);
  });

  test('while it acquires: what it has won is given up', async () => {
    const { clock, server, join } = election();
    server.passage = () => ({ thereMs: 100, backMs: 100 });
    const a = join('a');
    await clock.advance(350);
    a.stop();
    await clock.advance(1_000);
    expect([holder(server), a.result, a.told]).toEqual(['', { outcome: 'stopped' }, ['new leader a', 'stopped']]);
  });

  test('work that fails ends the term, and run rejects with it', async () => {
    const { clock, server, join } = election();
    const a = join('a', { onStartedLeading: () => Promise.reject(new Error('no work today')) });
    await clock.advance(0);
    expect(a.result.error).toEqual(new Error('no work today'));
    expect([holder(server), a.told]).toEqual(['', ['new leader a', 'stopped']]);
    const b = join('b', {
      onStartedLeading: () => {
        throw new Error('at once');
      },
    });
    await clock.advance(0);
    expect(b.result.error).toEqual(new Error('at once'));
  });

  test('work that ends early goes on leading; work that rejects with the reason it was given has not failed', async () => {
    const { clock, server, join } = election();
    const a = join('a', { onStartedLeading: () => {} });
    await clock.advance(60_000);
    expect(a.elector.isLeader).toBe(true);
    a.stop();
    await clock.settle();
    expect([holder(server), a.result]).toEqual(['', { outcome: 'stopped' }]);
    const b = join('b', {
      onStartedLeading: async (signal) => {
        await untilAborted(signal);
        throw signal.reason;
      },
    });
    await clock.advance(1_000);
    b.stop();
    await clock.settle();
    expect(b.result).toEqual({ outcome: 'stopped' });
  });

  test('abandoned, it waits for nothing and leaves the lease', async () => {
    const { clock, server, join } = election();
    const a = join('a', { onStartedLeading: () => new Promise(() => {}) });
    await clock.advance(1_000);
    a.stop();
    await clock.advance(60_000);
    expect(a.elector.isLeader).toBe(true);
    a.abandon.abort();
    await clock.settle();
    expect([holder(server), a.result, a.elector.isLeader]).toEqual(['a', { outcome: 'stopped' }, false]);
    expect(clock.pending).toBe(0);
  });

  test('callbacks that throw are logged', async () => {
    const { clock, join } = election();
    const fail = () => {
      throw new Error('oh');
    };
    const a = join('a', { onNewLeader: fail, onStoppedLeading: fail });
    await clock.advance(1_000);
    expect(a.elector.isLeader).toBe(true);
    a.stop();
    await clock.settle();
    expect(a.result).toEqual({ outcome: 'stopped' });
    const errors = a.log.records.filter(({ level }) => level === 'error').map(({ message }) => message);
    expect(errors).toEqual(['onNewLeader failed', 'onStoppedLeading failed']);
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

  test('work that goes on long after the lease ran out is told', async () => {
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

describe('a process that was stopped', () => {
  test('for less than the deadline leads on, and the log tells of it', async () => {
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
