import { TestEnvironment } from '@riata/testing';
import { isConditionTrue } from 'riata';
import { Deployment } from 'riata/kinds';
import { Controllers } from 'riata/patterns';
import { expect, test } from 'vitest';
import { Site } from './site.js';
import { registerSites } from './sites.js';

const key = { namespace: 'default', name: 'example' };
const example = Site({ metadata: key, spec: { image: 'nginx:1.29', replicas: 2 } });

test('a Site gets a Deployment, and follows changes of the spec', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.runHandlers((factory) => registerSites(new Controllers(factory)));
  await env.client.create(example);
  await env.settle();
  expect((await env.client.get(Deployment, key)).spec.replicas).toBe(2);
  const { status } = await env.client.get(Site, key);
  expect(isConditionTrue(status?.conditions, 'Deployed')).toBe(true);

  await env.client.patch(Site, key, { type: 'merge', body: { spec: { replicas: 3 } } });
  await env.settle();
  expect((await env.client.get(Deployment, key)).spec.replicas).toBe(3);
  await env.expectConverged();
});

test('a Deployment that was deleted is restored', async () => {
  await using env = await TestEnvironment.start({ kinds: [Site] });
  await env.runHandlers((factory) => registerSites(new Controllers(factory)));
  await env.client.create(example);
  await env.settle();

  await env.client.delete(Deployment, key);
  await env.settle();
  expect(await env.client.find(Deployment, key)).toBeDefined();
});
