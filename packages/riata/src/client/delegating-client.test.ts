import { describe, expect, test } from 'vitest';
import { ConfigMap, Deployment, Pod, Secret } from '../kinds/index.js';
import { metadataOnly } from '../object/kind.js';
import { answeringTransport } from '../rest/transport/answering-transport.fixture.js';
import { silentLogger } from '../runtime/log/logger.js';
import { createClient } from './create-client.js';
import { delegatingClient } from './delegating-client.js';
import type { Reader } from './interfaces.js';

const key = { namespace: 'shop', name: 'a' };
const cached = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
const live = { apiVersion: 'v1', kind: 'ConfigMapList', metadata: {}, items: [], columnDefinitions: [] };

function setup(uncached?: Parameters<typeof delegatingClient>[0]['uncached']) {
  const headers = { 'content-type': 'application/json' };
  const transport = answeringTransport(({ path, headers: sent }) => {
    const isTable = String(sent.accept).includes('as=Table');
    return {
      status: 200,
      headers,
      body: path.includes('watch=true') ? '' : { ...live, ...(isTable && { kind: 'Table' }) },
    };
  });
  const reads: string[] = [];
  const answer =
    (what: string) =>
    async (kind: { kind: string }, ...rest: unknown[]) => {
      reads.push(`${what} ${kind.kind} ${JSON.stringify(rest)}`);
      return cached as never;
    };
  const cacheReader = { get: answer('get'), find: answer('find'), list: answer('list') } as unknown as Reader;
  const client = createClient({ server: 'http://a' }, { transport, runtime: { log: silentLogger } });
  const delegating = delegatingClient({ cacheReader, client, uncached });
  return { client, delegating, reads, asked: () => transport.requests.map((r) => `${r.method} ${r.path}`) };
}

describe('delegatingClient', () => {
  test('get, find and list go to the cache, options too', async () => {
    const { delegating, reads, asked } = setup();
    expect(await delegating.get(ConfigMap, key)).toBe(cached);
    expect(await delegating.find(ConfigMap, key, { resourceVersion: '0' })).toBe(cached);
    expect(await delegating.list(ConfigMap, { labelSelector: 'a=b' })).toBe(cached);
    expect(reads).toEqual([
      `get ConfigMap [${JSON.stringify(key)},null]`,
      `find ConfigMap [${JSON.stringify(key)},{"resourceVersion":"0"}]`,
      'list ConfigMap [{"labelSelector":"a=b"}]',
    ]);
    expect(asked()).toEqual([]);
  });

  test('uncached kinds are read from the server, also as metadata alone', async () => {
    const { delegating, reads, asked } = setup([Secret]);
    await delegating.get(Secret, key);
    await delegating.find(Secret, key);
    await delegating.list(Secret);
    await delegating.get(metadataOnly(Secret), key);
    expect(asked()).toHaveLength(4);
    expect(reads).toEqual([]);
    await delegating.get(ConfigMap, key);
    expect(reads).toHaveLength(1);
  });

  test('a kind is uncached by its name, whichever value names it', async () => {
    const { kind, version, group } = Secret.gvk;
    const { delegating, reads } = setup([{ ...Secret, gvk: { kind, version, group } }]);
    await delegating.list(Secret);
    expect(reads).toEqual([]);
  });

  test('all the rest is the business of the server', async () => {
    const { delegating, reads, asked } = setup();
    const merge = { type: 'merge', body: {} } as const;
    await delegating.create(ConfigMap({ metadata: key }));
    await delegating.update(ConfigMap({ metadata: key }));
    await delegating.patch(ConfigMap, key, merge);
    await delegating.apply(ConfigMap({ metadata: key }), { fieldManager: 'me' });
    await delegating.applyFields(ConfigMap, { metadata: key }, { fieldManager: 'me' });
    await delegating.delete(ConfigMap, key);
    await delegating.deleteCollection(ConfigMap, { namespace: 'shop' });
    await delegating.status.patch(Pod, key, merge);
    await delegating.subresource('scale').get(Deployment, key);
    await delegating.table(ConfigMap);
    for await (const _ of delegating.each(ConfigMap)) expect.unreachable();
    for await (const page of delegating.pages(ConfigMap)) expect(page.items).toEqual([]);
    (await delegating.watch(ConfigMap)).stop();
    await (await delegating.logs(key)).return();
    expect(asked().map((path) => path.split(' ', 1)[0])).toEqual([
      ...['POST', 'PUT', 'PATCH', 'PATCH', 'PATCH', 'DELETE', 'DELETE', 'PATCH'],
      ...['GET', 'GET', 'GET', 'GET', 'GET', 'GET'],
    ]);
    for await (const event of delegating.retryingWatch(ConfigMap)) {
      expect(event).toEqual({ type: 'RESET' });
      break;
    }
    expect(reads).toEqual([]);
  });

  test('scheme, mapper and status are those of the client', () => {
    const { delegating, client } = setup();
    expect(delegating.scheme).toBe(client.scheme);
    expect(delegating.mapper).toBe(client.mapper);
    expect(delegating.status).toBe(client.status);
  });
});
