import { createClient } from 'riata';
import { ClusterRole, ClusterRoleBinding, ConfigMap, ServiceAccount } from 'riata/kinds';
import { memoryLogger, VirtualClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';

const namespace = 'default';
const apiGroup = 'rbac.authorization.k8s.io';

async function start() {
  const log = memoryLogger();
  const clock = new VirtualClock();
  const server = await ApiServer.start({ log, clock, token: 'admin-secret' });
  const admin = createClient(server.config, { runtime: { clock, log } });
  await admin.create(ServiceAccount({ metadata: { namespace, name: 'robot' } }));
  await admin.create(
    ClusterRole({
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }],
    }),
  );
  await admin.create(
    ClusterRoleBinding({
      metadata: { name: 'reader' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace }],
    }),
  );
  const issue = async (spec: object = {}) => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
    const key = { namespace, name: 'robot' };
    const answer = await admin.subresource('token').create<{ status: { token: string } }>(ServiceAccount, key, body);
    return answer.status.token;
  };
  const by = (token: string) => {
    const credentials = { ...server.config.credentials, authorization: async () => `Bearer ${token}` };
    return createClient({ ...server.config, credentials }, { runtime: { clock, log } });
  };
  /** The status code of a list of ConfigMaps. */
  const code = (token: string) =>
    by(token)
      .list(ConfigMap, { namespace })
      .then(
        () => 200,
        (error: { status?: { code: number } }) => error.status?.code,
      );
  return { server, clock, log, admin, issue, code };
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a ServiceAccount token', () => {
  test('is taken until it expires, on the clock of the server', async () => {
    const { server, clock, issue, code } = await start();
    const token = await issue({ expirationSeconds: 600 });
    expect(await code(token)).toBe(200);
    await clock.advance(650_000);
    expect(await code(token)).toBe(200);
    await clock.advance(20_000);
    expect(await code(token)).toBe(401);
    await server.stop();
  });

  test('is refused for another audience, another signature, other claims and other algorithms', async () => {
    const { server, issue, code } = await start();
    const token = await issue();
    const [header = '', claims = '', signature = ''] = token.split('.');
    expect(await code(await issue({ audiences: ['elsewhere'] }))).toBe(401);
    const admin = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), sub: 'system:admin' };
    for (const forged of [
      `${header}.${encode(admin)}.${signature}`,
      `${encode({ alg: 'none' })}.${claims}.`,
      `${encode({ alg: 'none' })}.${encode(admin)}.${signature}`,
      `${token}!`,
      `${token}.${signature}`,
      `${header}.${claims}`,
      signature,
    ]) {
      expect(await code(forged), forged).toBe(401);
    }
    expect(await code(token)).toBe(200);
    await server.stop();
  });

  test('is refused once its account is gone, although it was taken before', async () => {
    const { server, admin, issue, code } = await start();
    const token = await issue();
    expect(await code(token)).toBe(200);
    await admin.delete(ServiceAccount, { namespace, name: 'robot' });
    expect(await code(token)).toBe(401);
    await server.stop();
  });

  test('and no other credential is ever logged', async () => {
    const { server, log, issue, code } = await start();
    const token = await issue();
    for (const sent of [token, 'a-wrong-secret', 'admin-secret']) await code(sent);
    const logged = JSON.stringify(log.records);
    for (const secret of [token, 'a-wrong-secret', 'admin-secret']) expect(logged).not.toContain(secret);
    await server.stop();
  });
});

test('static tokens stand for the users that they are given for', async () => {
  const tokens = { t1: { user: 'jane', groups: ['dev'] } };
  await using server = await ApiServer.start({ log: memoryLogger(), tokens });
  await using listening = await server.listen({ tls: false });
  const message = async (token: string) => {
    const answer = await fetch(`${listening.url}/api/v1/nodes`, { headers: { authorization: `Bearer ${token}` } });
    return ((await answer.json()) as { message: string }).message;
  };
  expect(await message('t1')).toContain('User "jane" cannot list resource "nodes"');
  expect(await message('t2')).toBe('Unauthorized');
  await expect(ApiServer.start({ tokens: { t: { user: '' } } })).rejects.toThrow('tokens: user must be a name, got ""');
});

test.each([
  '/api/v1/namespaces/default/configmaps/../secrets',
  '/api/v1/namespaces/default/configmaps/%2e%2e/secrets',
  '/api/v1/namespaces/default/configmaps/..%2fsecrets',
  '/api/v1/namespaces/default/secrets',
  '/api/v1/namespaces/default//secrets',
  '//api/v1/namespaces/default/secrets',
  '/api/v1/namespaces/default/secrets/',
  '/api/v1/watch/namespaces/default/secrets',
  '/api/v1/namespaces/default/secrets?resource=configmaps',
  '/api/v1/namespaces/default/%73ecrets',
  '/api/v1/namespaces/default/secrets#/configmaps',
])('who may read ConfigMaps does not get to Secrets by %s', async (path) => {
  const { server } = await start();
  const { token } = server.as({ serviceAccount: 'robot', namespace });
  await using listening = await server.listen({ tls: false });
  const { request } = await import('node:http');
  const { hostname, port } = new URL(listening.url);
  const headers = { authorization: `Bearer ${token}` };
  const code = await new Promise((resolve, reject) => {
    const asking = request({ hostname, port, path, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asking.on('error', reject).end();
  });
  expect([400, 403, 404]).toContain(code);
  await server.stop();
});
