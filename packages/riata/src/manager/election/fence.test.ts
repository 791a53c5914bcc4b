import { describe, expect, test } from 'vitest';
import { createClient } from '../../client/create-client.js';
import type { Operation, Run } from '../../client/operation/operation.js';
import { ConfigMap, Pod } from '../../kinds/index.js';
import { tokenBucketRateLimiter } from '../../rest/chain/rate-limiter.js';
import { type Answer, answeringTransport } from '../../rest/transport/answering-transport.fixture.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { seededRandom } from '../../runtime/random.js';
import { isLostLease } from '../../runtime/stop-reasons.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { ProcessClock } from './election.fixture.js';
import { fence } from './fence.js';
import { LeadershipTerm } from './leadership-term.js';

const key = { namespace: 'shop', name: 'a' };
const headers = { 'content-type': 'application/json' };
const metadata = { ...key, uid: 'u1', resourceVersion: '1', creationTimestamp: '' };
const stored = { apiVersion: 'v1', kind: 'ConfigMap', metadata } as ConfigMap;
const ok: Answer = { status: 200, headers, body: stored };

/** A client behind the fence of a term that began now. */
function fenced({ answers = [ok], qps = 0 }: { answers?: readonly Answer[]; qps?: number } = {}) {
  const base = new VirtualClock();
  const clock = new ProcessClock(base);
  const what = 'Lease shop/lock';
  const term = new LeadershipTerm({
    clock,
    what,
    sentAt: clock.monotonic(),
    renewDeadlineMs: 10_000,
    onLost: () => {},
  });
  const guard = {
    lostSignal: term.lostSignal,
    assertLeading: () => {
      if (!term.isHeld) throw term.lost;
    },
  };
  const transport = answeringTransport(answers);
  const live = createClient(
    { server: 'http://a' },
    {
      transport,
      runtime: { clock, log: silentLogger, random: seededRandom(2) },
      ...(qps > 0 && { rateLimiter: tokenBucketRateLimiter(qps, 1, clock) }),
    },
  );
  const client = live.wrap((run) => fence(run, guard));
  return { base, clock, term, guard, live, client, transport };
}

const outcome = (promise: Promise<unknown>) => {
  const seen: { error?: unknown; done?: true } = {};
  promise.then(
    () => Object.assign(seen, { done: true }),
    (error: unknown) => Object.assign(seen, { error }),
  );
  return seen;
};

const update = { ...stored, data: { a: '1' } };

describe('a fenced client', () => {
  test('writes while the lease is held, and not after; reads and dry runs pass', async () => {
    const { base, client, transport } = fenced();
    await client.update(update);
    await client.delete(ConfigMap, key);
    await base.advance(9_999);
    await client.create(ConfigMap({ metadata: key }));
    await base.advance(1);
    const writes: (() => Promise<unknown>)[] = [
      () => client.create(ConfigMap({ metadata: key })),
      () => client.update(update),
      () => client.patch(ConfigMap, key, { type: 'merge', body: {} }),
      () => client.apply(ConfigMap({ metadata: key }), { fieldManager: 'a' }),
      () => client.status.update(update),
      () => client.subresource('eviction').create(Pod, key, {}),
      () => client.delete(ConfigMap, key),
      () => client.deleteCollection(ConfigMap, { namespace: 'shop' }),
    ];
    for (const write of writes) await expect(write()).rejects.toSatisfy(isLostLease);
    expect(transport.requests).toHaveLength(3);
    await client.get(ConfigMap, key);
    await client.update(update, { dryRun: true });
    await client.delete(ConfigMap, key, { dryRun: true });
    expect(transport.requests).toHaveLength(6);
  });

  test('a write that waited for the rate limiter until after the deadline is not sent', async () => {
    const { base, clock, client, transport } = fenced({ qps: 0.2 });
    const first = outcome(client.update(update));
    const second = outcome(client.update(update));
    await base.advance(0);
    expect([first.done, second.done]).toEqual([true, undefined]);
    clock.stop();
    await base.advance(20_000);
    clock.resume();
    await base.settle();
    expect(second.error).toSatisfy(isLostLease);
    expect(transport.requests).toHaveLength(1);
  });

  test('nor is one that waited to be sent again', async () => {
    const busy: Answer = { status: 429, headers: { ...headers, 'retry-after': '5' }, body: '{}' };
    const { base, clock, client, transport } = fenced({ answers: [busy, ok] });
    const seen = outcome(client.update(update));
    await base.advance(1_000);
    clock.stop();
    await base.advance(20_000);
    clock.resume();
    await base.settle();
    expect(seen.error).toSatisfy(isLostLease);
    expect(transport.requests).toHaveLength(1);
  });

  test('a write in flight is aborted when the lease is lost, not when the work is stopped', async () => {
    const { base, term, client } = fenced({ answers: [{ hangs: true }] });
    const seen = outcome(client.update(update));
    await base.advance(1_000);
    term.stop(new Error('going down'));
    await base.settle();
    expect(seen).toEqual({});
    await base.advance(9_000);
    expect(seen.error).toSatisfy(isLostLease);
  });

  test('a caller’s own signal, check and errors work as ever', async () => {
    const { client, live, guard } = fenced({ answers: [{ status: 403, headers, body: '{}' }] });
    await expect(client.update(update)).rejects.toMatchObject({ code: 403 });
    const own = new AbortController();
    own.abort(new Error('no more'));
    await expect(client.update(update, { signal: own.signal })).rejects.toThrow('no more');
    const checked = live.wrap((run) => fence(run, guard));
    const beforeSend = () => {
      throw new Error('not today');
    };
    const operation = { verb: 'update', kind: ConfigMap, ...key, params: {}, body: update, beforeSend } as const;
    await expect(checked.run(operation)).rejects.toThrow('not today');
  });
});

describe('preconditions', () => {
  const { guard } = fenced();
  const reported = async (operation: Partial<Operation>, known?: Operation['preconditions']) => {
    let seen: Operation | undefined;
    const run: Run = async (passed) => {
      seen = passed;
      return stored as never;
    };
    const fencedRun = fence(run, guard, known && { known: () => known });
    await fencedRun({ verb: 'update', kind: ConfigMap, ...key, params: {}, ...operation });
    return seen?.preconditions;
  };

  test('what is known goes along: version and UID of what is changed, the UID of what is deleted', async () => {
    const known = { uid: 'u', resourceVersion: '7' };
    expect(await reported({ verb: 'update' }, known)).toEqual(known);
    expect(await reported({ verb: 'patch' }, known)).toEqual(known);
    expect(await reported({ verb: 'delete' }, known)).toEqual({ uid: 'u' });
    expect(await reported({ verb: 'delete' }, { resourceVersion: '7' })).toBeUndefined();
    expect(await reported({ verb: 'create' }, known)).toBeUndefined();
    expect(await reported({ verb: 'deletecollection' }, known)).toBeUndefined();
    expect(await reported({ verb: 'update' })).toBeUndefined();
  });

  test('an apply knows by the object that it was made for', async () => {
    expect(await reported({ verb: 'patch', current: stored })).toEqual({ uid: 'u1', resourceVersion: '1' });
  });

  test('those of the operation itself stay', async () => {
    const own = { uid: 'own' };
    expect(await reported({ verb: 'delete', preconditions: own }, { uid: 'u' })).toEqual(own);
  });
});
