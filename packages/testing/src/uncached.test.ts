import { control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault } from './widget.fixture.js';

test('kinds that are not to be read from the cache are not, in reconcilers neither', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const maps = control(ConfigMap)
    .reads(Secret)
    .reconcile(async ({ client, object: { metadata } }) => {
      if (metadata.name === 'a') await client.find(Secret, inDefault('s'));
    });
  const run = await env.startManager({ uncached: [Secret], run: [maps] });
  await env.client.create(ConfigMap({ metadata: inDefault('a') }));
  await env.settle();
  await run.manager.client.find(Secret, inDefault('s'));
  const lines = env.requests.lines({ kind: Secret }).filter((line) => line.startsWith('get'));
  expect(lines).toEqual(['get Secret default/s', 'get Secret default/s']);
});
