import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { dockerCredentials } from './registry-credentials.js';

const folder = mkdtempSync(join(tmpdir(), 'riata-credentials-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const env = { DOCKER_CONFIG: folder, PATH: `${folder}${delimiter}${process.env.PATH}` };

function storeOf(config: unknown) {
  writeFileSync(join(folder, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config));
  return dockerCredentials({ env });
}

/** A credential helper that answers with a script. */
function helper(name: string, script: string) {
  const path = join(folder, `docker-credential-${name}`);
  writeFileSync(path, `#!/bin/sh\nread server\n${script}\n`);
  chmodSync(path, 0o755);
}

const auth = (text: string) => Buffer.from(text).toString('base64');

describe('credentials of the Docker config', () => {
  test('are found by host, by URL, and by the longest path', async () => {
    const store = storeOf({
      auths: {
        'registry.example.com': { auth: auth('jane:a:b') },
        'https://other.example.com/v2/': { username: 'joe', password: 'p' },
        'registry.example.com/team': { auth: auth('team:t') },
        'https://index.docker.io/v1/': { identitytoken: 'idt' },
        'token.example.com': { registrytoken: 'rt' },
        'empty.example.com': {},
      },
    });
    expect(await store('registry.example.com', 'x/y')).toEqual({ type: 'basic', username: 'jane', password: 'a:b' });
    expect(await store('registry.example.com', 'team/y')).toEqual({ type: 'basic', username: 'team', password: 't' });
    expect(await store('registry.example.com', 'teams/y')).toMatchObject({ username: 'jane' });
    expect(await store('other.example.com', 'x')).toEqual({ type: 'basic', username: 'joe', password: 'p' });
    expect(await store('docker.io', 'library/node')).toEqual({ type: 'refresh', token: 'idt' });
    expect(await store('token.example.com', 'x')).toEqual({ type: 'bearer', token: 'rt' });
    expect(await store('empty.example.com', 'x')).toBeUndefined();
    expect(await store('unknown.example.com', 'x')).toBeUndefined();
  });

  test('come from helpers, which get the name on standard input', async () => {
    helper('cloud', `echo "{\\"ServerURL\\":\\"$server\\",\\"Username\\":\\"user-of-$server\\",\\"Secret\\":\\"s\\"}"`);
    helper(
      'keychain',
      `case "$server" in *docker*) echo '{"Username":"<token>","Secret":"t"}';; *) echo "credentials not found in native keychain"; exit 1;; esac`,
    );
    const store = storeOf({ credHelpers: { 'cloud.example.com': 'cloud' }, credsStore: 'keychain' });
    expect(await store('cloud.example.com', 'x')).toEqual({
      type: 'basic',
      username: 'user-of-cloud.example.com',
      password: 's',
    });
    expect(await store('docker.io', 'library/node')).toEqual({ type: 'refresh', token: 't' });
    expect(await store('other.example.com', 'x')).toBeUndefined();
  });

  test('failures name the file or program, and no secret', async () => {
    helper('broken', `echo "secret-text"; exit 3`);
    helper('odd', `echo "secret-text"`);
    const store = storeOf({ credHelpers: { a: 'broken', b: 'odd', c: 'missing', d: '../evil' } });
    await expect(store('a', 'x')).rejects.toThrow(
      /^docker-credential-broken get: exit code 3; try it with: echo a \| docker-credential-broken get$/,
    );
    await expect(store('b', 'x')).rejects.toThrow(/^docker-credential-odd get: malformed JSON$/);
    await expect(store('c', 'x')).rejects.toThrow(
      'docker-credential-missing: not found on the PATH; the Docker config names it',
    );
    await expect(store('d', 'x')).rejects.toThrow('credential helper "../evil" is not a valid name');
    await expect(storeOf('{"auths": secret-text')('a', 'x')).rejects.toThrow(/config\.json: malformed JSON$/);
    await expect(storeOf({ auths: { a: { auth: 'c2VjcmV0' } } })('a', 'x')).rejects.toThrow(
      'Docker config: auth of "a" is not base64 of user:password; log in again',
    );
  });

  test('no file means nobody', async () => {
    expect(await dockerCredentials({ env: { HOME: join(folder, 'nowhere') } })('a', 'x')).toBeUndefined();
    expect(await dockerCredentials({ env: {} })('a', 'x')).toBeUndefined();
  });
});
