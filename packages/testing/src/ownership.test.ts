import { controllerOf, findCondition } from 'riata';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

test('two objects that want to own the same do not take it from each other, and the second says why it cannot', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const widgets = control(Widget)
    .owns(ConfigMap)
    .reconcile(async ({ object, apply, status }) => {
      await apply(ConfigMap({ metadata: { name: 'shared' }, data: { by: object.metadata.name } }));
      await status({ size: object.spec.size });
    });
  await env.run(widgets);
  const ready = async (name: string) =>
    findCondition((await env.client.get(Widget, inDefault(name))).status?.conditions, 'Ready');
  const owner = async () => controllerOf(await env.client.get(ConfigMap, inDefault('shared')))?.name;
  await env.client.create(widget('a'));
  await env.settle();
  await env.client.create(widget('b'));
  await env.settle();
  expect([await owner(), (await ready('a'))?.status]).toEqual(['a', 'True']);
  expect(await ready('b')).toMatchObject({
    status: 'False',
    message: expect.stringContaining('ConfigMap "default/shared" is already controlled by Widget "a"'),
  });
  expect(env.requests.lines({ kind: ConfigMap, verb: 'write' })).toEqual(['patch ConfigMap default/shared']);
  // What is left goes with its owner.
  await env.client.delete(Widget, inDefault('a'));
  await env.eventually(async () => (await ready('b'))?.status === 'True', { within: '30m' });
  expect(await owner()).toBe('b');
  await env.expectConverged();
});
