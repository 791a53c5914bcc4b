import { TestEnvironment } from '@riata/testing';
import { Lease } from 'riata/kinds';
import { expect, test, vi } from 'vitest';
import { microTime } from './dev-lease.js';
import { giveBack } from './give-back.js';
import { holdLease } from './take-lease.js';

const key = { namespace: 'default', name: 'sites' };
const place = { namespace: 'default', name: 'site-operator' };

async function cluster() {
  const env = await TestEnvironment.start({ server: 'in-process' });
  const notes: string[] = [];
  const { signal } = new AbortController();
  const parts = (holder: string) => ({
    ...{ client: env.client, ...place, holder, clock: env.clock, signal },
    note: (line: string) => void notes.push(line),
  });
  const now = () => microTime(env.clock.now());
  const hold = (holderIdentity: string) =>
    env.client.create(
      Lease({
        metadata: key,
        spec: { holderIdentity, leaseDurationSeconds: 20, acquireTime: now(), renewTime: now(), leaseTransitions: 4 },
      }),
    );
  const lease = async () => (await env.client.get(Lease, key)).spec;
  return { env, notes, parts, hold, lease, now };
}

/** Moves time until something is over, and gives how long it took. */
async function driven(env: TestEnvironment, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  ended.catch(() => {});
  const from = env.clock.now();
  while (!isOver) await env.advance('1s');
  await ended;
  return env.clock.now() - from;
}

test('the Lease is taken, the leader before has time to stop, and it is released on exit', async () => {
  const { env, notes, parts, hold, lease } = await cluster();
  await using _ = env;
  await hold('pod-a');
  const taken = await holdLease(parts('ann'));
  expect(await driven(env, taken.lead(key))).toBeGreaterThanOrEqual(20_000);
  expect(notes).toEqual(['took Lease default/sites from pod-a; waiting 20 s, until it has stopped']);
  expect(await lease()).toMatchObject({
    ...{ holderIdentity: 'riata dev of ann', leaseDurationSeconds: 20, leaseTransitions: 5 },
    renewTime: microTime(env.clock.now()),
  });
  // The next manager finds it held.
  expect(await driven(env, taken.lead(key))).toBeLessThan(2000);
  await expect(holdLease(parts('bob'))).rejects.toThrow('default/site-operator is taken over by riata dev of ann');
  await taken.giveBack();
  expect((await lease())?.holderIdentity).toBeUndefined();
  expect(await lease()).toMatchObject({ leaseDurationSeconds: 1 });
  expect(await env.client.find(Lease, { ...place, name: 'site-operator-riata-dev' })).toBeUndefined();
});

test('a Lease that nobody holds is taken at once, and one that does not exist is created', async () => {
  const { env, parts, lease } = await cluster();
  await using _ = env;
  const taken = await holdLease(parts('ann'));
  expect(await driven(env, taken.lead(key))).toBeLessThan(2000);
  expect(await lease()).toMatchObject({ holderIdentity: 'riata dev of ann', leaseDurationSeconds: 15 });
  await taken.giveBack();
  const again = await holdLease(parts('ann'));
  expect(await driven(env, again.lead(key))).toBeLessThan(2000);
  expect(await lease()).toMatchObject({ holderIdentity: 'riata dev of ann', leaseDurationSeconds: 15 });
  await again.giveBack();
});

test('who takes the Lease while it waits is named', async () => {
  const { env, notes, parts, hold } = await cluster();
  await using _ = env;
  await hold('pod-a');
  const taken = await holdLease(parts('ann'));
  const taking = taken.lead(key);
  taking.catch(() => {});
  await vi.waitFor(() => expect(notes).toHaveLength(1));
  await env.client.patch(Lease, key, { type: 'merge', body: { spec: { holderIdentity: 'pod-b' } } });
  await expect(driven(env, taking)).rejects.toThrow('Lease default/sites was taken by pod-b meanwhile');
  await taken.giveBack();
  expect((await env.client.get(Lease, key)).spec?.holderIdentity).toBe('pod-b');
});

test('after a crash the Lease is released by what the cluster remembers', async () => {
  const { env, parts, lease } = await cluster();
  await using _ = env;
  const taken = await holdLease(parts('ann'));
  await taken.lead(key);
  await expect(giveBack(parts('bob'))).rejects.toThrow('is taken over by riata dev of ann');
  expect(await giveBack(parts('ann'))).toEqual({ lease: 'default/sites' });
  expect((await lease())?.holderIdentity).toBeUndefined();
  expect(await giveBack(parts('ann'))).toEqual({});
  await taken.giveBack();
});
