import { type Client, intercept, type ListOptions } from 'riata/client';
import { ConfigMap } from 'riata/kinds';
import type { KubeList } from 'riata/object';
import { metadataOnly } from 'riata/object';
import { isResourceExpired, ListPager } from 'riata/rest';
import { beforeAll, expect, test } from 'vitest';
import { describeServers, rejection } from './servers.js';

const total = 5_000;
const page = 500;

describeServers('paging', (server) => {
  /** With 5,000 objects, for all tests here. */
  let namespace: string;
  beforeAll(async () => {
    namespace = await fill(server().client, await server().namespace());
    server().keep();
  });

  test('pages: 500 at a time, all of one state, the rest counted', async () => {
    const { client } = server();
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
    const sizes: number[] = [];
    const options = { namespace, labelSelector: 'third=0', limit: 700 };
    for await (const { items } of client.pages(metadataOnly(ConfigMap), options)) {
      sizes.push(items.length);
      expect(items.every((item) => item.kind === 'ConfigMap' && !('data' in item))).toBe(true);
    }
    expect(sizes).toEqual([700, 700, 267]);
  });

  test('list with a limit is one page, and continues with its token', async () => {
    const { client } = server();
    const first = await client.list(ConfigMap, { namespace, limit: 3 });
    expect(first.metadata.remainingItemCount).toBe(total - 3);
    const second = await client.list(ConfigMap, { namespace, limit: 3, continue: first.metadata.continue });
    expect(second.items.map((item) => item.metadata.name)).toEqual([3, 4, 5].map(nameOf));
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const cached = await client.list(ConfigMap, { namespace, resourceVersion: '0', cutManagedFields: true });
    expect(cached.items).toHaveLength(total);
    expect(cached.items.every((item) => item.metadata.managedFields === undefined)).toBe(true);
  });

  // Last: it changes what the others count on, and compacts and restarts the server.
  test('a token expires: list says 410; pages and each continue with the current state, or fail if requested', async () => {
    const { client, faults } = server();
    const options = { namespace, limit: page };
    const failing = client.pages(ConfigMap, { ...options, onExpired: 'fail' })[Symbol.asyncIterator]();
    const going = client.pages(ConfigMap, options)[Symbol.asyncIterator]();
    const each = client.each(ConfigMap, options)[Symbol.asyncIterator]();
    const first: KubeList<ConfigMap> = (await going.next()).value;
    await failing.next();
    const names = [(await each.next()).value!.metadata.name];

    const expire = async () => {
      // The first is of a page that was handed out before: those who go on do not learn of it.
      for (const gone of [0, 2500]) await client.delete(ConfigMap, { namespace, name: nameOf(gone) });
      await client.create(ConfigMap({ metadata: { namespace, name: 'zz-new' } }));
      await faults.compact();
      await faults.restart();
    };
    const fetched: (string | undefined)[] = [];
    const pager = new ListPager<ConfigMap, ListOptions>(async (o) => {
      fetched.push(o.continue && 'next');
      const answer = await client.list(ConfigMap, o);
      if (fetched.length === 1) await expire();
      return answer;
    });
    const whole = await pager.list(options);

    const { continue: token } = first.metadata;
    expect(await rejection(client.list(ConfigMap, { ...options, continue: token }))).toSatisfy(isResourceExpired);
    expect(await rejection(failing.next())).toSatisfy(isResourceExpired);
    const paged = namesOf(first);
    for (let next = await going.next(); !next.done; next = await going.next()) paged.push(...namesOf(next.value));
    expect(paged).toEqual(
      [...Array(total).keys()]
        .filter((i) => i !== 2500)
        .map(nameOf)
        .concat('zz-new'),
    );
    for (let next = await each.next(); !next.done; next = await each.next()) names.push(next.value.metadata.name);
    expect(names).toEqual(paged);

    // As client-go's pager: the rest of what there was is not to be had, so all is asked for again, at once.
    expect(namesOf(whole)).toEqual(paged.slice(1));
    expect(fetched).toEqual([undefined, 'next', undefined]);
  });
});

function namesOf(list: KubeList<ConfigMap>): string[] {
  return list.items.map((item) => item.metadata.name);
}

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
