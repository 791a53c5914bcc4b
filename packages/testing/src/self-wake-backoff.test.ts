import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

test('a controller that wakes itself is reported, once, with its writes', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process', kinds: [Widget] });
  let writes = 0;
  const restless = control(Widget, { name: 'restless' }).reconcile(async ({ object, client }) => {
    if (writes === 60) return;
    writes += 1;
    const annotations = { 'example.com/seen': `${writes}` };
    await client.patch(Widget, object.metadata, { type: 'merge', body: { metadata: { annotations } } });
  });
  await env.run(restless);
  await env.client.create(widget('w'));
  await env.settle();
  const reported = env.log.records.filter(({ message }) => message.includes('wakes itself'));
  expect(reported).toMatchObject([
    { level: 'warn', fields: { controller: 'restless', key: 'default/w', writes: ['patch Widget default/w'] } },
  ]);
});

test('it is slowed down, and what others change is still reconciled at once', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process', kinds: [Widget] });
  const runs: { readonly name: string; readonly atMs: number; readonly size: number; readonly child?: string }[] = [];
  const restless = control(Widget, { name: 'restless', selfWakeBackoff: true })
    .owns(ConfigMap)
    .reconcile(async ({ object, apply, client, clock }) => {
      const { name } = object.metadata;
      const map = await client.find(ConfigMap, inDefault(name));
      runs.push({ name, atMs: clock.monotonic(), size: object.spec.size, child: map?.data?.progress });
      await apply(ConfigMap({ metadata: { name } }));
      if (name === 'calm') return;
      const annotations = { 'example.com/seen': `${runs.length}` };
      await client.patch(Widget, object.metadata, { type: 'merge', body: { metadata: { annotations } } });
    });
  await env.run(restless);
  await env.client.create(widget('w'));
  await env.advance('10m');
  const before = runs.length;
  expect(before).toBeGreaterThan(25);
  expect(before).toBeLessThan(50);

  const atMs = env.clock.monotonic();
  const now = () => runs.filter((run) => run.atMs - atMs < 50).at(-1);
  await env.client.patch(Widget, inDefault('w'), { type: 'merge', body: { spec: { size: 7 } } });
  await env.advance('40ms');
  expect(now()).toMatchObject({ name: 'w', size: 7 });
  await env.client.create(widget('calm'));
  await env.client.patch(ConfigMap, inDefault('w'), { type: 'merge', body: { data: { progress: 'half' } } });
  await env.advance('5ms');
  expect(runs.some(({ name }) => name === 'calm')).toBe(true);
  expect(runs.some(({ child }) => child === 'half')).toBe(true);
});
