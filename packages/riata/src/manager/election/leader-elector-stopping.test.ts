import { describe, expect, test } from 'vitest';
import { LockServer, type Passage } from './election.fixture.js';
import { election, holder, untilAborted } from './leader-elector.fixture.js';

describe('stopping', () => {
  test('the lease is renewed until the work is done, then released: without a holder, for one second', async () => {
    const { clock, server, join } = election();
    const reported: string[] = [];
    const a = join('a', {
      onStartedLeading: async (signal) => {
        await untilAborted(signal);
        await clock.sleep(60_000);
        reported.push(`worked, ${holder(server)}`);
      },
      onStoppedLeading: () => void reported.push(`stopped, ${holder(server)}`),
    });
    await clock.advance(1_000);
    a.stop();
    await clock.advance(59_999);
    expect([a.elector.isLeader, holder(server), reported]).toEqual([true, 'a', []]);
    await clock.advance(2);
    expect(reported).toEqual(['worked, a', 'stopped, a']);
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

  test('one that was deleted by hand needs no release, however the server says so', async () => {
    const { clock, server, join } = election();
    const a = join('a');
    await clock.advance(3_000);
    // A uid that is no longer there is a conflict, too.
    server.passage = (_, verb) => (verb === 'update' ? { refused: 409 } : {});
    server.state = undefined;
    a.stop();
    await clock.settle();
    expect(a.result).toEqual({ outcome: 'stopped' });
    expect(a.log.records.filter(({ level }) => level !== 'info' && level !== 'debug')).toEqual([]);
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

  test('a server that is gone costs no time, one that has not answered before a second, one that is slow its time', async () => {
    const fares = async (passage: Passage, after: number) => {
      const { clock, server, join } = election();
      const a = join('a');
      await clock.advance(1_000);
      server.passage = () => passage;
      await clock.advance(after);
      const at = clock.monotonic();
      a.stop();
      while (a.result.outcome === undefined) await clock.advance(10);
      return [clock.monotonic() - at, holder(server)];
    };
    expect(await fares({ isUnreachable: true }, 0)).toEqual([10, 'a']);
    expect(await fares({ lost: 'request' }, 0)).toEqual([5_000, 'a']);
    expect(await fares({ lost: 'request' }, 7_000)).toEqual([1_000, 'a']);
    expect(await fares({ thereMs: 2_000, backMs: 2_000 }, 0)).toEqual([4_000, '']);
  });

  test('a renewal in flight does not undo it', async () => {
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

  test('before it led: onStoppedLeading is called too, and nothing is left', async () => {
    const { clock, server, join } = election();
    server.put({ holderIdentity: 'b' });
    const a = join('a');
    await clock.advance(3_000);
    a.stop();
    await clock.settle();
    expect([a.reported, a.result]).toEqual([['new leader b', 'stopped'], { outcome: 'stopped' }]);
    expect([holder(server), clock.pending]).toEqual(['b', 0]);
  });

  test('while it acquires: what it has won is given up', async () => {
    const { clock, server, join } = election();
    server.passage = () => ({ thereMs: 100, backMs: 100 });
    const a = join('a');
    await clock.advance(350);
    a.stop();
    await clock.advance(1_000);
    expect([holder(server), a.result, a.reported]).toEqual(['', { outcome: 'stopped' }, ['new leader a', 'stopped']]);
  });

  test('work that fails ends the term, and run rejects with it', async () => {
    const { clock, server, join } = election();
    const a = join('a', { onStartedLeading: () => Promise.reject(new Error('no work today')) });
    await clock.advance(0);
    expect(a.result.error).toEqual(new Error('no work today'));
    expect([holder(server), a.reported]).toEqual(['', ['new leader a', 'stopped']]);
    const b = join('b', {
      onStartedLeading: () => {
        throw new Error('at once');
      },
    });
    await clock.advance(0);
    expect(b.result.error).toEqual(new Error('at once'));
  });

  test('work that ends early keeps leading; work that rejects with the reason it was given has not failed', async () => {
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
