import { TestEnvironment } from '@riata/testing';
import { expect, test } from 'vitest';
import { Site } from './site.js';
import { siteRules } from './site-rules.js';

const key = { namespace: 'default', name: 'example' };
const example = Site({ metadata: key, spec: { image: 'nginx:1.29' } });

test('a Site gets a zone, and keeps it', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.run(siteRules);
  const created = await env.client.create(example);
  expect(created.spec.zone).toBe('a');

  const moved = env.client.patch(Site, key, { type: 'merge', body: { spec: { zone: 'b' } } });
  await expect(moved).rejects.toThrow('spec.zone: Invalid value: "b": is immutable');
});
