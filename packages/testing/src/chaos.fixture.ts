import { randomFaults } from '@riata/apiserver';
import { ConfigMap } from 'riata/kinds';
import { ignoreNotFound } from 'riata/rest';
import { type Random, seededRandom } from 'riata/runtime';
import { expect } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import type { TestManager } from './test-manager.js';
import { inDefault, Widget, widget, widgets } from './widget.fixture.js';

const leaderElection = { namespace: 'default', name: 'widgets' };
const rates = { fail: 0.2, cut: 0.2, cutWatch: 0.5, stallWatch: 0.2, delayMs: 500 };

/**
 * Two replicas of an operator on a bad network, which crash now and then, and a server that restarts, while objects are
 * created and changed. When all that is over, the actual state must be the desired one.
 */
export async function chaos(seed: number, steps: number): Promise<void> {
  const random = seededRandom(seed);
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process', seed });
  const weather = env.faults.use(randomFaults(random, rates));
  let started = 0;
  const start = () => {
    started += 1;
    return env.startManager({ name: `replica-${started}`, run: [widgets], leaderElection });
  };
  const replicas: TestManager[] = [await start(), await start()];
  for (let step = 0; step < steps; step += 1) {
    const at = random.int(0, 1);
    const isCrash = random.next() < 0.15;
    if (isCrash) await replicas[at]?.kill();
    // A replica that has lost the lease ends and is restarted, as in a cluster.
    if (replicas[at]?.exit !== undefined) replicas[at] = await start();
    if (!isCrash) await act(env, random, step);
    if (random.next() < 0.5) await env.advance(`${random.int(0, 20_000)}ms`);
  }
  weather[Symbol.dispose]();
  // A renewal that failed before may still cost the lease.
  await env.advance('1m');
  for (const [at, replica] of replicas.entries()) if (replica.exit !== undefined) replicas[at] = await start();
  await env.eventually(() => replicas.some(({ isLeading }) => isLeading), { within: '5m' });
  await env.settle({ horizon: '20m', timeout: '1h' });
  await env.expectConverged();
  await expectAsSaid(env);
}

/**
 * Widgets are never deleted: an operator that has not seen the deletion would recreate the ConfigMap, garbage
 * collection takes no time here, and the two would continue forever without a millisecond passing.
 */
async function act(env: TestEnvironment, random: Random, step: number): Promise<void> {
  const key = inDefault(`w-${random.int(0, 5)}`);
  switch (random.int(0, 6)) {
    case 0:
    case 1:
      await env.client.delete(ConfigMap, key).catch(ignoreNotFound);
      return;
    case 2:
      env.faults.dropConnections();
      return;
    case 3:
      await env.faults.compact();
      await env.faults.restart({ down: '3s' });
      return;
    default:
      if ((await env.client.find(Widget, key)) === undefined) await env.client.create(widget(key.name, step));
      else await env.client.patch(Widget, key, { type: 'merge', body: { spec: { size: step } } });
  }
}

async function expectAsSaid(env: TestEnvironment): Promise<void> {
  const { items } = await env.client.list(Widget);
  const pages = (await env.client.list(ConfigMap, { namespace: 'default' })).items.filter(
    ({ metadata }) => metadata.ownerReferences !== undefined,
  );
  expect(pages.map(({ metadata, data }) => [metadata.name, data?.size])).toEqual(
    items.map(({ metadata, spec }) => [metadata.name, String(spec.size)]),
  );
  expect(items.map(({ status }) => status?.size)).toEqual(items.map(({ spec }) => spec.size));
}
