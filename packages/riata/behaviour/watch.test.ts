import type { Client } from 'riata/client';
import { ConfigMap, Pod } from 'riata/kinds';
import type { KubeObject } from 'riata/object';
import { lossOf, metadataOnly } from 'riata/object';
import { isBadRequest, isInvalid, type WatchEvent } from 'riata/rest';
import { expect, test } from 'vitest';
import { describeServers, until } from './servers.js';

const configMap = (namespace: string, name: string, data?: Record<string, string>) =>
  ConfigMap({ metadata: { namespace, name, labels: { app: name } }, data });

describeServers('watch', (server) => {
  test('events come in the order of the writes, with apiVersion and kind', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const from = await newest(client, namespace);
    await using watch = await client.watch(ConfigMap, { namespace, resourceVersion: from });
    for (let i = 0; i < 10; i++) await client.create(configMap(namespace, `c-${i}`));
    for (let i = 0; i < 10; i++) await client.update(configMap(namespace, `c-${i}`, { i: String(i) }));
    for (let i = 0; i < 10; i++) await client.delete(ConfigMap, { namespace, name: `c-${i}` });
    const events = await take(watch, 30);
    const numbers = [...Array(10).keys()];
    expect(events.map(reported)).toEqual([
      ...numbers.map((i) => `ADDED c-${i}`),
      ...numbers.map((i) => `MODIFIED c-${i}`),
      ...numbers.map((i) => `DELETED c-${i}`),
    ]);
    const versions = events.map((event) => Number(event.object.metadata?.resourceVersion));
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    for (const event of events) expect(event.object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
  });

  test('resume: from any resourceVersion seen, nothing twice and nothing left out', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const resourceVersion = await newest(client, namespace);
    for (let i = 0; i < 5; i++) await client.create(configMap(namespace, `c-${i}`));
    await using all = await client.watch(ConfigMap, { namespace, resourceVersion });
    const events = await take(all, 5);
    for (const [i, event] of events.entries()) {
      if (i === 4) break;
      const from = event.object.metadata?.resourceVersion;
      await using rest = await client.watch(ConfigMap, { namespace, resourceVersion: from });
      expect((await take(rest, 4 - i)).map(reported)).toEqual(events.slice(i + 1).map(reported));
    }
  });

  test('selectors: leaving the selection is a DELETED, entering it an ADDED', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const resourceVersion = await newest(client, namespace);
    await using watch = await client.watch(ConfigMap, { namespace, resourceVersion, labelSelector: 'app=a' });
    const a = await client.create(configMap(namespace, 'a'));
    await client.create(configMap(namespace, 'b'));
    const label = (app: string) => ({ type: 'merge', body: { metadata: { labels: { app } } } }) as const;
    await client.patch(ConfigMap, a.metadata, label('x'));
    await client.patch(ConfigMap, a.metadata, label('a'));
    expect((await take(watch, 3)).map(reported)).toEqual(['ADDED a', 'DELETED a', 'ADDED a']);
  });

  test('without a resourceVersion: the state of now first, then what happens', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await client.create(configMap(namespace, 'a'));
    await client.create(configMap(namespace, 'b'));
    await using watch = await client.watch(ConfigMap, { namespace });
    const seen: string[] = [];
    for await (const event of watch) {
      if (event.type === 'BOOKMARK') continue;
      seen.push(reported(event));
      if (seen.length === 2) await client.delete(ConfigMap, { namespace, name: 'a' });
      if (seen.length === 3) break;
    }
    expect(seen.slice(0, 2).sort()).toEqual(['ADDED a', 'ADDED b']);
    expect(seen[2]).toBe('DELETED a');
  });

  test('sendInitialEvents: all that exists, a bookmark that ends it, then what happens', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    for (const name of ['a', 'b', 'c']) await client.create(configMap(namespace, name));
    await using watch = await client.watch(ConfigMap, { namespace, sendInitialEvents: true });
    const seen: string[] = [];
    for await (const event of watch) {
      seen.push(reported(event));
      if (event.type === 'BOOKMARK') {
        expect(event.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
        expect(event.object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
        await client.create(configMap(namespace, 'd'));
      }
      if (seen.length === 5) break;
    }
    expect(seen.slice(0, 3).sort()).toEqual(['ADDED a', 'ADDED b', 'ADDED c']);
    expect(seen.slice(3)).toEqual(['BOOKMARK', 'ADDED d']);
  });

  test('timeoutSeconds: the server ends the watch, with a bookmark to go on from', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const resourceVersion = await newest(client, namespace);
    const other = await server().namespace();
    // Outside of the namespace: only the bookmark, two seconds before the end, shows that the server has moved on.
    const elsewhere = await client.create(configMap(other, 'a'));
    const known = {
      resourceVersion: elsewhere.metadata.resourceVersion,
      resourceVersionMatch: 'NotOlderThan',
    } as const;
    await client.list(ConfigMap, { namespace: other, ...known });
    const events: WatchEvent<KubeObject>[] = [];
    // A server that had no time in those two seconds ends the watch without one: it promises none.
    while (events.length === 0) {
      await using watch = await client.watch(ConfigMap, { namespace, resourceVersion, timeoutSeconds: 4 });
      for await (const event of watch) events.push(event);
    }
    expect(events.every((event) => event.type === 'BOOKMARK')).toBe(true);
    const last = Number(events.at(-1)?.object.metadata?.resourceVersion);
    expect(last).toBeGreaterThanOrEqual(Number(elsewhere.metadata.resourceVersion));
    await using rest = await client.watch(ConfigMap, { namespace, resourceVersion: String(last) });
    await client.create(configMap(namespace, 'b'));
    expect((await take(rest, 1)).map(reported)).toEqual(['ADDED b']);
  });

  test('metadata only: events without the rest, known to be incomplete', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const resourceVersion = await newest(client, namespace);
    await using watch = await client.watch(metadataOnly(ConfigMap), { namespace, resourceVersion });
    const made = await client.create(configMap(namespace, 'a', { big: 'x'.repeat(1000) }));
    await client.delete(ConfigMap, made.metadata);
    const [added, deleted] = await take(watch, 2);
    expect(added).toEqual({
      type: 'ADDED',
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: made.metadata },
    });
    expect(lossOf(added!.object)?.reasons[0]?.reason).toBe('metadata-only');
    expect(reported(deleted!)).toBe('DELETED a');
    await expect(client.update(added!.object as never)).rejects.toThrow('it holds only the metadata');
  });

  test('cutManagedFields: nothing but managedFields is missing', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const resourceVersion = await newest(client, namespace);
    const options = { namespace, resourceVersion, cutManagedFields: true };
    await using watch = await client.watch(ConfigMap, options);
    const made = await client.create(configMap(namespace, 'a', { managedFields: '[]' }));
    const [event] = await take(watch, 1);
    const { managedFields, ...metadata } = made.metadata;
    expect(managedFields).toBeDefined();
    expect(event?.object).toEqual({ ...made, metadata });
  });

  test('one that is stopped or aborted ends, and says which', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const stopped = await client.watch(ConfigMap, { namespace });
    stopped.stop();
    expect(await take(stopped, 1)).toEqual([]);
    const abort = new AbortController();
    const aborted = await client.watch(ConfigMap, { namespace, signal: abort.signal });
    const reading = take(aborted, 1);
    abort.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });

  test('invalid watches are refused: bad options, a malformed resourceVersion, a field that is not indexed', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const odd = { namespace, resourceVersion: '1', resourceVersionMatch: 'NotOlderThan' } as const;
    await expect(client.watch(ConfigMap, odd)).rejects.toSatisfy(isInvalid);
    await expect(client.watch(ConfigMap, { namespace, resourceVersion: 'x' })).rejects.toThrow('Invalid value: "x"');
    await expect(client.watch(ConfigMap, { namespace, fieldSelector: 'data.a=1' })).rejects.toSatisfy(isBadRequest);
  });

  test('retryingWatch: RESET, all that exists, SYNCED, then what happens', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const spec = { containers: [{ name: 'a', image: 'a:1' }] };
    await client.create(Pod({ metadata: { namespace, name: 'a' }, spec }));
    const seen: string[] = [];
    for await (const event of client.retryingWatch(Pod, { namespace })) {
      if (event.type === 'BOOKMARK') continue;
      seen.push('object' in event ? `${event.type} ${event.object.metadata.name}` : event.type);
      if (event.type === 'SYNCED') await client.create(Pod({ metadata: { namespace, name: 'b' }, spec }));
      if (seen.length === 4) break;
    }
    expect(seen).toEqual(['RESET', 'ADDED a', 'SYNCED', 'ADDED b']);
  });

  test('retryingWatch: resumes when the server ends the watch, and rejects for permanent errors', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    let opened = 0;
    const short = client.wrap((run) => (operation) => {
      if (operation.verb !== 'watch') return run(operation);
      opened += 1;
      return run({ ...operation, params: { ...operation.params, timeoutSeconds: '1' } });
    });
    const resourceVersion = await newest(client, namespace);
    // Each is made while another watch is open.
    const writing = (async () => {
      for (let i = 0; i < 3; i++) {
        await until('the next watch is open', async () => opened > i);
        await client.create(configMap(namespace, `c-${i}`));
      }
    })();
    const seen: string[] = [];
    for await (const event of short.retryingWatch(ConfigMap, { namespace, resourceVersion })) {
      if (event.type === 'ADDED') seen.push(event.object.metadata.name);
      if (seen.length === 3) break;
    }
    await writing;
    expect(seen).toEqual(['c-0', 'c-1', 'c-2']);
    const bad = client.retryingWatch(ConfigMap, { namespace, labelSelector: 'no good' });
    const reported = async () => {
      for await (const event of bad) expect(event).toEqual({ type: 'RESET' });
    };
    await expect(reported()).rejects.toSatisfy(isBadRequest);
  });
});

async function newest(client: Client, namespace: string): Promise<string | undefined> {
  return (await client.list(ConfigMap, { namespace })).metadata.resourceVersion;
}

/** The next events that are no bookmarks, or all until the end. */
async function take<R extends KubeObject>(
  watch: AsyncIterable<WatchEvent<R>>,
  count: number,
): Promise<WatchEvent<R>[]> {
  const events: WatchEvent<R>[] = [];
  for await (const event of watch) {
    if (event.type !== 'BOOKMARK') events.push(event);
    if (events.length === count) break;
  }
  return events;
}

function reported(event: WatchEvent<KubeObject>): string {
  if (event.type === 'ERROR') return `ERROR ${event.error.message}`;
  return event.type === 'BOOKMARK' ? event.type : `${event.type} ${event.object.metadata.name}`;
}
