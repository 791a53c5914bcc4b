import { expect, test } from 'vitest';
import { configFromKubeconfig } from './config-from-kubeconfig.js';
import { kubeconfigFor } from './kubeconfig-for.js';

test('what is written reads back', async () => {
  const text = JSON.stringify(
    kubeconfigFor({
      server: 'https://127.0.0.1:6443',
      name: 'local',
      basic: { username: 'admin', password: 'pw' },
      namespace: 'team',
      tlsServerName: 'kube',
      insecureSkipTlsVerify: true,
    }),
  );
  const config = await configFromKubeconfig(text, { context: 'local' });
  expect(config).toMatchObject({
    server: 'https://127.0.0.1:6443',
    namespace: 'team',
    tlsServerName: 'kube',
    insecureSkipTlsVerify: true,
  });
  expect(await config.credentials?.authorization()).toBe(`Basic ${Buffer.from('admin:pw').toString('base64')}`);
});

test('only what is given is written', () => {
  expect(kubeconfigFor({ server: 'https://x', token: 't', ca: Buffer.from('PEM') })).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'default',
    clusters: [{ name: 'default', cluster: { server: 'https://x', 'certificate-authority-data': 'UEVN' } }],
    users: [{ name: 'default', user: { token: 't' } }],
    contexts: [{ name: 'default', context: { cluster: 'default', user: 'default' } }],
  });
});
