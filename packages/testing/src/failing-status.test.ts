import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { findCondition } from 'riata/object';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

async function start() {
  const env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const state = async () => {
    const { status } = await env.client.get(Widget, inDefault('a'));
    const ready = findCondition(status?.conditions, 'Ready');
    return [status?.size, ready?.status, ready?.reason, ready?.message];
  };
  const writes = () => env.requests.lines({ verb: 'write' });
  return { env, state, writes };
}

test('a status before the failure: the two do not take turns, and tries wait longer each time', async () => {
  const { env, state, writes } = await start();
  await using _ = env;
  let isWell = false;
  const widgets = control(Widget).reconcile(async ({ object, status }) => {
    await status({ size: object.spec.size, conditions: [{ type: 'Ready', status: 'Unknown', reason: 'Begun' }] });
    if (!isWell) throw new Error('no luck');
  });
  const manager = await env.run(widgets);
  await env.client.create(widget('a', 3));
  await env.advance('1m');
  expect(await state()).toEqual([3, 'False', 'ReconcileFailed', 'Error: no luck']);
  // What was said, and the failure.
  expect(writes()).toHaveLength(2);
  expect(manager.explain.length).toBeLessThan(20);
  // What is said of the size is not held back.
  await env.client.patch(Widget, inDefault('a'), { type: 'merge', body: { spec: { size: 4 } } });
  await env.advance('1m');
  expect(await state()).toEqual([4, 'False', 'ReconcileFailed', 'Error: no luck']);
  isWell = true;
  await env.settle({ horizon: '20m', timeout: '1h' });
  expect(await state()).toEqual([4, 'Unknown', 'Begun', '']);
  await env.expectConverged();
});

test('a message that differs each time is told with each try, and wakes up no more of them', async () => {
  const { env, state, writes } = await start();
  await using _ = env;
  let tries = 0;
  const widgets = control(Widget, { backoff: () => '10s' })
    .owns(ConfigMap)
    .reconcile(() => {
      tries += 1;
      throw new Error(`no luck at try ${tries}`);
    });
  await env.run(widgets);
  await env.client.create(widget('a'));
  await env.advance('1s');
  // The first, and its echo.
  expect([tries, await state()]).toEqual([2, [undefined, 'False', 'ReconcileFailed', 'Error: no luck at try 1']]);
  await env.advance('10s');
  expect([tries, await state()]).toEqual([4, [undefined, 'False', 'ReconcileFailed', 'Error: no luck at try 3']]);
  expect(writes()).toHaveLength(2);
});

test('several controllers of one kind: Ready is false while one of them fails, and they do not take turns', async () => {
  const { env, state, writes } = await start();
  await using _ = env;
  const broken = { one: false, two: true };
  const named = (name: 'one' | 'two') =>
    control(Widget, { name, backoff: () => '10s' }).reconcile(async ({ object, status }) => {
      if (name === 'one') await status({ size: object.spec.size });
      if (broken[name]) throw new Error(`${name} fails`);
    });
  const manager = await env.run(named('one'), named('two'));
  await env.client.create(widget('a', 3));
  await env.advance('1m');
  expect(await state()).toEqual([3, 'False', 'ReconcileFailed', 'Error: two fails']);
  expect(writes().length).toBeLessThan(10);
  expect(manager.explain.length).toBeLessThan(40);
  const before = writes().length;
  await env.advance('1m');
  expect(writes()).toHaveLength(before);
  broken.two = false;
  await env.advance('20s');
  expect(await state()).toEqual([3, 'True', 'Reconciled', '']);
  broken.one = true;
  await env.client.patch(Widget, inDefault('a'), { type: 'merge', body: { spec: { size: 4 } } });
  await env.advance('1m');
  expect(await state()).toEqual([4, 'False', 'ReconcileFailed', 'Error: one fails']);
  broken.one = false;
  await env.advance('20s');
  expect(await state()).toEqual([4, 'True', 'Reconciled', '']);
  await env.expectConverged();
});
