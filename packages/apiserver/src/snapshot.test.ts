import { createClient } from 'riata';
import { ConfigMap, CustomResourceDefinition, Namespace, Service } from 'riata/kinds';
import { silentLogger as log } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from './api-server.js';

const clientOf = (server: ApiServer) => createClient(server.config, { runtime: { log } });
const thing = (name: string) => ConfigMap({ metadata: { namespace: 'default', name } });
const key = (name: string) => ({ namespace: 'default', name });

test('servers start from a snapshot and go their own ways', async () => {
  await using server = await ApiServer.start({ log });
  const client = clientOf(server);
  const made = await client.create(thing('a'));
  const snapshot = server.snapshot();
  expect(snapshot.revision).toBe(Number(made.metadata.resourceVersion));
  await client.delete(ConfigMap, key('a'));
  await using first = await ApiServer.start({ from: snapshot, log });
  await using second = await ApiServer.start({ from: snapshot, log });
  await clientOf(first).create(thing('b'));
  expect(await clientOf(first).get(ConfigMap, key('a'))).toEqual(made);
  const names = async (of: ApiServer) =>
    (await clientOf(of).list(ConfigMap, { namespace: 'default' })).items.map(({ metadata }) => metadata.name);
  expect(await names(server)).toEqual(['kube-root-ca.crt']);
  expect(await names(first)).toEqual(['a', 'b', 'kube-root-ca.crt']);
  expect(await names(second)).toEqual(['a', 'kube-root-ca.crt']);
});

test('everything that a server does by itself continues', async () => {
  await using server = await ApiServer.start({ log });
  const client = clientOf(server);
  const schema = { type: 'object' as const, 'x-kubernetes-preserve-unknown-fields': true };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }];
  await client.create(
    CustomResourceDefinition({
      metadata: { name: 'widgets.shop.test' },
      spec: { group: 'shop.test', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' }, versions },
    }),
  );
  const service = await client.create(Service({ metadata: key('web'), spec: { ports: [{ port: 80 }] } }));
  const owner = await client.create(thing('owner'));
  const { uid, name } = owner.metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }];
  await client.create(ConfigMap({ metadata: { ...key('owned'), ownerReferences } }));
  await client.create(Namespace({ metadata: { name: 'shop' } }));
  await server.idle();
  await using copy = await ApiServer.start({ from: server.snapshot(), log });
  const other = clientOf(copy);
  const clusterIP = service.spec?.clusterIP;
  const clash = other.create(Service({ metadata: key('web2'), spec: { clusterIP, ports: [{ port: 80 }] } }));
  await expect(clash).rejects.toThrow('provided IP is already allocated');
  await other.delete(ConfigMap, key('owner'));
  await other.delete(Namespace, { name: 'shop' });
  await copy.idle();
  await expect(other.get(ConfigMap, key('owned'))).rejects.toThrow('not found');
  await expect(other.get(Namespace, { name: 'shop' })).rejects.toThrow('not found');
  const { url } = await copy.listen({ tls: false });
  const headers = { authorization: `Bearer ${server.token}` };
  expect((await fetch(`${url}/apis/shop.test/v1/widgets`, { headers })).status).toBe(200);
  await copy.restart();
  expect((await clientOf(server).get(Namespace, { name: 'shop' })).metadata.name).toBe('shop');
});

test('watches begin at the snapshot', async () => {
  await using server = await ApiServer.start({ log });
  const made = await clientOf(server).create(thing('a'));
  await clientOf(server).create(thing('b'));
  await using copy = await ApiServer.start({ from: server.snapshot(), log });
  const { url } = await copy.listen({ tls: false });
  const headers = { authorization: `Bearer ${copy.token}` };
  const path = `/api/v1/configmaps?watch=1&resourceVersion=${made.metadata.resourceVersion}`;
  expect(await (await fetch(url + path, { headers })).text()).toContain('"code":410');
});
