import { systemClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { tinyBase } from '../base-image.fixture.js';
import type { HttpAnswer, HttpExchange, HttpRequest } from './http-exchange.js';
import { pushImage } from './push-image.js';
import { RegistryClient } from './registry-client.js';
import type { RegistryCredentials } from './registry-credentials.js';
import { pullManifest } from './registry-image.js';

type Answer = { status: number; headers?: Record<string, string | undefined>; body?: string } | Error;

/** A registry that is a function, on a clock that does not wait. */
function scripted(registry: string, answer: (request: HttpRequest) => Answer, credentials?: RegistryCredentials) {
  const requests: HttpRequest[] = [];
  const waits: number[] = [];
  const http: HttpExchange = {
    async send(request) {
      requests.push(request);
      const given = answer(request);
      if (given instanceof Error) throw given;
      const body = (async function* () {
        yield Buffer.from(given.body ?? '');
      })();
      const result: HttpAnswer = {
        status: given.status,
        headers: given.headers ?? {},
        url: request.url,
        body,
        discard: async () => {},
      };
      return result;
    },
    async [Symbol.asyncDispose]() {},
  };
  const clock = { ...systemClock, sleep: async (ms: number) => void waits.push(ms) };
  return {
    requests,
    waits,
    client: new RegistryClient(registry, { http, clock, credentials: async () => credentials }),
  };
}

const reference = { registry: 'registry.example.com', repository: 'team/site', tag: '1' };
const basic: RegistryCredentials = { type: 'basic', username: 'jane', password: 'pass' };

describe('a registry client', () => {
  test('waits and tries again after what may pass, as long as the registry asks for', async () => {
    const answers: Answer[] = [
      { status: 503 },
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 200, headers: { 'content-type': 'application/vnd.oci.image.manifest.v1+json' }, body: '{}' },
    ];
    const { client, waits } = scripted('registry.example.com', () => answers.shift() as Answer);
    expect((await pullManifest(client, reference)).content.toString()).toBe('{}');
    expect(waits).toEqual([500, 7000]);
  });

  test('gives up after some attempts, and at once where it makes no sense', async () => {
    const unavailable = scripted('registry.example.com', () => ({ status: 503, body: '<html>' }));
    await expect(pullManifest(unavailable.client, reference)).rejects.toThrow(
      'cannot pull registry.example.com/team/site:1: registry.example.com answers 503',
    );
    expect(unavailable.requests).toHaveLength(5);
    const body = '{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}';
    const missing = scripted('registry.example.com', () => ({ status: 404, body }));
    await expect(pullManifest(missing.client, reference)).rejects.toThrow(
      /answers 404 MANIFEST_UNKNOWN: manifest unknown; check the name$/,
    );
    expect(missing.requests).toHaveLength(1);
  });

  test('never sends credentials to a token service without encryption, or on this machine', async () => {
    for (const realm of ['http://auth.example.com/token', 'http://127.0.0.1:80/token', 'nonsense']) {
      const headers = { 'www-authenticate': `Bearer realm="${realm}"` };
      const { client, requests } = scripted('registry.example.com', () => ({ status: 401, headers }), basic);
      await expect(pullManifest(client, reference)).rejects.toThrow('must be an https URL');
      expect(requests).toHaveLength(1);
    }
  });

  test('never sends its token to where an upload leads outside of the registry', async () => {
    const { client, requests } = scripted(
      'registry.example.com',
      ({ method, url, headers }) => {
        if (url.startsWith('https://storage.example.com/')) return { status: 201 };
        if (headers?.authorization === undefined) return { status: 401, headers: { 'www-authenticate': 'Basic' } };
        if (method === 'HEAD') return { status: 404 };
        if (method === 'POST')
          return { status: 202, headers: { location: 'https://storage.example.com/up?signature=x' } };
        return { status: 201 };
      },
      basic,
    );
    await pushImage(client, tinyBase(['linux/amd64']), { repository: 'team/site', tags: ['1'] });
    const outside = requests.filter(({ url }) => url.startsWith('https://storage.example.com/'));
    expect(outside).toHaveLength(2);
    for (const { headers } of outside) expect(headers).not.toHaveProperty('authorization');
  });

  test('sends pieces where a proxy refuses a large request, in the size that the registry asks for', async () => {
    const image = tinyBase(['linux/amd64']);
    const sent: Buffer[] = [];
    const ranges: string[] = [];
    const { client } = scripted('registry.example.com', ({ method, url, body, headers }) => {
      if (url.includes('/manifests/')) return { status: 201 };
      if (method === 'HEAD') return { status: url.includes(image.blobs[0]?.digest as string) ? 404 : 200 };
      if (method === 'POST') return { status: 202, headers: { location: '/up', 'oci-chunk-min-length': '100' } };
      if (method === 'PUT' && body !== undefined) return { status: 413 };
      if (method === 'PUT') return { status: 201 };
      sent.push(Buffer.from(body as Uint8Array));
      ranges.push(headers?.['content-range'] as string);
      return { status: 202, headers: { location: `/up${sent.length}` } };
    });
    await pushImage(client, image, { repository: 'team/site', tags: [], chunkSize: 64 });
    const size = image.blobs[0]?.size as number;
    expect(Buffer.concat(sent).byteLength).toBe(size);
    expect(ranges[0]).toBe('0-99');
    expect(ranges.at(-1)).toBe(`${Math.floor(size / 100) * 100}-${size - 1}`);
  });

  test('begins an upload again that broke off', async () => {
    let failures = 1;
    const { client, requests } = scripted('registry.example.com', ({ method, url }) => {
      if (url.includes('/manifests/')) return { status: 201 };
      if (method === 'HEAD') return { status: 404 };
      if (method === 'POST') return { status: 202, headers: { location: '/up' } };
      return failures-- > 0 ? { status: 502 } : { status: 201 };
    });
    await pushImage(client, tinyBase(['linux/amd64']), { repository: 'team/site', tags: [] });
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(3); // two blobs, one of them twice
  });

  test('refuses content that is not what was asked for by digest', async () => {
    const headers = { 'content-type': 'application/vnd.oci.image.manifest.v1+json' };
    const { client } = scripted('registry.example.com', () => ({ status: 200, headers, body: '{"evil":true}' }));
    const digest = `sha256:${'0'.repeat(64)}`;
    await expect(pullManifest(client, { ...reference, digest })).rejects.toThrow(
      'the registry sent content with the digest sha256:',
    );
  });
});
