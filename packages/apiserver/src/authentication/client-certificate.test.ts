import { connect } from 'node:http2';
import { Agent, request } from 'node:https';
import { memoryLogger } from 'riata/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiServer, type Listening } from '../api-server.js';

const { issueCertificate }: typeof import('../../../../tools/control-plane/x509.mjs') = await import(
  new URL('../../../../tools/control-plane/x509.mjs', import.meta.url).href
);

const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
type Options = Partial<Parameters<typeof issueCertificate>[0]>;

let server: ApiServer;
let listening: Listening;
beforeAll(async () => {
  server = await ApiServer.start({ log: memoryLogger(), token: 't' });
  listening = await server.listen();
});
afterAll(() => server.stop());

const identity = (options: Options = {}) =>
  issueCertificate({ commonName: 'jane', usages: ['client'], issuer: server.authority, ...options });

/** Asks who one is, with a certificate and maybe a token. */
async function whoAmI(shown?: { cert: string; key: string }, headers: Record<string, string> = {}) {
  const agent = new Agent({ ca: listening.ca, ...shown });
  const { hostname, port } = new URL(listening.url);
  const sent = {
    hostname,
    port,
    path,
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', ...headers },
  };
  return new Promise<{ code: number | undefined; body: { status?: { userInfo?: object }; message?: string } }>(
    (resolve, reject) => {
      const asking = request(sent, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () => {
          agent.destroy();
          resolve({ code: answer.statusCode, body: JSON.parse(text) });
        });
      });
      asking.on('error', reject).end(JSON.stringify(review));
    },
  );
}

test('CN is the user, O are its groups', async () => {
  const { code, body } = await whoAmI(identity({ organizations: ['dev', 'ops'] }));
  expect(code).toBe(201);
  expect(body.status?.userInfo).toMatchObject({
    username: 'jane',
    groups: ['dev', 'ops', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
  });
});

test('works over HTTP/2', async () => {
  const session = connect(listening.url, { ca: listening.ca, ...identity() });
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/json' });
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  stream.end(JSON.stringify(review));
  await new Promise((resolve) => stream.on('end', resolve));
  session.close();
  expect(JSON.parse(text).status.userInfo.username).toBe('jane');
});

test.each<[string, () => Options]>([
  ['expired', () => ({ notBefore: new Date(0), notAfter: new Date(1000) })],
  ['of another authority', () => ({ issuer: issueCertificate({ commonName: 'other', isCA: true }) })],
  ['for servers', () => ({ usages: ['server'] })],
])('a certificate that is %s gets 401, unless a token is valid', async (_, options) => {
  const bad = identity(options());
  expect(await whoAmI(bad)).toMatchObject({ code: 401, body: { message: 'Unauthorized' } });
  const { body } = await whoAmI(bad, { authorization: 'Bearer t' });
  expect(body.status?.userInfo).toMatchObject({ username: 'riata-admin' });
});

test('counts before a token', async () => {
  const { body } = await whoAmI(identity(), { authorization: 'Bearer t' });
  expect(body.status?.userInfo).toMatchObject({ username: 'jane' });
});

test('without one, and without a token, a client is anonymous', async () => {
  expect(await whoAmI()).toMatchObject({
    code: 403,
    body: { message: expect.stringContaining('User "system:anonymous" cannot create resource "selfsubjectreviews"') },
  });
});
