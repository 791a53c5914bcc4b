import { control } from 'riata/controller';
import type { Runnable, RunnableStage } from 'riata/manager';
import { onAbort } from 'riata/runtime';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget } from './widget.fixture.js';

const leaderElection = { namespace: 'default', name: 'leader' };

function waiting(name: string, ran: string[], stage?: RunnableStage): Runnable {
  return {
    name,
    stage,
    run: async ({ signal }) => {
      ran.push(name);
      await new Promise<void>((resolve) => void onAbort(signal, resolve));
    },
  };
}

test('what is for the leader alone says so itself, or is added so', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const ran: string[] = [];
  const replicas = [];
  for (const name of ['a', 'b']) {
    const run = [waiting(`${name} anywhere`, ran), waiting(`${name} leads`, ran, 'leader')];
    const replica = await env.startManager({ name, leaderElection, run });
    replica.add(waiting(`${name} added`, ran), { stage: 'leader' });
    replica.add(waiting(`${name} told otherwise`, ran, 'leader'), { stage: 'others' });
    replicas.push(replica);
    await env.settle();
  }
  expect(ran.sort()).toEqual([
    ...['a added', 'a anywhere', 'a leads', 'a told otherwise'],
    ...['b anywhere', 'b told otherwise'],
  ]);
  await replicas[0]?.stop();
  await env.eventually(() => ran.includes('b added') && ran.includes('b leads'));
});

test('a controller that is for every replica works on each of them', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await env.client.create(Widget({ metadata: inDefault('a'), spec: { size: 1 } }));
  const ran: string[] = [];
  for (const name of ['a', 'b']) {
    const everywhere = control(Widget, { name: 'everywhere', everyReplica: true }).reconcile(() => {
      ran.push(`${name} everywhere`);
    });
    const usual = control(Widget, { name: 'usual' }).reconcile(() => {
      ran.push(`${name} usual`);
    });
    const added = control(Widget, { name: 'added' }).reconcile(() => {
      ran.push(`${name} added`);
    });
    const replica = await env.startManager({ name, leaderElection, run: [everywhere, usual] });
    replica.add(added, { stage: 'others' });
    await env.settle();
  }
  expect(ran.sort()).toEqual(['a added', 'a everywhere', 'a usual', 'b added', 'b everywhere']);
  await env.expectConverged();
});
