import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { ConfigMap } from 'riata/kinds';
import { environmentPerFile, TestEnvironment } from '../index.js';
import { inDefault, Widget, widget, widgets } from '../widget.fixture.js';

describe('one environment for all', () => {
  const env = environmentPerFile({ before, after, afterEach }, { kinds: [Widget] });

  for (const round of [1, 2]) {
    test(`widgets get a ConfigMap, round ${round}`, async () => {
      await env().run(widgets);
      await env().client.create(widget('w', round));
      await env().settle();
      assert.equal((await env().client.get(ConfigMap, inDefault('w'))).data?.size, String(round));
      await env().expectConverged();
    });
  }
});

test('one environment for a test', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget] });
  await env.run(widgets);
  await env.client.create(widget('w'));
  await env.eventually(async () => assert.ok(await env.client.find(ConfigMap, inDefault('w'))));
});
