import { TestEnvironment } from '@riata/testing';
import { expect, test } from 'vitest';
import { Site } from './site.js';
import { sites } from './sites.js';

const key = { namespace: 'default', name: 'example' };

test('a Site is reconciled', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  const manager = await env.run(sites);
  await env.client.create(Site({ metadata: key, spec: {} }));
  await env.settle();
  expect(manager.explain).toContainEqual(expect.objectContaining({ controller: sites.name, outcome: 'success' }));
  await env.expectConverged();
});
