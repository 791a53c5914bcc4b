import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createClient } from '../../client/create-client.js';
import { ConfigMap } from '../../kinds/index.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { staticCredentials } from '../auth/static-credentials.js';
import type { Credentials } from '../config/rest-config.js';
import type { WatchEvent } from '../stream/watch-event.js';
import { type Answer, answeringTransport } from '../transport/answering-transport.fixture.js';
import { OwnSecrets, redactAll } from './own-secrets.js';

const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzaG9wIn0.c2ln+bmF0/dXJl';
const json = { 'content-type': 'application/json' };
const status = (text: string, code = 500) => ({
  ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason: 'InternalError' },
  message: `webhook said: ${text}`,
  details: { name: text, causes: [{ reason: 'X', message: `got ${text}`, field: text }] },
});

/** A client, and everything visible of its failures. */
function seenOf(answer: Answer, credentials: Credentials = staticCredentials({ token })) {
  const log = memoryLogger();
  const runtime = { clock: new VirtualClock(), log };
  const transport = answeringTransport([{ headers: json, ...answer }]);
  const client = createClient({ server: 'http://a', credentials }, { transport, runtime });
  return {
    client,
    async of(call: (client: ReturnType<typeof createClient>) => Promise<unknown>): Promise<string> {
      const outcome = await call(client).catch((error: unknown) => error);
      return inspect([outcome, log.records], {
        depth: 12,
        showHidden: true,
        maxStringLength: null,
        maxArrayLength: null,
      });
    },
  };
}
const get = (client: ReturnType<typeof createClient>) => client.get(ConfigMap, { namespace: 'a', name: 'b' });
const list = (client: ReturnType<typeof createClient>) => client.list(ConfigMap);
const watch = async (client: ReturnType<typeof createClient>) => {
  const events: WatchEvent<ConfigMap>[] = [];
  for await (const event of await client.watch(ConfigMap)) events.push(event);
  return events;
};

describe('what a server echoes of the credentials is taken out', () => {
  test.each<[string, Answer, (client: ReturnType<typeof createClient>) => Promise<unknown>]>([
    ['a Status', { status: 500, body: status(`Bearer ${token}`) }, get],
    ['a Status whose text is nothing but the token', { status: 403, body: status(token, 403) }, list],
    ['a Status that refuses a watch', { status: 500, body: status(token) }, watch],
    ['a plain text', { status: 502, headers: {}, body: `upstream: "${token}" ${'x'.repeat(600)}` }, get],
    ['a text that is cut off within it', { status: 502, headers: {}, body: `${'x'.repeat(490)}${token}` }, get],
    [
      'a page of a proxy',
      { status: 502, headers: { 'content-type': 'text/html' }, body: `<html><b>${token}</b></html>` },
      get,
    ],
    ['other JSON', { status: 500, body: { error: token } }, get],
    ['broken JSON', { status: 500, body: `{"message":"${token}` }, get],
    ['a Status with a success', { status: 200, body: status(token) }, get],
    ['broken JSON with a success', { status: 200, body: `${token}{` }, get],
    ['a Status in place of a list', { status: 200, body: status(token) }, list],
    ['a text in place of a list', { status: 200, body: token }, list],
    ['a Status in place of events', { status: 200, body: status(token) }, watch],
    ['a text in place of events', { status: 200, body: token }, watch],
    ['an ERROR event', { status: 200, body: { type: 'ERROR', object: status(token) } }, watch],
    ['a redirect', { status: 302, headers: { location: `https://login/${encodeURIComponent(token)}` }, body: '' }, get],
    [
      'a Warning',
      { status: 200, headers: { ...json, warning: `299 - "you sent ${token}"` }, body: { kind: 'ConfigMap' } },
      get,
    ],
  ])('%s', async (_, answer, call) => {
    const seen = await seenOf(answer).of(call);
    expect(seen).not.toContain(token);
    expect(seen).not.toContain(encodeURIComponent(token));
    expect(seen).not.toContain(token.slice(0, 20));
    if (!/broken|cut off|place of/.test(_)) expect(seen).toContain('REDACTED');
  });

  test('the warnings of a result, and the headers of a stream', async () => {
    const warning = `299 - "you sent ${token}"`;
    const { client } = seenOf({ status: 200, headers: { ...json, warning, 'x-echo': token }, body: '{}' });
    const result = await client.rest.get().absPath('/x').do();
    expect(result.warnings).toEqual([{ code: 299, agent: '-', text: 'you sent REDACTED' }]);
    const stream = await client.rest.get().absPath('/x').stream();
    expect(stream.headers).toMatchObject({ 'x-echo': 'REDACTED' });
    stream.close();
  });

  test('an object is left as it is', async () => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'a', name: 'b' }, data: { token } };
    expect(await get(seenOf({ body }).client)).toMatchObject({ data: { token } });
  });
});

describe('whatever form it has', () => {
  test('a token in base64, and in a URL', async () => {
    const bytes = Buffer.from(token);
    for (const form of [bytes.toString('base64'), bytes.toString('base64url'), encodeURIComponent(token)]) {
      expect(await seenOf({ status: 500, body: status(form) }).of(get)).not.toContain(form);
    }
  });

  test('basic auth: the header, name and password, and the password alone', async () => {
    const credentials = staticCredentials({ basic: { username: 'jane', password: 'sësame?' } });
    const encoded = Buffer.from('jane:sësame?').toString('base64');
    for (const form of [`Basic ${encoded}`, encoded, encoded.replace(/=+$/, ''), 'jane:sësame?', 'sësame?']) {
      const seen = await seenOf({ status: 401, body: status(form, 401) }, credentials).of(get);
      expect(seen).not.toContain(encoded.slice(0, 12));
      expect(seen).not.toContain('sësame');
      expect(seen).toContain('REDACTED');
    }
  });

  test('the key of a client certificate, as PEM, by lines, and as in a kubeconfig', async () => {
    const lines = [
      'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj',
      'MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3S',
      'short==',
    ];
    const key = `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
    const credentials = staticCredentials({ cert: 'CERTIFICATE', key });
    for (const form of [key, lines[1] ?? '', lines.slice(0, 2).join(''), Buffer.from(key).toString('base64')]) {
      const seen = await seenOf({ status: 500, body: status(form) }, credentials).of(get);
      expect(seen).not.toContain(form.slice(0, 40));
      expect(seen).not.toContain(lines[1]);
    }
  });

  test('any private key', () => {
    const key = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----';
    expect(new OwnSecrets().redact(`a ${key} b`)).toBe('a REDACTED b');
  });

  test('tokens that were rotated, as by a plugin, of which a request may be in flight', async () => {
    let turn = 0;
    const credentials: Credentials = {
      authorization: async () => `Bearer token-number-${turn}`,
      tls: async () => ({}),
      refresh: async () => {
        turn += 1;
        return true;
      },
    };
    const seen = await seenOf({ status: 401, body: status('token-number-0, token-number-1', 401) }, credentials).of(
      get,
    );
    expect(turn).toBe(1);
    expect(seen).not.toContain('token-number');
    expect(seen).toContain('REDACTED, REDACTED');
  });

  test('a token that a request brings along', async () => {
    const { client } = seenOf({ status: 500, body: status('my-own-token') });
    const request = client.rest.get().absPath('/x').setHeader('Authorization', 'Bearer my-own-token');
    await expect(request.do()).rejects.toThrow('webhook said: REDACTED');
  });

  test('but not words of a few letters', () => {
    const secrets = new OwnSecrets();
    secrets.note(`Basic ${Buffer.from('a:is').toString('base64')}`);
    expect(secrets.redact('this is a:is')).toBe('this is REDACTED');
  });

  test('the last of many are known', () => {
    const secrets = new OwnSecrets();
    for (let i = 0; i < 100; i += 1) secrets.note(`Bearer secret-${i}-token`);
    expect(secrets.redact('secret-99-token secret-95-token')).toBe('REDACTED REDACTED');
  });
});

test('JSON without secrets is the same value', () => {
  const value = { a: ['b', { c: 1 }], d: null };
  expect(redactAll(value, (text) => text)).toBe(value);
  expect(redactAll({ 'x-y': ['y'] }, (text) => text.replace('y', 'z'))).toEqual({ 'x-z': ['z'] });
});
