import { ConfigMap, Secret } from 'riata/kinds';
import { Controllers } from 'riata/patterns';
import type { SharedControllerFactory } from 'riata/shared';
import { describe, expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';

const key = { namespace: 'default', name: 'cart' };
const cart = ConfigMap({ metadata: key, data: { items: '3' } });

/** Keeps a Secret of the same name, with the time of its making. */
function keepSecrets(factory: SharedControllerFactory, signal: AbortSignal, isLazy = true): void {
  const secrets = factory.forKind(Secret);
  factory.forKind(ConfigMap).registerHandler(
    'keep a Secret',
    async (_, map, { clock }) => {
      if (map?.metadata.name !== key.name) return;
      const found = await secrets.client.find(key);
      const stringData = { at: `${clock.now()}` };
      if (found === undefined) await secrets.client.create(Secret({ metadata: key, stringData }));
      else if (!isLazy) await secrets.client.update({ ...found, stringData });
    },
    { signal },
  );
}

describe('shared handlers', () => {
  test('settle, on the virtual clock, also where they fail at first', async () => {
    await using env = await TestEnvironment.start();
    const manager = await env.runHandlers((factory, { signal }) => keepSecrets(factory, signal));
    const before = env.clock.now();
    env.faults.add({ verb: 'create', kind: Secret }, { fail: { code: 500 } }, { times: 2 });
    await env.client.create(cart);
    await env.settle();
    const { data } = await env.client.get(Secret, key);
    expect(Number(atob(data?.at ?? ''))).toBeGreaterThan(before);
    expect(manager.explain.map(({ outcome }) => outcome)).toContain('error');
    await env.expectConverged();
    expect(env.requests.select({ kind: Secret, verb: 'create' })).toHaveLength(3);
  });

  test('that write each time are distinguished from those that are done', async () => {
    await using env = await TestEnvironment.start();
    await env.runHandlers((factory, { signal }) => keepSecrets(factory, signal, false));
    await env.client.create(cart);
    await env.settle();
    await env.advance('1s');
    await expect(env.expectConverged()).rejects.toThrow(/a second pass over .* made .* writes.*\n {2}update .*cart/);
  });

  test('that fail for good are no converged state', async () => {
    await using env = await TestEnvironment.start();
    await env.runHandlers((factory, { signal }) => {
      factory.forKind(ConfigMap).registerHandler(
        'sulk',
        (name) => {
          if (name === 'default/cart') throw new Error('no');
        },
        { signal },
      );
    });
    await env.client.create(cart);
    await expect(env.expectConverged()).rejects.toThrow(
      /the last reconcile of these failed:\n {2}configmaps.v1 .*cart/,
    );
  });

  test('of typed controllers, finalizers included', async () => {
    await using env = await TestEnvironment.start();
    const reported: string[] = [];
    await env.runHandlers((factory, { signal }) => {
      const maps = new Controllers(factory).for(ConfigMap);
      maps.onRemove('farewell', (name) => void reported.push(name), { signal });
    });
    await env.client.create(cart);
    await env.settle();
    await env.client.delete(ConfigMap, key);
    await env.settle();
    expect(reported).toContain('default/cart');
    expect(await env.client.find(ConfigMap, key)).toBe(undefined);
  });

  test('run on the replica that leads, and on the next when it is gone', async () => {
    await using env = await TestEnvironment.start();
    const leaderElection = { namespace: 'default', name: 'carts' };
    const start = (name: string) =>
      env.runHandlers((factory, { signal }) => keepSecrets(factory, signal), { name, leaderElection });
    const first = await start('first');
    await start('second');
    await env.settle();
    await first.kill();
    await env.client.create(cart);
    await env.eventually(() => env.client.get(Secret, key));
    expect(env.requests.select({ kind: Secret, verb: 'create' }).map(({ client }) => client)).toEqual(['second']);
  });

  test('can be removed, and are heard of no more', async () => {
    await using env = await TestEnvironment.start();
    const manager = await env.startManager();
    const added = await manager.addHandlers((factory, { signal }) => keepSecrets(factory, signal));
    await env.settle();
    await added.remove();
    await env.client.create(cart);
    await env.settle();
    expect(await env.client.find(Secret, key)).toBe(undefined);
  });
});
