import { expect, test } from 'vitest';
import { type Client, intercept } from '../src/client/index.js';
import { ConfigMap } from '../src/kinds/index.js';
import { metadataOnly } from '../src/object/kind.js';
import { describeServers } from './servers.js';

const total = 5_000;
const page = 500;

describeServers('paging', (server) => {
  let filled: Promise<string> | undefined;
  /** 5,000 objects in one namespace, for all tests here. */
  const fullNamespace = () =>
    (filled ??= server()
      .newNamespace()
      .then((n) => fill(server().client, n)));

  test('pages: 500 at a time, all of one state, the rest counted', async () => {
    const { client } = server();
    const namespace = await fullNamespace();
    const names: string[] = [];
    const remaining: (number | undefined)[] = [];
    const versions = new Set<string | undefined>();
    let late = 0;
    for await (const { kind, metadata, items } of client.pages(ConfigMap, { namespace })) {
      expect(kind).toBe('ConfigMapList');
      expect(items.length).toBe(page);
      names.push(...items.map((item) => item.metadata.name));
      remaining.push(metadata.remainingItemCount);
      versions.add(metadata.resourceVersion);
      // Made after the first page, so that it belongs to no page of this list.
      if (late++ === 0) await client.create(ConfigMap({ metadata: { namespace, name: 'zzz-late' } }));
    }
    await client.delete(ConfigMap, { namespace, name: 'zzz-late' });
    expect(names).toEqual(Array.from({ length: total }, (_, i) => nameOf(i)));
    expect(remaining).toEqual([4500, 4000, 3500, 3000, 2500, 2000, 1500, 1000, 500, undefined]);
    expect(versions.size).toBe(1);
  });

  test('each: the same objects, fetched page by page if a limit is given, else at once', async () => {
    const namespace = await fullNamespace();
    const requests: Record<string, string>[] = [];
    const client = intercept(server().client, (operation, next) => {
      requests.push({ ...operation.params });
      return next(operation);
    });
    const seen: string[] = [];
    for await (const item of client.each(ConfigMap, { namespace, limit: page })) {
      expect(item).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
      seen.push(item.metadata.name);
    }
    expect(seen).toHaveLength(total);
    expect(requests).toHaveLength(total / page);
    expect(requests.map((params) => params.continue === undefined)).toEqual([true, ...Array(9).fill(false)]);

    requests.length = 0;
    const all: string[] = [];
    for await (const item of client.each(ConfigMap, { namespace })) all.push(item.metadata.name);
    expect(all).toEqual(seen);
    expect(requests).toHaveLength(1);
  });

  test('a loop that is left early asks for no more pages', async () => {
    const namespace = await fullNamespace();
    let requests = 0;
    const client = intercept(server().client, (operation, next) => {
      requests += 1;
      return next(operation);
    });
    for await (const item of client.each(ConfigMap, { namespace, limit: 100 })) {
      if (item.metadata.name === nameOf(150)) break;
    }
    expect(requests).toBe(2);
  });

  test('a selector and an odd page size; metadata only', async () => {
    const { client } = server();
    const namespace = await fullNamespace();
    const sizes: number[] = [];
    const options = { namespace, labelSelector: 'third=0', limit: 700 };
    for await (const { items } of client.pages(metadataOnly(ConfigMap), options)) {
      sizes.push(items.length);
      expect(items.every((item) => item.kind === 'ConfigMap' && !('data' in item))).toBe(true);
    }
    expect(sizes).toEqual([700, 700, 267]);
  });

  test('list with a limit is one page, and goes on with its token', async () => {
    const { client } = server();
    const namespace = await fullNamespace();
    const first = await client.list(ConfigMap, { namespace, limit: 3 });
    expect(first.metadata.remainingItemCount).toBe(total - 3);
    const second = await client.list(ConfigMap, { namespace, limit: 3, continue: first.metadata.continue });
    expect(second.items.map((item) => item.metadata.name)).toEqual([3, 4, 5].map(nameOf));
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const cached = await client.list(ConfigMap, { namespace, resourceVersion: '0', cutManagedFields: true });
    expect(cached.items).toHaveLength(total);
    expect(cached.items.every((item) => item.metadata.managedFields === undefined)).toBe(true);
  });
});

function nameOf(index: number): string {
  return `c-${String(index).padStart(4, '0')}`;
}

/** Makes the objects, twenty at a time. */
async function fill(client: Client, namespace: string): Promise<string> {
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < total; i = next++) {
      const metadata = { namespace, name: nameOf(i), labels: { third: String(i % 3) } };
      await client.create(ConfigMap({ metadata, data: { index: String(i) } }));
    }
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  return namespace;
}
