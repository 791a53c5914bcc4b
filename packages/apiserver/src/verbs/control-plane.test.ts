import { Buffer } from 'node:buffer';
import { memoryLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';
import type { ApiServerOptions } from '../api-server-options.js';

async function start(options: Pick<ApiServerOptions, 'controllers' | 'scheduler'> = {}) {
  const server = await ApiServer.start({ ...options, log: memoryLogger() });
  const { url } = await server.listen({ tls: false });
  const ask = async (path: string, more: RequestInit & { readonly token?: string } = {}) => {
    const { token = server.token, ...init } = more;
    const answer = await fetch(url + path, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
    return { headers: answer.headers, body: (await answer.json()) as any };
  };
  return { server, ask, [Symbol.asyncDispose]: () => server.stop() };
}

test('the parts of the control plane that are in this process are healthy', async () => {
  const healthy = async (options?: Parameters<typeof start>[0]) => {
    await using at = await start(options);
    const { body } = await at.ask('/api/v1/componentstatuses');
    return body.items.map((item: { metadata: { name: string }; conditions: { status: string }[] }) => [
      item.metadata.name,
      item.conditions[0]?.status,
    ]);
  };
  expect(await healthy()).toEqual([
    ['controller-manager', 'True'],
    ['scheduler', 'False'],
    ['etcd-0', 'True'],
  ]);
  expect((await healthy({ controllers: false }))[0]).toEqual(['controller-manager', 'False']);
  expect((await healthy({ scheduler: true }))[1]).toEqual(['scheduler', 'True']);
});

test('a request is ranked by its user', async () => {
  await using at = await start();
  const create = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
  const { body } = await at.ask('/api/v1/namespaces/default/serviceaccounts/default/token', create);
  const flowControl = '/apis/flowcontrol.apiserver.k8s.io/v1';
  const uidOf = async (path: string) => (await at.ask(`${flowControl}/${path}`)).body.metadata.uid;
  const ranked = async (token?: string) => {
    const { headers } = await at.ask('/api/v1/namespaces/default', token === undefined ? {} : { token });
    return ['flowschema', 'prioritylevel'].map((what) => headers.get(`x-kubernetes-pf-${what}-uid`));
  };
  const of = async (schema: string, level: string) => [
    await uidOf(`flowschemas/${schema}`),
    await uidOf(`prioritylevelconfigurations/${level}`),
  ];
  expect(await ranked()).toEqual(await of('exempt', 'exempt'));
  expect(await ranked(body.status.token)).toEqual(await of('service-accounts', 'workload-low'));
});

test('a token is signed by the given key', async () => {
  await using at = await start();
  const create = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
  const { body } = await at.ask('/api/v1/namespaces/default/serviceaccounts/default/token', create);
  const [head = '', claims = '', signature = ''] = (body.status.token as string).split('.');
  const { body: configuration } = await at.ask('/.well-known/openid-configuration');
  const { body: keys } = await at.ask(new URL(configuration.jwks_uri).pathname);
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString()).iss).toBe(configuration.issuer);
  const curve = { name: 'ECDSA', namedCurve: 'P-256' };
  const key = await crypto.subtle.importKey('jwk', keys.keys[0], curve, false, ['verify']);
  const signed = Buffer.from(`${head}.${claims}`);
  const isRight = await crypto.subtle.verify(
    { name: 'ECDSA', hash: 'SHA-256' },
    key,
    Buffer.from(signature, 'base64url'),
    signed,
  );
  expect(isRight).toBe(true);
});
