import { createClient, type KubeClient } from 'riata';
import { Secret, SelfSubjectReview, ServiceAccount, TokenReview } from 'riata/kinds';
import { VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';

const namespace = 'default';
const account = { namespace, name: 'robot' };

async function tokenOf(client: KubeClient, spec: object = {}): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  const tokens = client.subresource('token');
  return (await tokens.create<{ status: { token: string } }>(ServiceAccount, account, body)).status.token;
}

async function review(client: KubeClient, token: string) {
  return (await client.create(TokenReview({ metadata: {}, spec: { token } }))).status;
}

async function start() {
  const clock = new VirtualClock();
  const server = await ApiServer.start({ clock, token: 'the-token' });
  const client = createClient(server.config, { runtime: { clock } });
  await client.create(ServiceAccount({ metadata: account }));
  return { clock, server, client };
}

test('a token is valid until it expires, and only on its own server', async () => {
  const { clock, server, client } = await start();
  const token = await tokenOf(client, { expirationSeconds: 600 });
  expect(await review(client, token)).toMatchObject({
    authenticated: true,
    user: { username: 'system:serviceaccount:default:robot' },
    audiences: ['https://kubernetes.default.svc'],
  });
  expect(await review(client, 'the-token')).toMatchObject({ authenticated: true, user: { username: 'riata-admin' } });
  expect((await review(client, `${token.slice(0, -8)}AAAAAAAA`))?.error).toBe('invalid bearer token');
  expect((await review(client, 'a.b.c'))?.error).toBe('invalid bearer token');
  await using other = await start().then(({ server: one, client: its }) => ({
    client: its,
    [Symbol.asyncDispose]: () => one.stop(),
  }));
  expect((await review(other.client, token))?.authenticated).toBeUndefined();
  await clock.advance(700_000);
  expect((await review(client, token))?.error).toContain('service account token has expired');
  await server.stop();
});

test('a token goes with its account, and with what it is bound to', async () => {
  const { server, client } = await start();
  await client.create(Secret({ metadata: { namespace, name: 's' } }));
  const token = await tokenOf(client);
  const bound = await tokenOf(client, { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } });
  expect((await review(client, bound))?.authenticated).toBe(true);
  await client.delete(Secret, { namespace, name: 's' });
  expect((await review(client, bound))?.error).toContain('service account token has been invalidated');
  await client.create(Secret({ metadata: { namespace, name: 's' } }));
  expect((await review(client, bound))?.error).toMatch(/secret UID .* does not match service account secret ref claim/);
  await client.delete(ServiceAccount, account);
  expect((await review(client, token))?.error).toContain('serviceaccounts "robot" not found');
  await client.create(ServiceAccount({ metadata: account }));
  expect((await review(client, token))?.error).toMatch(/service account UID .* does not match claim/);
  await server.stop();
});

test('who shows it is that account', async () => {
  const { clock, server, client } = await start();
  const token = await tokenOf(client);
  const as = (bearer: string) => {
    const credentials = { ...server.config.credentials, authorization: async () => `Bearer ${bearer}` };
    return createClient({ ...server.config, credentials }, { runtime: { clock } });
  };
  const self = await as(token).create(SelfSubjectReview({ metadata: {} }));
  expect(self.status?.userInfo?.username).toBe('system:serviceaccount:default:robot');
  await expect(as(token).get(ServiceAccount, account)).rejects.toMatchObject({ status: { code: 403 } });
  const admin = await client.create(SelfSubjectReview({ metadata: {} }));
  expect(admin.status?.userInfo?.username).toBe('riata-admin');
  const foreign = await tokenOf(client, { audiences: ['somebody-else'] });
  await expect(as(foreign).get(ServiceAccount, account)).rejects.toMatchObject({ status: { code: 401 } });
  await client.delete(ServiceAccount, account);
  await expect(as(token).get(Secret, { namespace, name: 's' })).rejects.toMatchObject({ status: { code: 401 } });
  await server.stop();
});
