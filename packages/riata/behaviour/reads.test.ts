import { ConfigMap, Deployment, Namespace, Pod } from 'riata/kinds';
import { lossOf, metadataOnly } from 'riata/object';
import { isNotAcceptable, isNotFound, isTooLargeResourceVersion, suggestsClientDelay } from 'riata/rest';
import { expect, test } from 'vitest';
import { installKind } from './custom-kind.js';
import { describeServers, rejection, until } from './servers.js';

const spec = { containers: [{ name: 'web', image: 'web:1' }] };

describeServers('reads', (server) => {
  test('metadata only: get, find and list give the metadata under the own kind, and no more', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const made = await client.create(Pod({ metadata: { namespace, name: 'a', labels: { app: 'web' } }, spec }));
    const PodMeta = metadataOnly(Pod);
    const expected = { apiVersion: 'v1', kind: 'Pod', metadata: made.metadata };
    const got = await client.get(PodMeta, made.metadata);
    expect(got).toEqual(expected);
    expect(lossOf(got)?.reasons).toMatchObject([{ reason: 'metadata-only' }]);
    expect(await client.find(PodMeta, { namespace, name: 'b' })).toBeUndefined();
    const list = await client.list(PodMeta, { namespace, labelSelector: 'app=web' });
    expect(list.items).toEqual([expected]);
    expect(list.metadata.resourceVersion).toMatch(/^\d+$/);
    await expect(client.update(got)).rejects.toThrow('it holds only the metadata');
    const patched = await client.patch(PodMeta, got.metadata, {
      type: 'merge',
      body: { metadata: { labels: { app: 'api' } } },
    });
    expect(patched.metadata.labels).toEqual({ app: 'api' });
    expect((await client.get(Pod, got.metadata)).spec?.containers).toHaveLength(1);
    await client.delete(PodMeta, got.metadata, { gracePeriodSeconds: 0 });
    expect(await client.find(Pod, got.metadata)).toBeUndefined();
  });

  test('tables: the columns and rows that kubectl prints', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    expect((await client.table(Pod, { namespace })).rows).toEqual([]);
    await client.create(Pod({ metadata: { namespace, name: 'a', labels: { app: 'web' } }, spec }));
    await client.create(Pod({ metadata: { namespace, name: 'b' }, spec }));
    const table = await client.table(Pod, { namespace, labelSelector: 'app=web' });
    const narrow = table.columnDefinitions.filter((column) => column.priority === 0).map((column) => column.name);
    expect(narrow).toEqual(['Name', 'Ready', 'Status', 'Restarts', 'Age']);
    expect(table.rows).toHaveLength(1);
    expect(table.rows[0]?.cells.slice(0, 4)).toEqual(['a', '0/1', 'Pending', '0']);
    expect(table.rows[0]?.object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } });
    expect(table.metadata.resourceVersion).toMatch(/^\d+$/);
    const page = await client.table(Pod, { namespace, limit: 1 });
    expect(page.rows).toHaveLength(1);
    expect(page.metadata.continue).toMatch(/./);
  });

  test('tables: the printer columns of a CRD', async () => {
    const { client } = server();
    const Widget = await installKind(server(), {
      additionalPrinterColumns: [
        { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
        { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
      ],
    });
    const namespace = await server().namespace();
    await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: { size: 3, color: 'red' } }));
    const table = await until('the columns are served', async () => {
      const found = await client.table(Widget, { namespace });
      return found.columnDefinitions.length === 3 && found;
    });
    expect(table.columnDefinitions.map(({ name, priority }) => [name, priority])).toEqual([
      ['Name', 0],
      ['Size', 0],
      ['Color', 1],
    ]);
    expect(table.rows.map((row) => row.cells)).toEqual([['a', 3, 'red']]);
  });

  test('a form that the server does not have is NotAcceptable', async () => {
    const { client } = server();
    const request = client.rest.get().absPath('/api/v1/namespaces').setHeader('accept', 'application/cheese');
    await expect(request.do()).rejects.toSatisfy(isNotAcceptable);
  });

  test('how old an answer may be: any, not older than, exactly', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const made = await client.create(ConfigMap({ metadata: { namespace, name: 'a' }, data: { a: '1' } }));
    const { resourceVersion } = made.metadata;
    await client.update({ ...made, data: { a: '2' } });
    const exact = await client.list(ConfigMap, { namespace, resourceVersion, resourceVersionMatch: 'Exact' });
    expect(exact.items.map((item) => item.data)).toEqual([{ a: '1' }]);
    expect(exact.metadata.resourceVersion).toBe(resourceVersion);
    const fresh = await client.list(ConfigMap, { namespace, resourceVersion, resourceVersionMatch: 'NotOlderThan' });
    expect(Number(fresh.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(resourceVersion));
    expect((await client.get(ConfigMap, { namespace, name: 'a' }, { resourceVersion: '0' })).metadata.name).toBe('a');
    // The server requests a retry in a second, which a client does ten times by default.
    const future = client.rest
      .get()
      .absPath('/api/v1/namespaces', namespace, 'configmaps')
      .param('resourceVersion', String(2 ** 40))
      .maxRetries(0);
    const error = await rejection(future.do());
    expect(error).toSatisfy(isTooLargeResourceVersion);
    expect(suggestsClientDelay(error)).toBe(1_000);
  });

  test('names that could lead elsewhere never leave the process', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    for (const name of ['', '.', '..', 'a/b', 'a%2fb']) {
      await expect(client.get(ConfigMap, { namespace, name })).rejects.toThrow(/name/);
    }
    await expect(client.get(Namespace, { name: '../pods' })).rejects.toThrow(/name/);
    await expect(client.get(ConfigMap, { namespace, name: 'ä?&#' })).rejects.toSatisfy(isNotFound);
  });

  test('an aborted call rejects with the reason', async () => {
    const { client } = server();
    const reason = new Error('no longer wanted');
    const signal = AbortSignal.abort(reason);
    await expect(client.list(Deployment, { signal })).rejects.toBe(reason);
    await expect(client.get(Namespace, { name: 'default' }, { signal })).rejects.toBe(reason);
  });
});
