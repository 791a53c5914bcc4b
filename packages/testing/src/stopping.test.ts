import { control } from 'riata/controller';
import { Lease } from 'riata/kinds';
import { onAbort } from 'riata/runtime';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget } from './widget.fixture.js';

test('a reconcile that heeds its signal ends in order, also when there is less time than it may take to drain', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await env.client.create(Widget({ metadata: inDefault('a'), spec: { size: 1 } }));
  let isRunning = false;
  const heeding = control(Widget, { drain: '1m' }).reconcile(({ signal }) => {
    isRunning = true;
    return new Promise((_, reject) => void onAbort(signal, () => reject(signal.reason)));
  });
  const leaderElection = inDefault('leader');
  const replica = await env.startManager({ leaderElection, gracefulTimeout: '9s', run: [heeding] });
  await env.eventually(() => isRunning);
  expect(await replica.stop()).toEqual({ reason: 'stopped', unfinished: [] });
  const lease = await env.client.get(Lease, leaderElection);
  expect(lease.spec).not.toHaveProperty('holderIdentity');
});

test('a manager that is disposed of while it runs stops in order: reconciles end, the lease is released', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await env.client.create(Widget({ metadata: inDefault('a'), spec: { size: 1 } }));
  let isRunning = false;
  let hasWritten = false;
  const slow = control(Widget).reconcile(async ({ clock, status }) => {
    isRunning = true;
    await clock.sleep(3_000);
    await status({ size: 1 });
    hasWritten = true;
  });
  const leaderElection = inDefault('leader');
  const replica = await env.startManager({ leaderElection, run: [slow] });
  await env.eventually(() => isRunning);
  let isDisposed = false;
  void replica.manager[Symbol.asyncDispose]().then(() => {
    isDisposed = true;
  });
  await env.eventually(() => isDisposed);
  expect([hasWritten, (await replica.ended).reason]).toEqual([true, 'stopped']);
  expect((await env.client.get(Lease, leaderElection)).spec).not.toHaveProperty('holderIdentity');
});
