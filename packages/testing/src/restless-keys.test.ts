import { control } from 'riata/controller';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { Widget, widget } from './widget.fixture.js';

test('a controller that wakes itself up is told of, once, with what it writes', async () => {
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
  const told = env.log.records.filter(({ message }) => message.startsWith('reconciled again and again'));
  expect(told).toMatchObject([
    { level: 'warn', fields: { controller: 'restless', key: 'default/w', writes: ['patch Widget default/w'] } },
  ]);
});
