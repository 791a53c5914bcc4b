import { createClient } from 'riata';
import { Namespace, Pod, ServiceAccount } from 'riata/kinds';
import { seededRandom, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from '../../../api-server.js';

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const podOf = (namespace: string, name: string, spec: object = {}, annotations?: Record<string, string>) =>
  Pod({
    metadata: { namespace, name, ...(annotations && { annotations }) },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  });

async function start(options: object = {}) {
  const clock = new VirtualClock();
  const server = await ApiServer.start({ clock, random: seededRandom('accounts'), ...options });
  return { client: createClient(server.config, { runtime: { clock } }), [Symbol.asyncDispose]: () => server.stop() };
}

test('a Pod has the default account of its namespace and mounts a token of it', async () => {
  await using cluster = await start();
  const { client } = cluster;
  await client.create(Namespace({ metadata: { name: 'new' } }));
  // The account exists as soon as the namespace does.
  const init = { name: 'i', image: 'i', volumeMounts: [{ name: 'own', mountPath }] };
  const own = { name: 'own', emptyDir: {} };
  const { spec } = await client.create(podOf('new', 'a', { initContainers: [init], volumes: [own] }));
  expect(spec.serviceAccountName).toBe('default');
  const [, token] = spec.volumes ?? [];
  expect(token?.name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
  expect(token?.projected).toEqual({
    defaultMode: 420,
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
  });
  expect(spec.containers[0]?.volumeMounts).toEqual([{ name: token?.name, readOnly: true, mountPath }]);
  expect(spec.initContainers?.[0]?.volumeMounts).toEqual(init.volumeMounts);
});

test('an account decides whether its token is mounted, and provides image pull secrets', async () => {
  await using cluster = await start();
  const { client } = cluster;
  const namespace = 'default';
  await client.create(
    ServiceAccount({
      metadata: { namespace, name: 'robot' },
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: 'registry' }],
    }),
  );
  const { spec } = await client.create(podOf(namespace, 'a', { serviceAccountName: 'robot' }));
  expect(spec.volumes).toBeUndefined();
  expect(spec.imagePullSecrets).toEqual([{ name: 'registry' }]);
  const asked = { serviceAccountName: 'robot', automountServiceAccountToken: true };
  expect((await client.create(podOf(namespace, 'b', asked))).spec.volumes).toHaveLength(1);
  const refused = { automountServiceAccountToken: false };
  expect((await client.create(podOf(namespace, 'c', refused))).spec.volumes).toBeUndefined();
});

test('a Pod whose account is missing is refused', async () => {
  await using cluster = await start();
  await expect(cluster.client.create(podOf('default', 'a', { serviceAccountName: 'none' }))).rejects.toThrow(
    'pods "a" is forbidden: error looking up service account default/none: serviceaccount "none" not found',
  );
  await using alone = await start({ controllers: false });
  await expect(alone.client.create(podOf('default', 'a'))).rejects.toThrow('serviceaccount "default" not found');
});

test('an account that enforces its secrets refuses others', async () => {
  await using cluster = await start();
  const { client } = cluster;
  const annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
  const metadata = { namespace: 'default', name: 'strict', annotations };
  await client.create(ServiceAccount({ metadata, secrets: [{ name: 'mine' }] }));
  const using = (secretName: string) => ({
    serviceAccountName: 'strict',
    volumes: [{ name: 's', secret: { secretName } }],
  });
  await client.create(podOf('default', 'a', using('mine')));
  await expect(client.create(podOf('default', 'b', using('other')))).rejects.toThrow(
    'volume with secret.secretName="other" is not allowed because service account strict does not reference that secret',
  );
});

test('mirror Pods have no account', async () => {
  await using cluster = await start();
  const { client } = cluster;
  const mirror = { 'kubernetes.io/config.mirror': 'x' };
  const node = { nodeName: 'n' };
  await expect(
    client.create(podOf('default', 'a', { ...node, serviceAccountName: 'default' }, mirror)),
  ).rejects.toThrow('a mirror pod may not reference service accounts');
  const volumes = [{ name: 's', secret: { secretName: 's' } }];
  await expect(client.create(podOf('default', 'b', { ...node, volumes }, mirror))).rejects.toThrow(
    'a mirror pod may not reference secrets',
  );
  const { spec } = await client.create(podOf('default', 'c', node, mirror));
  expect(spec.serviceAccountName).toBeUndefined();
});

test('without the plugin, a Pod is unchanged', async () => {
  await using cluster = await start({ admission: { disable: ['ServiceAccount'] } });
  expect((await cluster.client.create(podOf('default', 'a'))).spec.volumes).toBeUndefined();
});
