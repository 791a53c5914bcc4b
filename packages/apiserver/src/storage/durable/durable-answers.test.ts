import { createClient } from 'riata';
import { ConfigMap, CustomResourceDefinition } from 'riata/kinds';
import { silentLogger as log, systemClock } from 'riata/runtime';
import { expect, test, vi } from 'vitest';
import { ApiServer } from '../../api-server.js';
import { DurableStorage } from './durable-storage.js';
import { HeldStore } from './held-store.fixture.js';

const thing = (name: string) => ConfigMap({ metadata: { namespace: 'default', name } });
const key = { namespace: 'default', name: 'a' };

/** A server whose disk lets writes through until the test holds them. */
async function started() {
  const records = new HeldStore();
  records.holds = false;
  const content = { versions: [], revision: 0, compacted: 0 };
  const storage = new DurableStorage({ records, content, name: '/data', clock: systemClock, realTime: systemClock });
  const server = await ApiServer.start({ storage, log });
  records.holds = true;
  return { records, storage, server, client: createClient(server.config, { runtime: { log } }) };
}

/** Whether a promise is settled after all pending work has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const mark = () => {
    settled = true;
  };
  promise.then(mark, mark);
  for (let turn = 0; turn < 20; turn++) await systemClock.yield();
  return settled;
}

test('answers, refusals and events show durable writes only', async () => {
  const { records, server, client } = await started();
  await using _ = server;
  const reported: string[] = [];
  const stop = new AbortController();
  const watching = (async () => {
    for await (const event of await client.watch(ConfigMap, { namespace: 'default', signal: stop.signal })) {
      if (JSON.stringify(event.object).includes('"name":"a"')) reported.push(event.type);
    }
  })().catch(() => {});
  const made = client.create(thing('a'));
  await vi.waitFor(() => expect(records.isHolding).toBe(true));
  const read = client.get(ConfigMap, key);
  const list = client.list(ConfigMap, { namespace: 'default' });
  const again = client.create(thing('a'));
  const late = client.list(ConfigMap, { namespace: 'default', resourceVersion: '0' });
  for (const answer of [made, read, list, again, late]) expect(await isSettled(answer)).toBe(false);
  expect(reported).toEqual([]);
  records.letThrough();
  expect((await read).metadata.uid).toBe((await made).metadata.uid);
  await Promise.all([list, late]);
  await expect(again).rejects.toThrow('already exists');
  await vi.waitFor(() => expect(reported).toEqual(['ADDED']));
  stop.abort();
  await watching;
});

test('a watch of a removed kind delivers every deletion before it ends', async () => {
  const { records, server, client } = await started();
  await using _ = server;
  records.holds = false;
  const schema = { type: 'object' as const, 'x-kubernetes-preserve-unknown-fields': true };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }];
  const names = { plural: 'widgets', kind: 'Widget' };
  const spec = { group: 'shop.test', scope: 'Namespaced' as const, names, versions };
  await client.create(CustomResourceDefinition({ metadata: { name: 'widgets.shop.test' }, spec }));
  await server.idle();
  const { url } = await server.listen({ tls: false });
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
  const path = `${url}/apis/shop.test/v1/namespaces/default/widgets`;
  for (const name of ['a', 'b']) {
    const body = JSON.stringify({ apiVersion: 'shop.test/v1', kind: 'Widget', metadata: { name } });
    expect((await fetch(path, { method: 'POST', headers, body })).status).toBe(201);
  }
  const watch = await fetch(`${path}?watch=1`, { headers });
  const all = watch.text();
  await client.delete(CustomResourceDefinition, { name: 'widgets.shop.test' });
  const lines = (await all).trim().split('\n');
  expect(lines.filter((line) => line.includes('"type":"DELETED"'))).toHaveLength(2);
});

test('a watch that starts with the current state waits until that is durable', async () => {
  const { records, server, client } = await started();
  await using _ = server;
  const made = client.create(thing('a'));
  await vi.waitFor(() => expect(records.isHolding).toBe(true));
  const { url } = await server.listen({ tls: false });
  const headers = { authorization: `Bearer ${server.token}` };
  const stop = new AbortController();
  const path = '/api/v1/namespaces/default/configmaps?watch=1&fieldSelector=metadata.name%3Da';
  const answer = await fetch(url + path, { headers, signal: stop.signal });
  const reader = answer.body!.getReader();
  const first = reader.read();
  expect(await isSettled(first)).toBe(false);
  records.letThrough();
  await made;
  expect(new TextDecoder().decode((await first).value)).toContain('"type":"ADDED"');
  stop.abort();
});

test('requests get a 500 with the cause while the disk is full, and succeed afterwards', async () => {
  const { records, server, client, storage } = await started();
  await using _ = server;
  const made = client.create(thing('a'));
  await vi.waitFor(() => expect(records.isHolding).toBe(true));
  const message = 'data directory /data: cannot write: no space left on the disk';
  const refused = expect(made).rejects.toThrow(message);
  records.fail('No space left on device');
  await refused;
  await expect(client.create(thing('b'))).rejects.toThrow(message);
  await expect(client.get(ConfigMap, key)).rejects.toThrow(message);
  records.holds = false;
  await vi.waitFor(() => expect(storage.problem).toBeUndefined(), 10_000);
  expect((await client.get(ConfigMap, key)).metadata.name).toBe('a');
  await client.create(thing('b'));
});
