import { TestEnvironment } from '@riata/testing';
import { defineKind } from 'riata';
import { Pod, ResourceQuota, Secret } from 'riata/kinds';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { clusterControllers } from '../controllers.js';

const namespace = 'default';
const key = { namespace, name: 'quota' };
const Widget = defineKind({ group: 'sandbox.test', version: 'v1', kind: 'Widget', spec: z.object({}) });

test('usage follows, kinds are watched only once they are counted, and nothing is written without a change', async () => {
  await using env = await TestEnvironment.start();
  await env.run(...clusterControllers());
  await env.settle();
  const { client } = env;
  const used = async () => (await client.get(ResourceQuota, key)).status?.used;
  const secretLists = () => env.requests.all.filter(({ path }) => path.startsWith('/api/v1/secrets'));
  expect(secretLists()).toEqual([]);
  const hard = { pods: '5', 'requests.cpu': '2', secrets: '5', 'count/widgets.sandbox.test': '5', 'limits.cpu': '1' };
  await client.create(ResourceQuota({ metadata: key, spec: { hard } }));
  await env.settle();
  // A kind that isn't served has no usage yet.
  const none = { pods: '0', 'requests.cpu': '0', secrets: '0', 'limits.cpu': '0' };
  expect(await used()).toEqual(none);
  expect(secretLists()).not.toEqual([]);
  await client.create(Secret({ metadata: { namespace, name: 'a' } }));
  const resources = { requests: { cpu: '300m' } };
  await client.create(
    Pod({ metadata: { namespace, name: 'a' }, spec: { containers: [{ name: 'web', image: 'web:1', resources }] } }),
  );
  await env.settle();
  expect(await used()).toEqual({ ...none, pods: '1', 'requests.cpu': '300m', secrets: '1' });
  await env.expectConverged();
  await env.install(Widget);
  await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: {} }));
  await env.advance('6m');
  expect((await used())?.['count/widgets.sandbox.test']).toBe('1');
  await client.delete(Widget, { namespace, name: 'a' });
  await env.settle();
  expect((await used())?.['count/widgets.sandbox.test']).toBe('0');
});
