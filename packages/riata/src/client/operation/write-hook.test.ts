import { describe, expect, test } from 'vitest';
import { ConfigMap } from '../../kinds/index.js';
import { TransportError } from '../../rest/errors/transport-error.js';
import { type Answer, answeringTransport } from '../../rest/transport/answering-transport.fixture.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { link } from '../../runtime/signals.js';
import { createClient } from '../create-client.js';
import { dryRun, inNamespace, intercept } from '../wrappers.js';
import type { Write } from './write-hook.js';

const key = { namespace: 'shop', name: 'a' };
const stored = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...key, uid: 'u1', resourceVersion: '1', creationTimestamp: '' },
} as ConfigMap;
const ok: Answer = { status: 200, headers: { 'content-type': 'application/json' }, body: stored };
const made = () => ConfigMap({ metadata: key });

function serve(answers: readonly Answer[] = [ok]) {
  const log = memoryLogger();
  const transport = answeringTransport(answers);
  const received: Write[] = [];
  const client = createClient(
    { server: 'http://a' },
    { transport, runtime: { log }, onWrite: (write) => received.push(write) },
  );
  const verbs = () => received.map(({ operation: o }) => (o.subresource ? `${o.verb}/${o.subresource}` : o.verb));
  return { client, received, verbs, log, transport };
}

describe('writes are heard of', () => {
  test('every verb, with the answer of the server; no reads', async () => {
    const { client, received, verbs } = serve();
    await client.create(made());
    await client.update(made());
    await client.patch(ConfigMap, key, { type: 'merge', body: {} });
    await client.apply(made(), { fieldManager: 'me' });
    await client.status.update(made());
    await client.subresource('scale').create(ConfigMap, key, {});
    await client.delete(ConfigMap, key);
    await client.deleteCollection(ConfigMap, { namespace: 'shop' });
    await client.get(ConfigMap, key);
    expect(verbs()).toEqual([
      ...['create', 'update', 'patch', 'patch', 'update/status', 'create/scale', 'delete', 'deletecollection'],
    ]);
    expect(received.every((write) => 'answer' in write && write.operation.namespace === 'shop')).toBe(true);
    expect(received[0]).toMatchObject({ answer: stored, operation: { kind: ConfigMap } });
  });

  test('with `under`: those with that signal, or with one linked to it, once each', async () => {
    const { client, received } = serve();
    const [work, other] = [new AbortController().signal, new AbortController().signal];
    using both = link(other, work);
    using deeper = link(both.signal, work);
    const own: Write[] = [];
    const listening = client.onWrite((write) => own.push(write), { under: work });
    const second = client.onWrite(() => {}, { under: work });
    for (const signal of [work, other, both.signal, deeper.signal, undefined]) await client.create(made(), { signal });
    expect([received.length, own.length]).toEqual([5, 3]);
    second[Symbol.dispose]();
    await client.create(made(), { signal: work });
    expect(own).toHaveLength(4);
    listening[Symbol.dispose]();
    await client.create(made(), { signal: work });
    expect(own).toHaveLength(4);
  });

  test('before the call resolves', async () => {
    const { client, received } = serve();
    await client.create(made()).then(() => expect(received).toHaveLength(1));
    expect(received).toHaveLength(1);
  });

  test('through wrappers: as it went over the wire; not when an interceptor answered', async () => {
    const { client, received, verbs } = serve();
    await inNamespace(client, 'shop').create(ConfigMap({ metadata: { name: 'a' } }));
    expect(received[0]?.operation.namespace).toBe('shop');
    await intercept(client, async () => stored as never).create(made());
    expect(verbs()).toEqual(['create']);
  });

  test('not dry runs, however they are requested, nor no-op applies', async () => {
    const { client, verbs, transport } = serve();
    await client.create(made(), { dryRun: true });
    await client.delete(ConfigMap, key, { dryRun: true });
    await dryRun(client).update(made());
    await dryRun(client).delete(ConfigMap, key, { gracePeriodSeconds: 0 });
    await dryRun(client).deleteCollection(ConfigMap, { namespace: 'shop' });
    expect(verbs()).toEqual([]);
    await client.apply(made(), { fieldManager: 'me' });
    await client.apply(made(), { fieldManager: 'me', current: stored });
    expect(verbs()).toEqual(['patch']);
    expect(transport.requests).toHaveLength(6);
  });
});

describe('failures', () => {
  const refused = (code: number, reason = ''): Answer => ({
    status: code,
    headers: ok.headers,
    body: { kind: 'Status', status: 'Failure', code, reason },
  });
  const broken = (requestSent: boolean): Answer => ({
    error: new TransportError('x', { kind: 'reset', requestSent }),
  });

  test.each([
    ['refused', refused(409, 'Conflict')],
    ['not allowed', refused(403, 'Forbidden')],
    ['never sent', broken(false)],
  ])('%s: nothing was stored, nothing is heard', async (_, answer) => {
    const { client, received } = serve([answer]);
    await expect(client.create(made())).rejects.toThrow();
    expect(received).toEqual([]);
  });

  test.each([
    ['the connection broke after sending', broken(true)],
    ['the server ran out of time', refused(504, 'Timeout')],
    ['the server failed on the way', refused(500, 'InternalError')],
    ['the answer cannot be read', { status: 200, headers: ok.headers, body: '{"kind":' }],
  ])('%s: it may have been stored', async (_, answer) => {
    const { client, received } = serve([answer]);
    const error: unknown = await client.create(made()).catch((e: unknown) => e);
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ operation: { verb: 'create' }, error });
  });

  test('a mistake before anything is sent is no write', async () => {
    const { client, received } = serve();
    await expect(client.create(ConfigMap({ metadata: { name: 'a' } }) as never)).rejects.toThrow('namespace');
    expect(received).toEqual([]);
  });
});

describe('listeners', () => {
  test('one that fails fails neither the write nor the others; the log says so', async () => {
    const { client, received, log } = serve();
    const later: Write[] = [];
    client.onWrite(() => {
      throw new Error('oops');
    });
    client.onWrite((write) => later.push(write));
    expect(await client.create(made())).toEqual(stored);
    expect([received.length, later.length]).toEqual([1, 1]);
    expect(log.records).toMatchObject([
      {
        level: 'error',
        message: 'write listener failed',
        fields: { verb: 'create', kind: 'ConfigMap', namespace: 'shop' },
      },
    ]);
  });

  test('hear no more once disposed, each registration for itself', async () => {
    const { client } = serve();
    let calls = 0;
    const count = () => {
      calls += 1;
    };
    const first = client.onWrite(count);
    using _second = client.onWrite(count);
    await client.create(made());
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await client.create(made());
    expect(calls).toBe(3);
  });
});
