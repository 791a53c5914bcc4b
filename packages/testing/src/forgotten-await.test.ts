import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { Widget, widget } from './widget.fixture.js';

test('a reconciler that goes on after it has ended is told so, once', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const ends: Promise<unknown>[] = [];
  const widgets = control(Widget).reconcile(({ object, apply, clock }) => {
    const work = async () => {
      await clock.sleep(1_000);
      await apply(ConfigMap({ metadata: { name: object.metadata.name } }));
    };
    // Not waited for.
    ends.push(work());
  });
  await env.run(widgets);
  await env.client.create(widget('a'));
  await env.client.create(widget('b'));
  await env.advance('5s');
  await Promise.all(ends);
  const told = env.log.records.filter(({ message }) => message.includes('is an await missing'));
  expect(told.map(({ level, fields }) => [level, fields.controller, fields.key])).toEqual([
    ['warn', 'widget', 'default/a'],
  ]);
});
