import { TestEnvironment } from '@riata/testing';
import { expect, test } from 'vitest';
import { Site } from './site.js';
import { siteRules } from './site-rules.js';

const key = { namespace: 'default', name: 'example' };

test('a long name is refused', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.run(siteRules);
  await env.client.create(Site({ metadata: key, spec: {} }));
  const long = Site({ metadata: { ...key, name: 'x'.repeat(51) }, spec: {} });
  await expect(env.client.create(long)).rejects.toThrow('must have at most 50 characters');
});
