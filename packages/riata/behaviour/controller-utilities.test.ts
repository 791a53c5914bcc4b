import { Cache, cached } from 'riata/cache';
import {
  createOrPatch,
  createOrUpdate,
  retryOnConflict,
  type WaitForOptions,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from 'riata/controller';
import { ConfigMap, Deployment } from 'riata/kinds';
import { edit } from 'riata/object';
import { silentLogger, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { describeServers, rejection } from './servers.js';

const labels = { app: 'cart' };
const spec = {
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } },
};

/** Waits for what never comes; the time is over as soon as there was something to see. */
async function inVain(wait: (isDone: () => boolean, options: WaitForOptions) => Promise<unknown>): Promise<Error> {
  const clock = new VirtualClock();
  const isDone = () => {
    void clock.advance(30_000);
    return false;
  };
  return rejection(wait(isDone, { runtime: { clock } }));
}

describeServers('utilities of controllers', (server) => {
  test('createOrUpdate creates, replaces, and leaves alone what is as wanted', async () => {
    const { client } = server();
    const key = { namespace: await server().namespace(), name: 'cart' };
    const set = (size: string) =>
      createOrUpdate(client, ConfigMap, key, (draft) => {
        draft.data = { ...draft.data, size };
      });
    const results = [];
    for (const size of ['3', '3', '4']) results.push(await set(size));
    expect(results.map(({ result }) => result)).toEqual(['created', 'unchanged', 'updated']);
    expect(results[1]?.object).toEqual(results[0]?.object);
    expect((await client.get(ConfigMap, key)).data).toEqual({ size: '4' });
  });

  test('createOrPatch writes the status apart', async () => {
    const { client } = server();
    const key = { namespace: await server().namespace(), name: 'cart' };
    const set = (replicas: number, ready: number) =>
      createOrPatch(client, Deployment, key, (draft) => {
        draft.spec = { ...(draft.spec ?? spec), replicas } as never;
        draft.status = { ...draft.status, replicas: ready };
      });
    const results = [];
    for (const [replicas, ready] of [
      [1, 1],
      [1, 1],
      [2, 1],
      [2, 2],
      [3, 3],
    ] as const)
      results.push(await set(replicas, ready));
    expect(results.map(({ result }) => result)).toEqual([
      ...['created', 'unchanged', 'updated', 'updatedStatusOnly', 'updatedStatus'],
    ]);
    expect(await client.get(Deployment, key)).toMatchObject({ spec: { replicas: 3 }, status: { replicas: 3 } });
  });

  test('retryOnConflict: many who count lose nothing', async () => {
    const { client } = server();
    const key = { namespace: await server().namespace(), name: 'cart' };
    await client.create(ConfigMap({ metadata: key, data: { n: '0' } }));
    const backoff = { steps: 50, delayMs: 5, factor: 1.2, jitter: 1 };
    const count = () =>
      retryOnConflict(
        async () => {
          const cart = await client.get(ConfigMap, key);
          const n = String(Number(cart.data?.n) + 1);
          await client.update(
            edit(cart, (draft) => {
              draft.data = { n };
            }),
          );
        },
        { backoff },
      );
    await Promise.all(Array.from({ length: 8 }, count));
    expect((await client.get(ConfigMap, key)).data).toEqual({ n: '8' });
  });

  test('waitFor: creation, a condition, deletion, by a watch', async () => {
    const { client } = server();
    const key = { namespace: await server().namespace(), name: 'cart' };
    const there = waitFor(client, Deployment, key, (object) => object !== undefined);
    const available = waitForCondition(client, Deployment, key, 'Available');
    const made = await client.create(Deployment({ metadata: key, spec }));
    expect((await there)?.metadata.uid).toBe(made.metadata.uid);
    await client.status.patch(Deployment, key, {
      type: 'merge',
      body: { status: { conditions: [{ type: 'Available', status: 'True' }] } },
    });
    expect((await available).status?.conditions).toMatchObject([{ type: 'Available', status: 'True' }]);
    const failure = await inVain((isDone, options) => waitFor(client, Deployment, key, isDone, options));
    expect(failure.message).toMatch(
      /^Deployment .*\/cart: waited 30s in vain until the predicate holds; it was last seen with resourceVersion \d+, .*Available=True/,
    );
    const gone = waitForDeletion(client, Deployment, { ...key, uid: made.metadata.uid });
    await client.delete(Deployment, key, { propagationPolicy: 'Background' });
    await gone;
  });

  test('waitFor: in a cache, which costs no watch of its own', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const key = { namespace, name: 'cart' };
    const runtime = { log: silentLogger };
    await using cache = new Cache(client, { kinds: [cached(ConfigMap, { namespaces: [namespace] })], runtime });
    const stop = new AbortController();
    const running = cache.run({ signal: stop.signal });
    await cache.waitForCacheSync();
    const big = waitFor(cache, ConfigMap, key, (object) => object?.data?.size === '9');
    const made = await client.create(ConfigMap({ metadata: key }));
    await client.create(ConfigMap({ metadata: { namespace, name: 'other' }, data: { size: '9' } }));
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: { size: '9' } } });
    expect((await big)?.metadata.uid).toBe(made.metadata.uid);
    const gone = waitForDeletion(cache, ConfigMap, key);
    await client.delete(ConfigMap, key);
    await gone;
    const late = await inVain((isDone, options) => waitFor(cache, ConfigMap, key, isDone, options));
    expect(late.message).toContain('it is not there');
    expect((await rejection(waitFor(cache, Deployment, key, () => true))).message).toContain('is not in the cache');
    stop.abort();
    await running;
  });
});
