import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { createClient } from '../../client/create-client.js';
import { isConflict } from '../../rest/errors/error-guards.js';
import { answeringTransport } from '../../rest/transport/answering-transport.fixture.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { seededRandom } from '../../runtime/random.js';
import { candidateIdentity, LeaseLock } from './lease-lock.js';

const key = { namespace: 'shop', name: 'operator' };
const headers = { 'content-type': 'application/json' };
const time = '2026-01-01T00:00:00.000000Z';
const lease = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { ...key, uid: 'u', resourceVersion: '7', labels: { a: 'b' } },
  spec: {
    holderIdentity: 'b',
    leaseDurationSeconds: 15,
    leaseTransitions: 3,
    renewTime: time,
    strategy: 'OldestEmulationVersion',
  },
};
const record = {
  holderIdentity: 'a',
  leaseDurationSeconds: 20,
  acquireTime: time,
  renewTime: time,
  leaderTransitions: 4,
};
const status = (code: number, reason: string) => ({
  status: code,
  headers: { ...headers, 'retry-after': '1' },
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, details: { name: key.name } },
});

function lockOn(...answers: readonly object[]) {
  const transport = answeringTransport(answers);
  const client = createClient({ server: 'http://a' }, { transport, runtime: { log: silentLogger } });
  const lock = new LeaseLock(client, { ...key, identity: 'a', labels: { app: 'x' } });
  const sent = (nth: number): unknown => JSON.parse(String(transport.requests[nth]?.body));
  return { lock, sent, asked: () => transport.requests.map(({ method, path }) => `${method} ${path}`) };
}

const ok = { status: 200, headers, body: lease };
const path = '/apis/coordination.k8s.io/v1/namespaces/shop/leases';

describe('LeaseLock', () => {
  test('reads the Lease, and nothing if it does not exist', async () => {
    const { lock, asked } = lockOn(ok, status(404, 'NotFound'), { ...ok, body: { ...lease, spec: undefined } });
    expect(await lock.get()).toEqual({
      version: 'u/7',
      record: { holderIdentity: 'b', leaseDurationSeconds: 15, acquireTime: '', renewTime: time, leaderTransitions: 3 },
    });
    expect(await lock.get()).toBeUndefined();
    expect((await lock.get())?.record).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 0 });
    expect(asked()[0]).toBe(`GET ${path}/operator`);
    expect([lock.description, lock.name]).toEqual(['Lease shop/operator', 'operator']);
  });

  test('makes one, with labels', async () => {
    const { lock, sent, asked } = lockOn(ok);
    await lock.create(record);
    expect(asked()).toEqual([`POST ${path}`]);
    const { leaderTransitions: leaseTransitions, ...times } = record;
    expect(sent(0)).toMatchObject({
      metadata: { ...key, labels: { app: 'x' } },
      spec: { ...times, leaseTransitions },
    });
  });

  test('replaces what it has seen, and leaves alone what it does not know', async () => {
    const { lock, sent } = lockOn(ok, {
      ...ok,
      body: { ...lease, metadata: { ...lease.metadata, resourceVersion: '8' } },
    });
    await expect(lock.update(record)).rejects.toThrow('Lease shop/operator: update requires a get or create before it');
    await lock.get();
    expect((await lock.update(record)).version).toBe('u/8');
    expect(sent(1)).toMatchObject({
      metadata: { resourceVersion: '7', uid: 'u', labels: { a: 'b' } },
      spec: { holderIdentity: 'a', leaseDurationSeconds: 20, leaseTransitions: 4, strategy: 'OldestEmulationVersion' },
    });
    await lock.update({ ...record, holderIdentity: '' });
    expect(sent(2)).toMatchObject({ metadata: { resourceVersion: '8' }, spec: { leaseDurationSeconds: 20 } });
    expect(sent(2)).not.toHaveProperty('spec.holderIdentity');
  });

  test('sends once, even if the server asks for a retry', async () => {
    const { lock, asked } = lockOn(ok, status(409, 'Conflict'), status(429, 'TooManyRequests'));
    await lock.get();
    await expect(lock.update(record)).rejects.toSatisfy(isConflict);
    await expect(lock.update(record)).rejects.toMatchObject({ code: 429 });
    await expect(lock.get()).rejects.toMatchObject({ code: 429 });
    expect(asked()).toHaveLength(4);
  });

  test('is called by host and chance, unless it is given a name; an empty one is refused', () => {
    const { lock } = lockOn(ok);
    expect(lock.identity).toBe('a');
    const client = createClient(
      { server: 'http://a' },
      { transport: answeringTransport([]), runtime: { log: silentLogger } },
    );
    const own = new LeaseLock(client, { ...key, random: seededRandom(1) });
    expect(own.identity).toBe(`${hostname()}_${seededRandom(1).uuid()}`);
    expect(candidateIdentity()).not.toBe(candidateIdentity());
    expect(() => new LeaseLock(client, { ...key, identity: '' })).toThrow(
      'identity must be a non-empty string, got ""',
    );
    expect(() => new LeaseLock(client, { ...key, namespace: '' })).toThrow('LeaseLock: namespace must be');
  });
});
