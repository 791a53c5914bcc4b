import { control } from 'riata/controller';
import { Secret } from 'riata/kinds';
import { findCondition } from 'riata/object';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

test('a reconcile that takes too long is told in the status, with what it had said before', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  let isStuck = true;
  const widgets = control(Widget, { timeout: '10s', backoff: () => '1h' }).reconcile(async (context) => {
    await context.status({ size: 3 });
    if (isStuck) await context.clock.sleep(60_000, { signal: context.signal });
  });
  const manager = await env.run(widgets);
  await env.client.create(widget('a'));
  await env.advance('11s');
  const ready = async () => {
    const { status } = await env.client.get(Widget, inDefault('a'));
    return { size: status?.size, ...findCondition(status?.conditions, 'Ready') };
  };
  expect(await ready()).toMatchObject({
    ...{ size: 3, status: 'False', reason: 'ReconcileFailed' },
    message: expect.stringContaining('the reconcile took longer than 10s'),
  });
  expect(manager.explain.at(0)).toMatchObject({ outcome: 'error' });
  isStuck = false;
  await env.settle({ horizon: '2h', timeout: '3h' });
  expect(await ready()).toMatchObject({ size: 3, status: 'True' });
});

test('reads from the server end with the reconcile, too', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const widgets = control(Widget, { timeout: '10s', maxRetries: 0 }).reconcile(async ({ client }) => {
    await client.find(Secret, inDefault('s'));
  });
  const manager = await env.run(widgets);
  env.faults.add({ verb: 'get', kind: Secret }, { stall: 'request' });
  await env.client.create(widget('a'));
  await env.eventually(() => manager.explain.length > 0, { within: '11s' });
  expect(manager.explain[0]).toMatchObject({ outcome: 'gave_up', durationMs: 10_000 });
  expect(manager.explain[0]?.error).toContain('the reconcile took longer than 10s');
});
