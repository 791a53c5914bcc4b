import { get } from 'node:https';
import { expect, test } from 'vitest';
import { memoryLogger } from '../runtime/memory-logger.js';
import { createAuthority } from '../runtime/x509.js';
import { type EndpointRoute, HttpEndpoint, type HttpEndpointOptions } from './http-endpoint.js';

/** An endpoint that listens, until the block is left. */
async function listening(routes: Readonly<Record<string, EndpointRoute>>, options: Partial<HttpEndpointOptions> = {}) {
  const log = memoryLogger();
  const parts = { routes: new Map(Object.entries(routes)), log };
  const endpoint = new HttpEndpoint('test', { host: '127.0.0.1', port: 0, ...options }, parts);
  const stop = new AbortController();
  const ended = endpoint.run({ signal: stop.signal });
  await expect.poll(() => endpoint.url, { timeout: 30_000 }).toBeDefined();
  return {
    log,
    url: endpoint.url,
    ask: async (path: string, method = 'GET') => {
      const answer = await fetch(`${endpoint.url}${path}`, { method });
      return `${answer.status} ${(await answer.text()).trimEnd()}`.trimEnd();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

test('answers by path, and what it does not know is no reason to log', async () => {
  await using server = await listening({ '/here': ({ rest, query }) => ({ body: `${rest}?${query}` }) });
  expect(await server.ask('/here')).toBe('200 ?');
  expect(await server.ask('/here/a/b?c=d')).toBe('200 a/b?c=d');
  expect(await server.ask('/here', 'HEAD')).toBe('200');
  expect(await server.ask('/hereabouts')).toBe('404 not found');
  expect(await server.ask('/here', 'POST')).toBe('405 method not allowed');
  expect(await server.ask('//')).toBe('400 bad request');
  expect(server.log.messages('error')).toEqual([]);
});

test('a route that fails is told in the log, not to whoever asks', async () => {
  const broken = () => {
    throw new Error('a secret');
  };
  await using server = await listening({ '/broken': broken });
  expect(await server.ask('/broken')).toBe('500 internal error');
  expect(server.log.messages('error')).toEqual(['a request failed']);
});

const years = { notBefore: new Date('2020-01-01'), notAfter: new Date('2099-01-01') };

test('speaks HTTPS with a certificate, and nothing else then', async () => {
  const authority = createAuthority('test', years);
  const tls = authority.issue('localhost', ['127.0.0.1']);
  await using server = await listening({ '/here': () => ({ body: 'well' }) }, { tls });
  const { url = '' } = server;
  const status = await new Promise((resolve, reject) => {
    const asked = get(`${url}/here`, { ca: authority.cert, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.once('error', reject);
  });
  expect([url.startsWith('https://127.0.0.1:'), status]).toEqual([true, 200]);
  await expect(fetch(url.replace('https', 'http'))).rejects.toThrow();
});

test('a certificate that is none is told by the name of the server', async () => {
  const tls = { cert: 'none', key: 'none' };
  const endpoint = new HttpEndpoint('metrics', { port: 0, tls }, { routes: new Map(), log: memoryLogger() });
  await expect(endpoint.run({ signal: new AbortController().signal })).rejects.toThrow(/^metrics: tls: .*PEM/);
});
