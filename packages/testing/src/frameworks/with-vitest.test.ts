import { ConfigMap } from 'riata/kinds';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { environmentPerFile, TestEnvironment } from '../index.js';
import { inDefault, Widget, widget, widgets } from '../widget.fixture.js';

describe('one environment for all', () => {
  const env = environmentPerFile({ beforeAll, afterAll, afterEach }, { kinds: [Widget] });

  test.each([1, 2])('widgets get a ConfigMap, round %d', async (round) => {
    await env().run(widgets);
    await env().client.create(widget('w', round));
    await env().settle();
    expect(await env().client.get(ConfigMap, inDefault('w'))).toMatchObject({ data: { size: String(round) } });
    await env().expectConverged();
  });
});

test('one environment for a test', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget] });
  await env.run(widgets);
  await env.client.create(widget('w'));
  await env.eventually(async () => expect(await env.client.find(ConfigMap, inDefault('w'))).toBeDefined());
});

test('before the first hook there is no environment', () => {
  const hooks = { beforeAll: () => {}, afterAll: () => {}, afterEach: () => {} };
  expect(environmentPerFile(hooks)).toThrow('there is no environment yet; ask for it within a test');
});
