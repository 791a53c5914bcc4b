import type { RetryingWatch } from 'riata/client';
import { ConfigMap } from 'riata/kinds';
import type { KubeObject } from 'riata/object';
import {
  isAlreadyExists,
  isConnectionRefused,
  isResourceExpired,
  isTransportError,
  type WatchEvent,
  type WatchStream,
} from 'riata/rest';
import { expect, test } from 'vitest';
import { describeServers, until } from './servers.js';

const restarting = ['in order', 'by force'] as const;

/** Tests that stop, restart or compact the server, for all its clients (expiring list tokens: in paging.test.ts). */
describeServers('restarts and compaction', (server) => {
  test('a watch from before a compaction is 410, at the opening or in the stream', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const { resourceVersion } = (await client.create(configMap(namespace, 'a'))).metadata;
    await client.create(configMap(namespace, 'b'));
    await server().faults.compact();
    await server().faults.restart();
    const opened = await client.watch(ConfigMap, { namespace, resourceVersion }).catch((error: unknown) => error);
    if (opened instanceof Error) {
      expect(opened).toSatisfy(isResourceExpired);
    } else {
      const events: WatchEvent<KubeObject>[] = [];
      for await (const event of opened as AsyncIterable<WatchEvent<KubeObject>>) events.push(event);
      expect(events).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 410 } }]);
      expect(events[0]?.type === 'ERROR' && isResourceExpired(events[0].error)).toBe(true);
    }

    const seen: string[] = [];
    const reported: boolean[] = [];
    const onRetry = (error: unknown) => reported.push(isResourceExpired(error));
    for await (const event of client.retryingWatch(ConfigMap, { namespace, resourceVersion, onRetry })) {
      if (event.type === 'BOOKMARK') continue;
      seen.push('object' in event ? `${event.type} ${event.object.metadata.name}` : event.type);
      if (event.type === 'SYNCED') break;
    }
    expect(seen).toEqual(['RESET', 'ADDED a', 'ADDED b', 'SYNCED']);
    expect(reported).toEqual([true]);
  });

  test.each(restarting)(
    'a server that goes %s ends a watch; a retrying one goes on and misses nothing',
    async (how) => {
      const { client } = server();
      const namespace = await server().namespace();
      const graceful = how === 'in order';
      const { resourceVersion } = (await client.list(ConfigMap, { namespace })).metadata;
      const plain = await client.watch(ConfigMap, { namespace, resourceVersion });
      const drained = drain(plain);
      const retried: unknown[] = [];
      const watch = client.retryingWatch(ConfigMap, { namespace, onRetry: (error) => void retried.push(error) });
      const known = follow(watch);
      await client.create(configMap(namespace, 'before-1'));
      await known.has('before-1');

      const creating = [...Array(5).keys()].map((i) => client.create(configMap(namespace, `before-${i + 2}`)));
      await Promise.all(creating);
      await until('the plain watch has seen them', async () => drained.names.length === 6);
      await server().faults.suspend({ graceful });
      const error = await drained.end;
      expect([...drained.names].sort()).toEqual([1, 2, 3, 4, 5, 6].map((i) => `before-${i}`));
      if (!graceful) expect(error).toSatisfy(isTransportError);
      await expect(client.list(ConfigMap, { namespace })).rejects.toSatisfy(isConnectionRefused);
      await server().faults.resume();
      await client.create(configMap(namespace, 'after-1'));
      await client.delete(ConfigMap, { namespace, name: 'before-2' });
      await client.patch(ConfigMap, { namespace, name: 'before-3' }, { type: 'merge', body: { data: { a: '1' } } });
      await known.has('after-1');
      await client.create(configMap(namespace, 'last'));
      await known.has('last');
      watch.stop();
      await known.end;
      const { items } = await client.list(ConfigMap, { namespace });
      expect(known.state()).toEqual(
        Object.fromEntries(items.map((item) => [item.metadata.name, item.metadata.resourceVersion])),
      );
      expect(Object.keys(known.state())).toHaveLength(7);
      expect(retried.length).toBeGreaterThan(0);
    },
  );

  test('a restart while objects are being made: a retrying watch sees each of them', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const watch = client.retryingWatch(ConfigMap, { namespace });
    const known = follow(watch);
    let stop = false;
    let made = 0;
    // What the restart cuts off may have been done all the same: then the next try is AlreadyExists.
    const write = (name: string) =>
      until('the server takes it', () =>
        client
          .create(configMap(namespace, name))
          .then(() => true)
          .catch(isAlreadyExists),
      );
    const writing = (async () => {
      for (; !stop; made++) await write(nameOf(made));
    })();
    await known.has(nameOf(3));
    await server().faults.restart({ graceful: false });
    const atRestart = made;
    await known.has(nameOf(atRestart));
    stop = true;
    await writing;
    await write('last');
    await known.has('last');
    watch.stop();
    await known.end;
    const { items } = await client.list(ConfigMap, { namespace });
    expect(Object.keys(known.state()).sort()).toEqual(items.map((item) => item.metadata.name).sort());
  });
});

const configMap = (namespace: string, name: string) => ConfigMap({ metadata: { namespace, name } });

function nameOf(index: number): string {
  return `c-${String(index).padStart(4, '0')}`;
}

/** Reads a watch to its end; `end` resolves to the error that it ends with, if any. */
function drain(watch: WatchStream<ConfigMap>): { readonly names: readonly string[]; readonly end: Promise<unknown> } {
  const names: string[] = [];
  const run = async () => {
    for await (const event of watch) if (event.type === 'ADDED') names.push(event.object.metadata.name);
  };
  return { names, end: run().catch((error: unknown) => error) };
}

/** Keeps what a cache would: names and resourceVersions of all that exists, by the events alone. */
function follow(watch: RetryingWatch<ConfigMap>) {
  const state = new Map<string, string>();
  const waiting: { name: string; resolve: () => void }[] = [];
  const run = async () => {
    for await (const event of watch) {
      if (event.type === 'RESET') state.clear();
      if (event.type === 'ADDED' || event.type === 'MODIFIED') {
        state.set(event.object.metadata.name, event.object.metadata.resourceVersion);
      }
      if (event.type === 'DELETED') state.delete(event.object.metadata.name);
      for (const { name, resolve } of waiting) if (state.has(name)) resolve();
    }
  };
  const end = run();
  return {
    end,
    state: () => Object.fromEntries(state),
    /** Resolves when an object of that name has come, now or later; rejects if the watch fails before. */
    has: (name: string) =>
      Promise.race([
        new Promise<void>((resolve) => (state.has(name) ? resolve() : waiting.push({ name, resolve }))),
        end.then(() => Promise.reject(new Error(`the watch ended before ${name} came`))),
      ]),
  };
}
