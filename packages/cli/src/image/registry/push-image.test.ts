import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock } from 'riata/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goTool } from '../../../../../tools/go-tools/go-tool.mjs';
import { tinyBase } from '../base-image.fixture.js';
import { loadBaseImage } from '../base-image.js';
import { layerOf } from '../oci/layer.js';
import { operatorImage } from '../operator-image.js';
import { httpExchange } from './http-exchange.js';
import { type BlobPush, pushImage } from './push-image.js';
import { account, type RunningRegistry, registryProgram, startRegistry } from './registry.fixture.js';
import { RegistryClient } from './registry-client.js';
import type { RegistryCredentials } from './registry-credentials.js';

const crane = (await goTool('crane')) ?? '';
const http = httpExchange({ clock: systemClock, env: {} });
afterAll(() => http[Symbol.asyncDispose]());

const basic: RegistryCredentials = { type: 'basic', ...account };

function clientOf(registry: string, credentials?: RegistryCredentials) {
  return new RegistryClient(registry, { http, clock: systemClock, credentials: async () => credentials, attempts: 1 });
}

/** The base in the registry, and an operator on top of it, pushed. */
async function pushBoth(registry: RunningRegistry, credentials?: RegistryCredentials) {
  const client = clientOf(registry.host, credentials);
  await pushImage(client, tinyBase(), { repository: 'base/node', tags: ['22'] });
  const base = await loadBaseImage(`${registry.host}/base/node:22`, { cwd: '/', clientOf: () => client });
  const layer = layerOf(new Map([['app/main.mjs', Buffer.from('await 1;')]]), 0);
  const image = operatorImage({ base, layer, main: '/app/main.mjs', labels: {}, created: 0 });
  const how: BlobPush[] = [];
  await pushImage(client, image, {
    ...{ repository: 'team/site-operator', tags: ['1.2.0', 'latest'], mountFrom: 'base/node' },
    onBlob: (_, push) => how.push(push),
  });
  return { client, image, how };
}

describe.skipIf(registryProgram === '')('a push to a real registry', () => {
  describe.each(['none', 'basic', 'token'] as const)('with authentication by %s', (auth) => {
    let registry: RunningRegistry;
    const config = mkdtempSync(join(tmpdir(), 'riata-docker-'));
    const env = { ...process.env, DOCKER_CONFIG: config };
    beforeAll(async () => {
      registry = await startRegistry(auth);
      const auths = {
        [registry.host]: { auth: Buffer.from(`${account.username}:${account.password}`).toString('base64') },
      };
      writeFileSync(join(config, 'config.json'), JSON.stringify(auth === 'none' ? {} : { auths }));
    });
    afterAll(async () => {
      await registry[Symbol.asyncDispose]();
      rmSync(config, { recursive: true, force: true });
    });

    test('mounts what the base has, and crane finds the image complete', async () => {
      const { image, how } = await pushBoth(registry, auth === 'none' ? undefined : basic);
      expect(how.sort()).toEqual(['mounted', 'uploaded', 'uploaded', 'uploaded']); // base layer; own layer, two configs
      const name = `${registry.host}/team/site-operator`;
      // Not synchronously: the token service is in this process.
      const run = async (...args: string[]) => (await promisify(execFile)(crane, args, { env })).stdout.trim();
      expect(await run('digest', `${name}:latest`)).toBe(image.root.digest);
      await run('validate', '--remote', `${name}:1.2.0`);
      expect((await run('ls', name)).split('\n').sort()).toEqual(['1.2.0', 'latest']);
    });

    test('sends nothing again that is there', async () => {
      const { client, image } = await pushBoth(registry, auth === 'none' ? undefined : basic);
      const how: BlobPush[] = [];
      await pushImage(client, image, {
        repository: 'team/site-operator',
        tags: [],
        onBlob: (_, push) => how.push(push),
      });
      expect(new Set(how)).toEqual(new Set(['present']));
    });

    test.skipIf(auth === 'none')('without credentials is refused, with the remedy', async () => {
      const push = pushImage(clientOf(registry.host), tinyBase(), { repository: 'team/x', tags: ['1'] });
      await expect(push).rejects.toThrow(
        new RegExp(
          `^cannot push blob sha256:\\w+ to team/x: ${registry.host} answers 401.*; log in first: docker login ${registry.host}$`,
        ),
      );
    });

    test.skipIf(auth === 'none')(
      'with a wrong password is refused, and the password is not in the message',
      async () => {
        const wrong: RegistryCredentials = { type: 'basic', username: 'test', password: 'guess-that' };
        const error = await pushImage(clientOf(registry.host, wrong), tinyBase(), {
          repository: 'team/x',
          tags: ['1'],
        }).catch((e) => e);
        expect(error.message).toMatch(/answers 401/);
        expect(JSON.stringify([error, error.message, error.stack])).not.toMatch(/guess-that|Z3Vlc3MtdGhhd/);
      },
    );

    test.skipIf(auth !== 'token')('exchanges a refresh token, and asks for the scopes it needs', async () => {
      await pushBoth(registry, { type: 'refresh', token: 'refresh-token-of-test' });
      expect(registry.tokens.at(-1)).toEqual({
        by: 'refresh',
        scopes: ['repository:team/site-operator:pull,push', 'repository:base/node:pull'],
      });
    });
  });
});
