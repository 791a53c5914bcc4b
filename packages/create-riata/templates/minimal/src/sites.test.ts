import { TestEnvironment } from '@riata/testing';
import { Deployment } from 'riata/kinds';
import { expect, test } from 'vitest';
import { Site } from './site.js';
import { sites } from './sites.js';

const key = { namespace: 'default', name: 'example' };
const example = Site({ metadata: key, spec: { image: 'nginx:1.29', replicas: 2 } });

test('a Site gets a Deployment, and follows changes of the spec', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.run(sites);
  await env.client.create(example);
  await env.settle();
  expect((await env.client.get(Deployment, key)).spec.replicas).toBe(2);

  await env.client.patch(Site, key, { type: 'merge', body: { spec: { replicas: 3 } } });
  await env.settle();
  expect((await env.client.get(Deployment, key)).spec.replicas).toBe(3);
  await env.expectConverged();
});

test('a Deployment that was deleted is restored', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.run(sites);
  await env.client.create(example);
  await env.settle();

  await env.client.delete(Deployment, key);
  await env.settle();
  expect(await env.client.find(Deployment, key)).toBeDefined();
});
