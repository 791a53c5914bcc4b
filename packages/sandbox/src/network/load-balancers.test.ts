import { TestEnvironment } from '@riata/testing';
import { Ingress, Service } from 'riata/kinds';
import { expect, test } from 'vitest';
import { providerControllers } from '../controllers.js';

const service = (name: string) =>
  Service({ metadata: { namespace: 'default', name }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
const ingress = Ingress({
  metadata: { namespace: 'default', name: 'web' },
  spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
});

test('Services and Ingresses share one pool; what is given back is given again', async () => {
  await using env = await TestEnvironment.start();
  await env.run(...providerControllers());
  const { client } = env;
  const address = async (name: string) =>
    (await client.get(Service, { namespace: 'default', name })).status?.loadBalancer?.ingress?.[0]?.ip;
  await client.create(service('a'));
  await env.settle();
  await client.create(service('b'));
  await env.settle();
  await client.create(ingress);
  await env.settle();
  const own = (await client.get(Ingress, { namespace: 'default', name: 'web' })).status?.loadBalancer?.ingress;
  expect([await address('a'), await address('b'), own]).toEqual(['198.18.0.1', '198.18.0.2', [{ ip: '198.18.0.3' }]]);
  await env.expectConverged();
  await client.delete(Service, { namespace: 'default', name: 'a' });
  await env.settle();
  await client.create(service('c'));
  await env.settle();
  expect(await address('c')).toBe('198.18.0.1');
  // After a restart, allocated addresses stay.
  await env.managers[0]?.stop();
  await env.run(...providerControllers());
  await client.create(service('d'));
  await env.settle();
  expect([await address('b'), await address('d')]).toEqual(['198.18.0.2', '198.18.0.4']);
});

test('a function says which addresses there are', async () => {
  await using env = await TestEnvironment.start();
  await env.run(
    ...providerControllers({ address: ({ metadata }) => (metadata.name === 'web' ? 'none' : 'lb.example.com') }),
  );
  await env.client.create(service('a'));
  await env.client.create(ingress);
  await env.settle();
  const made = await env.client.get(Service, { namespace: 'default', name: 'a' });
  expect(made.status?.loadBalancer?.ingress).toEqual([{ hostname: 'lb.example.com' }]);
  const other = await env.client.get(Ingress, { namespace: 'default', name: 'web' });
  expect(other.status?.loadBalancer?.ingress).toBeUndefined();
});
