import { describe, expect, test } from 'vitest';
import { ConfigMap } from '../../kinds/index.js';
import { isResourceExpired } from '../../rest/errors/error-guards.js';
import { type Answer, answeringTransport } from '../../rest/transport/answering-transport.fixture.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { createClient } from '../create-client.js';

const headers = { 'content-type': 'application/json' };
const stored = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name } });

function serve(answers: readonly Answer[]) {
  const transport = answeringTransport(answers);
  const client = createClient({ server: 'http://a' }, { transport, runtime: { log: silentLogger } });
  return { client, asked: () => transport.requests.map((r) => `${r.method} ${r.path}`) };
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

describe('pages and each', () => {
  const page = (names: readonly string[], next?: string): Answer => ({
    status: 200,
    headers,
    body: {
      apiVersion: 'v1',
      kind: 'ConfigMapList',
      metadata: { resourceVersion: '5', ...(next && { continue: next }) },
      items: names.map((name) => stored(name)),
    },
  });
  const expired = (token?: string): Answer => ({
    status: 410,
    headers,
    body: {
      kind: 'Status',
      status: 'Failure',
      code: 410,
      reason: 'Expired',
      metadata: token ? { continue: token } : {},
    },
  });
  const names = (items: readonly { metadata: { name: string } }[]) => items.map((i) => i.metadata.name).join('');

  test('pages: 500 by default, the resourceVersion on the first alone', async () => {
    const { client, asked } = serve([page(['a', 'b'], 'X'), page(['c'])]);
    const got = await all(client.pages(ConfigMap, { resourceVersion: '0' }));
    expect(got.map((p) => names(p.items))).toEqual(['ab', 'c']);
    expect(asked()).toEqual([
      'GET /api/v1/configmaps?limit=500&resourceVersion=0',
      'GET /api/v1/configmaps?continue=X&limit=500',
    ]);
  });

  test('an expired token: continues behind the last page, nothing lost and nothing twice', async () => {
    const { client, asked } = serve([page(['a', 'b'], 'X'), expired('Y'), page(['c'])]);
    expect(names(await all(client.each(ConfigMap, { limit: 2 })))).toBe('abc');
    expect(asked().at(-1)).toBe('GET /api/v1/configmaps?continue=Y&limit=2');
  });

  test('an expired token: fails where that is asked for, or the server gives no fresh one', async () => {
    for (const [options, token] of [
      [{ onExpired: 'fail' }, 'Y'],
      [{}, undefined],
    ] as const) {
      const { client } = serve([page(['a'], 'X'), expired(token)]);
      await expect(all(client.pages(ConfigMap, options))).rejects.toSatisfy(isResourceExpired);
    }
  });

  test('each: one request without a limit, page by page with one', async () => {
    const { client, asked } = serve([page(['a', 'b']), page(['a'], 'X'), page(['b'])]);
    expect(names(await all(client.each(ConfigMap, { namespace: 'shop' })))).toBe('ab');
    expect(names(await all(client.each(ConfigMap, { namespace: 'shop', limit: 1 })))).toBe('ab');
    expect(asked()).toHaveLength(3);
    expect(asked()[0]).toBe('GET /api/v1/namespaces/shop/configmaps');
  });

  test('leaving early asks for no more', async () => {
    const { client, asked } = serve([page(['a'], 'X'), page(['b'])]);
    for await (const _ of client.pages(ConfigMap)) break;
    expect(asked()).toHaveLength(1);
  });
});
