import { describe, expect, expectTypeOf, test } from 'vitest';
import { createClient } from '../../client/create-client.js';
import type { ListOptions, WatchOptions } from '../../client/options.js';
import { ConfigMap, Node } from '../../kinds/index.js';
import type { KubeList, KubeObject } from '../../object/meta.js';
import { type Answer, answeringTransport } from '../../rest/transport/answering-transport.fixture.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { type ListItems, type ListWatchClient, listWatch } from './list-watch.js';

const headers = { 'content-type': 'application/json' };
const stored = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name, managedFields: [{ manager: 'x' }] },
  data: { a: 'b' },
});
const list = (...names: string[]): Answer => ({
  status: 200,
  headers,
  body: { apiVersion: 'v1', kind: 'ConfigMapList', metadata: { resourceVersion: '5' }, items: names.map(stored) },
});
const event: Answer = { status: 200, headers, body: { type: 'ADDED', object: stored('a') } };

function serve(...answers: readonly Answer[]) {
  const transport = answeringTransport(answers);
  const client = createClient({ server: 'http://a' }, { transport, runtime: { log: silentLogger } });
  const asked = () =>
    transport.requests.map(({ path }) => {
      const { pathname, searchParams } = new URL(path, 'http://a');
      return [pathname, Object.fromEntries(searchParams)];
    });
  return { client, asked, requests: transport.requests };
}

async function collect<T>(answer: KubeList<T> | ListItems<T>): Promise<{ items: T[]; resourceVersion?: string }> {
  if ('items' in answer) return { items: [...answer.items], resourceVersion: answer.metadata.resourceVersion };
  const items: T[] = [];
  const { metadata } = await answer.consume((item) => items.push(item));
  return { items, resourceVersion: metadata.resourceVersion };
}

describe('listWatch', () => {
  test('lists item by item, with what the caller asks for; managedFields are left out', async () => {
    const { client, asked } = serve(list('a', 'b'));
    const lw = listWatch(client, ConfigMap);
    const answer = await lw.list({ resourceVersion: '0', limit: 500 });
    expect('consume' in answer).toBe(true);
    const { items, resourceVersion } = await collect(answer);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect(items[0]?.metadata).not.toHaveProperty('managedFields');
    expect(resourceVersion).toBe('5');
    expect(asked()).toEqual([['/api/v1/configmaps', { limit: '500', resourceVersion: '0' }]]);
    expectTypeOf(items).toEqualTypeOf<ConfigMap[]>();
  });

  test('namespace and selectors are in every call, whatever the caller says', async () => {
    const { client, asked } = serve(list('a'), event);
    const options = { namespace: 'shop', labelSelector: 'app=web', fieldSelector: 'metadata.name=a' };
    const lw = listWatch(client, ConfigMap, options);
    await collect(await lw.list({ labelSelector: 'app=other', namespace: 'other' }));
    const watch = await lw.watch({ resourceVersion: '5', timeoutSeconds: 300 });
    const seen: unknown[] = [];
    for await (const { type } of watch) seen.push(type);
    expect(seen).toEqual(['ADDED']);
    const selectors = { labelSelector: 'app=web', fieldSelector: 'metadata.name=a' };
    expect(asked()).toEqual([
      ['/api/v1/namespaces/shop/configmaps', selectors],
      [
        '/api/v1/namespaces/shop/configmaps',
        { ...selectors, watch: 'true', allowWatchBookmarks: 'true', resourceVersion: '5', timeoutSeconds: '300' },
      ],
    ]);
  });

  test('a tweak has the last word', async () => {
    const { client, asked } = serve(list('a'), event);
    const tweak = <O extends ListOptions | WatchOptions>(options: O): O => ({
      ...options,
      labelSelector: `${options.labelSelector},tier=db`,
      cutManagedFields: false,
    });
    const lw = listWatch(client, ConfigMap, { labelSelector: 'app=web', tweak });
    const { items } = await collect(await lw.list({}));
    expect(items[0]?.metadata).toHaveProperty('managedFields');
    (await lw.watch({})).stop();
    expect(asked().map(([, query]) => (query as Record<string, string>).labelSelector)).toEqual([
      'app=web,tier=db',
      'app=web,tier=db',
    ]);
  });

  test('metadata alone', async () => {
    const { client, requests } = serve(list('a'), event);
    const lw = listWatch(client, ConfigMap, { metadataOnly: true });
    const { items } = await collect(await lw.list({}));
    (await lw.watch({})).stop();
    expect(items.map((item) => Object.keys(item))).toEqual([['apiVersion', 'kind', 'metadata']]);
    expect(requests.map(({ headers }) => JSON.stringify(headers))).toEqual([
      expect.stringContaining('PartialObjectMetadataList'),
      expect.stringContaining('PartialObjectMetadata'),
    ]);
    // @ts-expect-error: only metadata was asked for
    expect(items[0]?.data).toBeUndefined();
  });

  test('any client that can list and watch will do', async () => {
    const calls: unknown[] = [];
    const whole = { apiVersion: 'v1', kind: 'NodeList', metadata: {}, items: [] };
    const client = {
      list: async (kind: { kind: string }, options: ListOptions) => {
        calls.push([kind.kind, options]);
        return whole;
      },
      watch: () => Promise.reject(new Error('no watches here')),
    } as unknown as ListWatchClient;
    const lw = listWatch<KubeObject>(client, Node, { labelSelector: 'a=b' });
    expect(await collect(await lw.list({ limit: 1 }))).toEqual({ items: [] });
    expect(calls).toEqual([
      [
        'Node',
        { limit: 1, cutManagedFields: true, labelSelector: 'a=b', namespace: undefined, fieldSelector: undefined },
      ],
    ]);
    await expect(lw.watch({})).rejects.toThrow('no watches here');
  });
});
