import { createClient, isForbidden } from 'riata';
import { ConfigMap, CustomResourceDefinition, Pod, ResourceQuota, Service } from 'riata/kinds';
import { VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';
import { embeddedServer } from './embedded-server.fixture.js';

const server = embeddedServer();
const podOf = (namespace: string, name: string, spec: object = {}) =>
  Pod({ metadata: { namespace, name }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
const cpu = (amount: string) => ({ containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: amount } } }] });

/** A namespace with one quota. */
async function limited(hard: Record<string, string>, spec: object = {}) {
  const { client, newNamespace, calm } = server();
  const namespace = await newNamespace();
  const key = { namespace, name: 'quota' };
  await client.create(ResourceQuota({ metadata: key, spec: { hard, ...spec } }));
  const used = async () => (await client.get(ResourceQuota, key)).status?.used;
  return { client, namespace, key, used, calm };
}

test('a quota is enforced as soon as it exists', async () => {
  const { client, namespace, used } = await limited({ pods: '1' });
  await client.create(podOf(namespace, 'a'));
  await expect(client.create(podOf(namespace, 'b'))).rejects.toThrow(
    'pods "b" is forbidden: exceeded quota: quota, requested: pods=1, used: pods=1, limited: pods=1',
  );
  expect(await used()).toEqual({ pods: '1' });
});

test('existing objects count, and deleted ones free quota', async () => {
  const { client, namespace, used, calm } = await limited({ 'count/configmaps': '3', configmaps: '3' });
  await calm();
  // Every namespace has a ConfigMap with the server's certificate.
  expect(await used()).toEqual({ 'count/configmaps': '1', configmaps: '1' });
  for (const name of ['a', 'b']) await client.create(ConfigMap({ metadata: { namespace, name } }));
  await expect(client.create(ConfigMap({ metadata: { namespace, name: 'c' } }))).rejects.toSatisfy(isForbidden);
  await client.delete(ConfigMap, { namespace, name: 'a' });
  await client.create(ConfigMap({ metadata: { namespace, name: 'c' } }));
  await calm();
  expect(await used()).toEqual({ 'count/configmaps': '3', configmaps: '3' });
});

test('two concurrent writes cannot both take the remaining quota', async () => {
  const { client, namespace, used } = await limited({ pods: '3' });
  const names = Array.from({ length: 10 }, (_, i) => `p${i}`);
  const results = await Promise.allSettled(names.map((name) => client.create(podOf(namespace, name))));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  expect(await used()).toEqual({ pods: '3' });
});

test('refused and dry-run writes are not charged', async () => {
  const { client, namespace, used, calm } = await limited({ pods: '5' });
  await client.create(podOf(namespace, 'a'));
  await expect(client.create(podOf(namespace, 'a'))).rejects.toThrow('already exists');
  await client.create(podOf(namespace, 'b'), { dryRun: true });
  await calm();
  expect(await used()).toEqual({ pods: '1' });
});

test('terminated Pods use nothing, and a changed quota is recalculated', async () => {
  const { client, namespace, key, used, calm } = await limited({ pods: '1', 'requests.cpu': '1' });
  await client.create(podOf(namespace, 'a', cpu('700m')));
  const body = { status: { phase: 'Succeeded' } };
  await client.status.patch(Pod, { namespace, name: 'a' }, { type: 'merge', body });
  await client.create(podOf(namespace, 'b', cpu('600m')));
  await calm();
  expect(await used()).toEqual({ pods: '1', 'requests.cpu': '600m' });
  const hard = { pods: null, 'count/pods': '9' };
  await client.patch(ResourceQuota, key, { type: 'merge', body: { spec: { hard } } });
  await calm();
  const { status } = await client.get(ResourceQuota, key);
  expect(status).toEqual({
    hard: { 'count/pods': '9', 'requests.cpu': '1' },
    used: { 'count/pods': '2', 'requests.cpu': '600m' },
  });
});

test('updates are charged for the difference', async () => {
  const { client, namespace, used } = await limited({ 'services.nodeports': '2' });
  const ports = [{ name: 'a', port: 1 }];
  await client.create(Service({ metadata: { namespace, name: 'a' }, spec: { ports } }));
  const patch = (body: object) => client.patch(Service, { namespace, name: 'a' }, { type: 'merge', body });
  await patch({ spec: { type: 'NodePort' } });
  const more = [...ports, { name: 'b', port: 2 }, { name: 'c', port: 3 }];
  await expect(patch({ spec: { ports: more } })).rejects.toThrow(
    'exceeded quota: quota, requested: services.nodeports=2, used: services.nodeports=1, limited: services.nodeports=2',
  );
  await patch({ spec: { type: 'ClusterIP' } });
  await server().calm();
  expect(await used()).toEqual({ 'services.nodeports': '0' });
});

test('counts custom objects once their kind is served', async () => {
  const { client, namespace, used, calm } = await limited({ 'count/widgets.example.com': '0' });
  await calm();
  expect(await used()).toEqual({});
  const names = { kind: 'Widget', plural: 'widgets' };
  const schema = { openAPIV3Schema: { type: 'object' } };
  await client.create(
    CustomResourceDefinition({
      metadata: { name: 'widgets.example.com' },
      spec: {
        ...{ group: 'example.com', scope: 'Namespaced', names },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    }),
  );
  await calm();
  expect(await used()).toEqual({ 'count/widgets.example.com': '0' });
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { namespace, name: 'a' } };
  await expect(client.create(widget as never)).rejects.toThrow('exceeded quota: quota, requested: count/widgets');
});

test('a Pod past its deletion deadline stops counting', async () => {
  const clock = new VirtualClock();
  await using own = await ApiServer.start({ clock });
  await using client = createClient(own.config, { runtime: { clock } });
  const [namespace, name] = ['default', 'quota'];
  await client.create(ResourceQuota({ metadata: { namespace, name }, spec: { hard: { pods: '1' } } }));
  await client.create(podOf(namespace, 'a', { nodeName: 'n' }));
  await client.delete(Pod, { namespace, name: 'a' });
  await expect(client.create(podOf(namespace, 'b'))).rejects.toSatisfy(isForbidden);
  await clock.advance(61_000);
  await client.create(podOf(namespace, 'b'));
});

test('without controllers, enforces the status that a client writes', async () => {
  const clock = new VirtualClock();
  await using own = await ApiServer.start({ clock, controllers: false });
  await using client = createClient(own.config, { runtime: { clock } });
  const key = { namespace: 'default', name: 'quota' };
  await client.create(ResourceQuota({ metadata: key, spec: { hard: { configmaps: '0' } } }));
  const settings = (name: string) => ConfigMap({ metadata: { namespace: 'default', name } });
  await client.create(settings('a'));
  const body = { status: { hard: { configmaps: '2' }, used: { configmaps: '1' } } };
  await client.status.patch(ResourceQuota, key, { type: 'merge', body });
  await client.create(settings('b'));
  await expect(client.create(settings('c'))).rejects.toSatisfy(isForbidden);
});
