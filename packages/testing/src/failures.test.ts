import { findCondition, isConditionTrue, TerminalError } from 'riata';
import { control } from 'riata/controller';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

const setSize = (env: TestEnvironment, size: number) =>
  env.client.patch(Widget, inDefault('a'), { type: 'merge', body: { spec: { size } } });

test('a terminal error is not retried until something changes, though the status reports it', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const widgets = control(Widget).reconcile(({ object }) => {
    throw new TerminalError(`size ${object.spec.size}`);
  });
  const manager = await env.run(widgets);
  await env.client.create(widget('a', 1));
  await env.advance('1h');
  await env.settle();
  expect(manager.explain).toMatchObject([{ outcome: 'terminal_error', attempt: 1 }]);
  await setSize(env, 2);
  await env.settle();
  expect(manager.explain.map(({ error }) => error)).toEqual(['TerminalError: size 1', 'TerminalError: size 2']);
});

test('a failure waits as long as requested, and its end wakes no other key', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const minutes: number[] = [];
  const widgets = control(Widget, { backoff: () => '1m' }).reconcile(async ({ clock, status }) => {
    minutes.push(Math.floor(clock.monotonic() / 60_000));
    if (minutes.length < 4) throw new Error(`failure ${minutes.length}`);
    await status({ size: 1 });
  });
  await env.run(widgets);
  await env.client.create(widget('a', 1));
  await env.advance('2h');
  await env.settle();
  // The last one by what the reconciler has said itself.
  expect(minutes.map((minute) => minute - (minutes[0] ?? 0))).toEqual([0, 1, 2, 3, 3]);
  const { status } = await env.client.get(Widget, inDefault('a'));
  expect(isConditionTrue(status?.conditions, 'Ready')).toBe(true);
});

test('a status that cannot be written is reported with the first failure, not with each', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  env.faults.add({ kind: Widget, verb: 'write' }, { fail: { code: 503 } });
  const widgets = control(Widget, { maxRetries: 3 }).reconcile(() => {
    throw new Error('failed');
  });
  const manager = await env.run(widgets);
  await env.client.create(widget('a', 1));
  await env.settle();
  expect(manager.explain.map(({ outcome }) => outcome)).toEqual(['error', 'error', 'error', 'gave_up']);
  const reported = (level: 'warn' | 'debug') =>
    env.log.messages(level).filter((message) => message === 'cannot report the failure in the status').length;
  expect([reported('warn'), reported('debug')]).toEqual([1, 3]);
});

test('what the reconciler says of Ready itself is heard by it, also after a failure', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const seen: (string | undefined)[] = [];
  const widgets = control(Widget).reconcile(async ({ object, status }) => {
    seen.push(findCondition(object.status?.conditions, 'Ready')?.reason);
    if (seen.length === 1) throw new Error('no luck');
    await status({ conditions: [{ type: 'Ready', status: 'Unknown', reason: 'Begun' }] });
  });
  await env.run(widgets);
  await env.client.create(widget('a'));
  await env.settle();
  expect(seen).toEqual([undefined, 'ReconcileFailed', 'Begun']);
  await env.expectConverged();
});
