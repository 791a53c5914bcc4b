import { connect } from 'node:net';
import { memoryLogger, systemClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from './api-server.js';
import { MemoryStorage } from './storage/memory-storage.js';

const secrets = '/api/v1/namespaces/default/secrets';
const hidden = 'hidden-value-of-a-secret';
const token = 'token-of-the-administrator';
const password = 'password-of-somebody';

/** A storage that fails at will, as a disk may. */
class FailingStorage extends MemoryStorage {
  fails = false;

  override put(...args: Parameters<MemoryStorage['put']>): ReturnType<MemoryStorage['put']> {
    if (this.fails) throw new Error('the disk is broken');
    return super.put(...args);
  }
}

test('neither tokens nor contents of Secrets are logged, whatever goes wrong', async () => {
  const log = memoryLogger();
  const storage = new FailingStorage({ clock: systemClock });
  await using server = await ApiServer.start({ log, token, storage });
  const { url } = await server.listen({ tls: false });
  const send = (method: string, path: string, body: string, authorization = `Bearer ${token}`) =>
    fetch(url + path, { method, body, headers: { authorization, 'content-type': 'application/json' } });
  const secret = (name: string) => JSON.stringify({ metadata: { name }, stringData: { password: hidden } });
  expect((await send('POST', secrets, secret('a'))).status).toBe(201);
  // Refused: no JSON, no such field, a name that cannot be one, a type that does not fit.
  await send('POST', secrets, `{"stringData":{"password":"${hidden}"`);
  await send('POST', `${secrets}?fieldValidation=Strict`, JSON.stringify({ ...JSON.parse(secret('b')), no: hidden }));
  await send('POST', secrets, secret('NOT A NAME'));
  await send(
    'POST',
    secrets,
    JSON.stringify({ metadata: { name: 'c' }, type: 'kubernetes.io/tls', data: { [hidden]: '' } }),
  );
  // Bad credentials of all sorts, in the wrong places, too.
  await send('POST', secrets, secret('d'), `Bearer ${password}`);
  await send('POST', secrets, secret('d'), `Basic ${password}`);
  await send('POST', `${secrets}?access_token=${password}`, secret('d'), '');
  await send('POST', `/api/v1/watch?token=${password}`, secret('d'));
  // A webhook that fails, and a failure of the server's own.
  server.handle('https://hooks.example.com/', () => {
    throw new Error('the hook is broken');
  });
  const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }];
  const webhook = { name: 'a.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'], rules };
  const clientConfig = { url: 'https://hooks.example.com/' };
  await send('POST', hooks, JSON.stringify({ metadata: { name: 'h' }, webhooks: [{ ...webhook, clientConfig }] }));
  expect((await send('POST', secrets, secret('e'))).status).toBe(500);
  await send('DELETE', `${hooks}/h`, '');
  storage.fails = true;
  expect((await send('POST', secrets, secret('f'))).status).toBe(500);
  // Bytes that are no request.
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.end(`Authorization: Bearer ${token}\r\n\r\n`);
  for await (const _ of socket);
  const logged = JSON.stringify(log.records.map((record) => [record, String(record.fields.error)]));
  expect(logged).toContain('the disk is broken');
  for (const text of [hidden, Buffer.from(hidden).toString('base64'), token, password]) {
    expect(logged).not.toContain(text);
  }
});
