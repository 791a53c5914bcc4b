import { X509Certificate } from 'node:crypto';
import { Controller, retryOnConflict, waitFor } from 'riata/controller';
import { ConfigMap, CustomResourceDefinition, Secret, Service } from 'riata/kinds';
import { defineKind, edit } from 'riata/object';
import { Controllers, installCrds, needACertAnnotations, registerNeedACert, waitServed } from 'riata/patterns';
import { type Random, seededRandom, silentLogger, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { TestEnvironment } from './test-environment.js';

const key = { namespace: 'default', name: 'cart' };
const Basket = defineKind({ group: 'example.com', version: 'v1', kind: 'Basket', spec: z.object({}) });

/** Moves the time of an environment until the promise is settled; gives how far. */
async function virtualMs(env: TestEnvironment, promise: Promise<unknown>): Promise<number> {
  const clock = env.clock as VirtualClock;
  const startMs = clock.monotonic();
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  promise.then(done, done);
  for (await clock.settle(); !isDone; await clock.settle()) await clock.advanceToNext();
  return clock.monotonic() - startMs;
}

test('waitServed and waitFor time out on the clock of their client', async () => {
  await using env = await TestEnvironment.start();
  const served = waitServed(env.client, Basket, { timeout: '1m' });
  expect(await virtualMs(env, served)).toBe(60_000);
  await expect(served).rejects.toThrow('1m');
  const exists = waitFor(env.client, ConfigMap, key, (cart) => cart !== undefined, { timeout: '1m' });
  expect(await virtualMs(env, exists)).toBe(60_000);
  await expect(exists).rejects.toThrow('1m');
});

test('installCrds waits for the deletion of a definition on the clock of its client', async () => {
  await using env = await TestEnvironment.start({ kinds: [Basket] });
  const name = 'baskets.example.com';
  await env.client.patch(
    CustomResourceDefinition,
    { name },
    { type: 'merge', body: { metadata: { finalizers: ['example.com/keep'] } } },
  );
  const crd = Basket.crd();
  const moved = { ...crd, spec: { ...crd.spec, scope: 'Cluster' } };
  const installed = installCrds(env.client, [moved as never], { replaceEmpty: true, timeout: '1m' });
  expect(await virtualMs(env, installed)).toBe(60_000);
  await expect(installed).rejects.toThrow('1m');
});

test('retryOnConflict waits on the clock of the client whose write was refused', async () => {
  await using env = await TestEnvironment.start();
  const cart = await env.client.create(ConfigMap({ metadata: key, data: { size: '1' } }));
  await env.client.patch(ConfigMap, key, { type: 'merge', body: { data: { size: '2' } } });
  let attempts = 0;
  const retried = retryOnConflict(async () => {
    attempts += 1;
    const { metadata } = attempts < 3 ? cart : await env.client.get(ConfigMap, key);
    await env.client.update(
      edit(cart, (draft) => {
        draft.metadata.resourceVersion = metadata.resourceVersion;
      }),
    );
  });
  const passedMs = await virtualMs(env, retried);
  await retried;
  expect(attempts).toBe(3);
  expect(passedMs).toBeGreaterThanOrEqual(20);
  expect(passedMs).toBeLessThan(22);
});

test('registerNeedACert issues certificates at the time of its client', async () => {
  await using env = await TestEnvironment.start();
  await env.runHandlers((factory, { signal }) => {
    registerNeedACert(new Controllers(factory), { signal });
  });
  const annotations = { [needACertAnnotations.secretName]: 'hook-tls' };
  await env.client.create(Service({ metadata: { ...key, annotations }, spec: { ports: [{ port: 443 }] } }));
  await env.settle();
  const { data } = await env.client.get(Secret, { ...key, name: 'hook-tls' });
  const { validFrom, validTo } = new X509Certificate(Buffer.from(data?.['tls.crt'] ?? '', 'base64'));
  const nowMs = env.clock.now();
  expect(Date.parse(validFrom)).toBeLessThanOrEqual(nowMs);
  expect(Math.round((Date.parse(validTo) - nowMs) / 86_400_000)).toBe(90);
});

test('to read the health and the records of a controller takes no random number', async () => {
  const clock = new VirtualClock();
  let drawn = 0;
  const inner = seededRandom(1);
  const counted = <A extends unknown[], R>(fn: (...args: A) => R) => {
    return (...args: A): R => {
      drawn += 1;
      return fn(...args);
    };
  };
  const random = Object.fromEntries(
    Object.entries(inner).map(([name, fn]) => [name, counted(fn as (...args: unknown[]) => unknown)]),
  ) as unknown as Random;
  const controller = new Controller('carts', {
    reconcile: () => clock.sleep(1_000),
    runtime: { clock, random, log: silentLogger },
  });
  await controller.watch({ name: 'keys', start: async (queue) => queue.add(key) });
  const stop = new AbortController();
  const ended = controller.run({ signal: stop.signal });
  await clock.settle();
  const before = drawn;
  const [active] = controller.health.active;
  expect(active?.reconcileID).toMatch(/^[0-9a-f-]{36}$/);
  await clock.advance(1_000);
  expect(controller.explain.map(({ reconcileID }) => reconcileID)).toEqual([active?.reconcileID]);
  expect(drawn).toBe(before);
  stop.abort();
  await ended;
});
