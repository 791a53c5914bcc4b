import type { TestEnvironment } from '@riata/testing';
import { Cache } from 'riata/cache';
import { createClient } from 'riata/client';
import { control, controllerFor, type ReconcileContext } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { fence } from 'riata/manager';
import { LostLease, silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { startPatterns } from './patterns-play.js';
import { describeServers, until } from './servers.js';

const finalizer = 'riata.dev/clean';

/** A controller of one ConfigMap, existing or new, with the given clean-up, and its results. */
async function running(
  server: TestEnvironment,
  cleanUp: (context: ReconcileContext<ConfigMap>) => unknown,
  there?: { readonly namespace: string; readonly name: string },
) {
  const { namespace, name } = there ?? { namespace: await server.namespace(), name: 'a' };
  const runtime = { log: silentLogger };
  const client = createClient(server.config, { runtime });
  /** What is asked before a write is sent; may throw. */
  const gate = { check: (_path: string): void => {} };
  const fenced = client.wrap((run) => (operation) => {
    const { verb, kind, name } = operation;
    const guard = { assertLeading: () => gate.check(`${verb} ${kind.kind} ${name}`), lostSignal: undefined };
    return fence(run, guard)(operation);
  });
  const cache = new Cache(client, { runtime, namespaces: [namespace] });
  let cleaned = 0;
  const reconciled: string[] = [];
  const definition = control(ConfigMap)
    .finalize(
      async (context) => {
        // Others, such as the server's own bundle of certificates, are there, too.
        if (context.object.metadata.name !== name) return;
        cleaned += 1;
        await cleanUp(context);
      },
      { name: finalizer },
    )
    .reconcile(({ object }) => void reconciled.push(object.metadata.uid));
  const controller = await controllerFor(definition, { client: fenced, cache, runtime });
  const stop = new AbortController();
  const runs = [cache.run({ signal: stop.signal }), controller.run({ signal: stop.signal })];
  const key = { namespace, name };
  const others = ['example.com/one', 'example.com/two'];
  if (there === undefined) await server.client.create(ConfigMap({ metadata: { ...key, finalizers: others } }));
  const held = () => server.client.find(ConfigMap, key).then((map) => map?.metadata.finalizers);
  if (there === undefined) await until('it is held', async () => (await held())?.includes(finalizer));
  return {
    ...{ key, held, gate, reconciled, cleaned: () => cleaned },
    outcomes: () => controller.explain.filter((record) => record.key.name === name).map(({ outcome }) => outcome),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(runs);
      await client.close();
    },
  };
}

const label = (name: string) => ({ type: 'merge', body: { metadata: { labels: { [name]: 'yes' } } } }) as const;
const setFinalizers = (finalizers: readonly string[] | null) =>
  ({ type: 'merge', body: { metadata: { finalizers } } }) as const;

describeServers('clean-up before an object goes', (server) => {
  test('is done once, though others and the clean-up itself change the object meanwhile', async () => {
    const { client } = server();
    await using run = await running(server(), async ({ object, client: own }) => {
      await own.patch(ConfigMap, object.metadata, label('cleaned'));
      await client.patch(ConfigMap, object.metadata, label('changed'));
      await client.patch(ConfigMap, object.metadata, setFinalizers([finalizer, 'example.com/two']));
    });
    await client.delete(ConfigMap, run.key);
    await until('ours is gone', async () => (await run.held())?.includes(finalizer) === false);
    expect(await run.held()).toEqual(['example.com/two']);
    await client.patch(ConfigMap, run.key, setFinalizers(null));
    await until('it is gone', async () => (await run.held()) === undefined);
    expect(run.cleaned()).toBe(1);
    expect(run.outcomes()).not.toContain('error');
  });

  test('is not done again if the finalizer could not be removed: only that is tried again', async () => {
    const { client } = server();
    await using run = await running(server(), () => {});
    let refused = 0;
    run.gate.check = (path) => {
      if (path !== 'patch ConfigMap a' || refused === 3) return;
      refused += 1;
      throw new Error('the removal does not get through');
    };
    await client.delete(ConfigMap, run.key);
    await until('ours is gone', async () => (await run.held())?.includes(finalizer) === false);
    expect([refused, run.cleaned()]).toEqual([3, 1]);
    expect(run.outcomes().filter((outcome) => outcome === 'error')).toHaveLength(3);
  });

  test('onRemove: is not done again, either', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const key = { namespace, name: 'a' };
    let [left, refused, cleaned] = [0, 0, 0];
    const connection = server().connect({
      onRequest: ({ verb, kind, name }) => {
        if (left === 0 || `${verb} ${kind} ${name}` !== 'patch ConfigMap a') return;
        left -= 1;
        refused += 1;
        throw new Error('the removal does not get through');
      },
    });
    await using play = startPatterns(server(), namespace, { connection });
    play.controllers.for(ConfigMap).onRemove('clean', (_, { metadata }) => {
      if (metadata.name !== 'a') return;
      cleaned += 1;
      left = 3;
    });
    await play.controllers.start({ signal: play.signal });
    await client.create(ConfigMap({ metadata: key }));
    await until('it is held', async () => (await client.get(ConfigMap, key)).metadata.finalizers?.length === 1);
    await client.delete(ConfigMap, key);
    await until('it is gone', async () => (await client.find(ConfigMap, key)) === undefined);
    expect([refused, cleaned]).toEqual([3, 1]);
  });

  test('another object of that name keeps what it has, and is cleaned up on its own', async () => {
    const { client } = server();
    const uids: string[] = [];
    await using run = await running(server(), async ({ object }) => {
      uids.push(object.metadata.uid);
      if (uids.length > 1) return;
      await client.patch(ConfigMap, object.metadata, setFinalizers(null));
      await client.create(ConfigMap({ metadata: { ...run.key, finalizers: [finalizer] } }));
    });
    const first = await client.get(ConfigMap, run.key);
    await client.delete(ConfigMap, run.key);
    const second = await until('the second is there', async () => {
      const map = await client.find(ConfigMap, run.key);
      return map?.metadata.uid !== first.metadata.uid && map;
    });
    await until('the first is done with', async () => run.reconciled.includes(second.metadata.uid));
    expect(await run.held()).toEqual([finalizer]);
    await client.delete(ConfigMap, run.key);
    await until('it is gone', async () => (await run.held()) === undefined);
    expect(uids).toEqual([first.metadata.uid, second.metadata.uid]);
  });

  test('leaves the finalizer if the lease is lost in the middle: the next leader cleans up again', async () => {
    const { client } = server();
    let lost = false;
    await using run = await running(server(), () => {
      lost = true;
    });
    run.gate.check = () => {
      if (lost) throw new LostLease('another one leads');
    };
    await client.delete(ConfigMap, run.key);
    await until('it was tried', async () => run.cleaned() === 1 && run.outcomes().includes('error'));
    expect(await run.held()).toContain(finalizer);
    await using next = await running(server(), () => {}, run.key);
    await until('ours is gone', async () => (await run.held())?.includes(finalizer) === false);
    expect([run.cleaned(), next.cleaned()]).toEqual([1, 1]);
  });
});
