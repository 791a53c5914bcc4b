import { control } from 'riata/controller';
import { Lease } from 'riata/kinds';
import { type Runnable, startOrder } from 'riata/manager';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { Widget, widget } from './widget.fixture.js';

const leaderElection = { namespace: 'default', name: 'lease' };
const start = () => TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
const holderIn = async (env: TestEnvironment) =>
  (await env.client.get(Lease, leaderElection)).spec?.holderIdentity ?? '';

test('the lease is given up only when all runnables have ended, of every stage', async () => {
  await using env = await start();
  const holders: [string, boolean][] = [];
  /** Takes twenty seconds to end. */
  const slow = (name: string): Runnable => ({
    name,
    run: async ({ signal }) => {
      await env.clock.sleep(3_600_000, { signal }).catch(() => {});
      await env.clock.sleep(20_000);
      holders.push([name, (await holderIn(env)) !== '']);
    },
  });
  const manager = await env.startManager({ leaderElection, gracefulTimeout: '10m' });
  for (const stage of startOrder) manager.add(slow(stage), { stage });
  await env.settle();
  expect(await manager.stop()).toEqual({ reason: 'stopped', unfinished: [] });
  expect(holders).toEqual([...startOrder].reverse().map((stage) => [stage, true]));
  expect(await holderIn(env)).toBe('');
});

test('who stops while another leads does not begin to, though the lease becomes free meanwhile', async () => {
  await using env = await start();
  const reconciled: string[] = [];
  const by = (name: string) => control(Widget).reconcile(() => void reconciled.push(name));
  const first = await env.startManager({ name: 'first', leaderElection, run: [by('first')] });
  await env.client.create(widget('w'));
  await env.settle();
  expect(reconciled).toEqual(['first']);
  const slow: Runnable = {
    name: 'slow',
    run: async ({ signal }) => {
      await env.clock.sleep(3_600_000, { signal }).catch(() => {});
      // The other one goes while this one is about to stop, and there is time enough to take over.
      await first.stop();
      await env.clock.sleep(20_000);
    },
  };
  const second = await env.startManager({ name: 'second', leaderElection, run: [by('second'), slow] });
  let isElected = false;
  void second.manager.elected.then(() => {
    isElected = true;
  });
  await env.settle();
  expect(await second.stop()).toEqual({ reason: 'stopped', unfinished: [] });
  expect(reconciled).toEqual(['first']);
  expect(isElected).toBe(false);
  // Nor does it hold the lease meanwhile, which another replica may need.
  expect(env.requests.lines({ client: 'second', kind: Lease, verb: 'write' })).toEqual([]);
  expect(await holderIn(env)).toBe('');
});
