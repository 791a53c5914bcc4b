import { createClient } from 'riata/client';
import { ConfigMap, Namespace } from 'riata/kinds';
import { configFromKubeconfig, ignoreAlreadyExists, ignoreNotFound } from 'riata/rest';
import { type Random, seededRandom, systemClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { startChaosProxy } from './chaos-proxy.js';
import { sortedByKey, WatchedView } from './watched-view.js';

const rounds = Number(process.env.ROUNDS ?? 100);
const firstSeed = Number(process.env.SEED ?? 1);

test(`a retrying watch over a bad network ends up with what the server has, ${rounds} rounds`, async () => {
  const plane = controlPlaneFromEnv();
  const config = await configFromKubeconfig(plane.kubeconfig);
  await using direct = createClient(config);
  const total: Record<string, number> = {};
  for (let seed = firstSeed; seed < firstSeed + rounds; seed++) {
    const random = seededRandom(seed);
    await using proxy = await startChaosProxy(new URL(plane.url), random);
    await using client = createClient({ ...config, server: `https://127.0.0.1:${proxy.port}` });
    const { metadata } = await direct.create(Namespace({ metadata: { generateName: 'soak-' } }));
    const namespace = metadata.name;
    await using watch = client.retryingWatch(ConfigMap, { namespace, idleTimeoutMs: 500 });
    const view = new WatchedView(`seed ${seed}`);
    const following = view.follow(watch);

    let writing = true;
    const chaos = (async () => {
      while (writing) {
        await systemClock.sleep(random.int(5, 40));
        proxy.act();
      }
    })();
    await write(direct, namespace, random);
    writing = false;
    await chaos;
    proxy.calm();

    const { items } = await direct.list(ConfigMap, { namespace });
    const expected = Object.fromEntries(items.map((c) => [c.metadata.name, c.metadata.resourceVersion]));
    const deadline = systemClock.monotonic() + 60_000;
    while (JSON.stringify(view.sorted()) !== JSON.stringify(sortedByKey(expected))) {
      if (systemClock.monotonic() > deadline) expect(view.sorted(), `seed ${seed}`).toEqual(sortedByKey(expected));
      await systemClock.sleep(20);
    }
    watch.stop();
    await following;
    expect(view.problems, `seed ${seed}`).toEqual([]);
    for (const [what, count] of Object.entries({ ...proxy.done, resets: view.resets, events: view.events })) {
      total[what] = (total[what] ?? 0) + count;
    }
    await direct.delete(Namespace, { name: namespace });
  }
  process.stdout.write(`soak: ${rounds} rounds: ${JSON.stringify(total)}\n`);
});

async function write(client: ReturnType<typeof createClient>, namespace: string, random: Random): Promise<void> {
  for (let i = 0; i < 200; i++) {
    const name = `c${random.int(0, 9)}`;
    const what = random.next();
    if (what < 0.4) {
      await client.create(ConfigMap({ metadata: { namespace, name }, data: { i: `${i}` } })).catch(ignoreAlreadyExists);
    } else if (what < 0.75) {
      const patch = { type: 'merge', body: { data: { i: `${i}` } } } as const;
      await client.patch(ConfigMap, { namespace, name }, patch).catch(ignoreNotFound);
    } else {
      await client.delete(ConfigMap, { namespace, name }).catch(ignoreNotFound);
    }
    await systemClock.sleep(random.int(0, 20));
  }
}
