import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { configFromKubeconfig } from './config-from-kubeconfig.js';
import { kubeconfigFor } from './kubeconfig-for.js';
import { withoutUserInfo } from './printable.js';
import type { RestConfig } from './rest-config.js';

const x509: {
  issueCertificate(options: { commonName: string }): { cert: string; key: string };
} = await import(new URL('../../../../../tools/control-plane/x509.mjs', import.meta.url).href);
const { cert, key } = x509.issueCertificate({ commonName: 'dev' });
const server = 'https://10.0.0.1:6443';

const printed = (config: RestConfig): string =>
  [
    JSON.stringify(config),
    JSON.stringify({ ...config, userAgent: 'mine' }),
    inspect(config, { depth: 99, showHidden: true }),
    inspect({ nested: [{ ...config, userAgent: 'mine' }] }, { depth: 99, showHidden: true }),
    inspect(config.credentials, { depth: 99, showHidden: true }),
    JSON.stringify(config.credentials),
    `${config}`,
    `${config.credentials}`,
  ].join('\n');

const withUser = (user: object) => ({
  ...kubeconfigFor({ server, proxyUrl: 'http://me:SECRET@proxy:3128' }),
  users: [{ name: 'default', user }],
});
const exec = {
  apiVersion: 'client.authentication.k8s.io/v1',
  command: 'login',
  args: ['SECRET'],
  env: [{ name: 'PASS', value: 'SECRET' }],
  interactiveMode: 'Never',
};

test.each([
  ['token', { token: 'SECRET' }],
  ['basic', { username: 'me', password: 'SECRET' }],
  ['exec', { exec }],
])('a configuration with %s prints without it', async (_, user) => {
  const text = printed(await configFromKubeconfig(withUser(user)));
  expect(text).not.toContain('SECRET');
  expect(text).not.toContain(Buffer.from('me:SECRET').toString('base64'));
  expect(text).toContain(server);
});

test('a client key is not printed, nor what the transport is given', async () => {
  const config = await configFromKubeconfig(kubeconfigFor({ server, ca: cert, cert, key }));
  await config.credentials?.authorization();
  const material = await config.credentials?.tls();
  const secret = key.split('\n')[1] ?? '';
  expect(secret).toHaveLength(64);
  expect(printed(config) + inspect(material, { showHidden: true }) + JSON.stringify(material)).not.toContain(secret);
});

test('what is useful is shown', async () => {
  const config = await configFromKubeconfig(
    kubeconfigFor({ server, token: 'SECRET', ca: cert, proxyUrl: 'http://me:SECRET@proxy:3128', namespace: 'team' }),
  );
  expect(JSON.parse(JSON.stringify(config))).toEqual({
    server,
    namespace: 'team',
    credentials: { ca: '[inline]', authorization: 'token' },
    proxyUrl: 'http://[redacted]@proxy:3128',
  });
  expect(config.proxyUrl).toBe('http://me:SECRET@proxy:3128');
});

test('a URL loses its user, even an odd one', () => {
  expect(withoutUserInfo('http://u:p@ss@host/x')).toBe('http://[redacted]@host/x');
  expect(withoutUserInfo('u:SECRET@')).toBe('[not a URL]');
  expect(withoutUserInfo('::')).toBe('[not a URL]');
});
