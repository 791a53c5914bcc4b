import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { createAuthority } from '../../runtime/crypto/x509.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { type EndpointGuard, type EndpointRoute, HttpEndpoint, type HttpEndpointOptions } from './http-endpoint.js';

/** An endpoint that listens, until the block is left. */
async function listening(
  routes: Readonly<Record<string, EndpointRoute>>,
  options: Partial<HttpEndpointOptions> = {},
  guard?: EndpointGuard,
) {
  const log = memoryLogger();
  const clock = new VirtualClock();
  const metrics = memoryMetrics();
  const parts = { routes: new Map(Object.entries(routes)), runtime: { log, clock, metrics }, ...(guard && { guard }) };
  const endpoint = new HttpEndpoint('test', { host: '127.0.0.1', port: 0, ...options }, parts);
  const stop = new AbortController();
  const ended = endpoint.run({ signal: stop.signal });
  await expect.poll(() => endpoint.url, { timeout: 30_000 }).toBeDefined();
  return {
    ...{ log, clock, metrics },
    url: endpoint.url,
    ask: async (path: string, method = 'GET', headers: Readonly<Record<string, string>> = {}) => {
      // One connection each: the server closes idle ones in its own time.
      const answer = await fetch(`${endpoint.url}${path}`, {
        method,
        headers: { ...headers, connection: 'close' },
      });
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

test('a route of the root answers what no other one does', async () => {
  await using server = await listening({
    '/here': () => ({ body: 'here' }),
    '/': ({ rest }) => ({ body: `root ${rest}` }),
  });
  expect(await server.ask('/here')).toBe('200 here');
  expect(await server.ask('/')).toBe('200 root');
  expect(await server.ask('/assets/a.js')).toBe('200 root assets/a.js');
});

test('a token that came through the proxy of the API server, which drops the header Authorization', async () => {
  const seen: unknown[] = [];
  const guard = async ({ authorization }: { readonly authorization: string | undefined }) => {
    seen.push(authorization);
    return undefined;
  };
  await using server = await listening({ '/here': () => ({ body: '' }) }, {}, guard);
  await server.ask('/here');
  await server.ask('/here', 'GET', { 'x-riata-authorization': 'Bearer forwarded' });
  await server.ask('/here', 'GET', { authorization: 'Bearer own', 'x-riata-authorization': 'Bearer forwarded' });
  expect(seen).toEqual([undefined, 'Bearer forwarded', 'Bearer own']);
});

test('the error of a route is logged, not sent to the client', async () => {
  const broken = () => {
    throw new Error('a secret');
  };
  await using server = await listening({ '/broken': broken });
  expect(await server.ask('/broken')).toBe('500 internal error');
  expect(server.log.messages('error')).toEqual(['a request failed']);
});

test('a lasting failure is logged once, and so is its end', async () => {
  let problem: string | undefined = 'forbidden';
  const sick = () => ({ body: 'well', ...(problem && { status: 503, failure: new Error(problem) }) });
  await using server = await listening({ '/sick': sick });
  for (let i = 0; i < 3; i++) expect(await server.ask('/sick')).toBe('503 well');
  expect(server.log.messages('error')).toHaveLength(1);
  problem = 'refused';
  await server.ask('/sick/below');
  expect(server.log.messages('error')).toHaveLength(2);
  problem = undefined;
  for (let i = 0; i < 2; i++) await server.ask('/sick');
  expect(server.log.messages('info').filter((message) => message.includes('again'))).toEqual([
    'requests succeed again',
  ]);
});

test('a route is notified when the client hangs up', async () => {
  const caller = new AbortController();
  let received: Promise<unknown> | undefined;
  const slow: EndpointRoute = ({ signal }) => {
    received = new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));
    caller.abort();
    return new Promise(() => {});
  };
  await using server = await listening({ '/slow': slow });
  await expect(fetch(`${server.url}/slow`, { signal: caller.signal })).rejects.toThrow();
  expect(await received).toMatchObject({ message: 'the caller has closed the connection' });
});

const years = { notBefore: new Date('2020-01-01'), notAfter: new Date('2099-01-01') };
const authority = createAuthority('test', years);

/** The answer to a request on a connection of its own: its status, and the serial number of the certificate. */
function askTls(url: string): Promise<readonly [number | undefined, string]> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { ca: authority.cert, agent: false }, (answer) => {
      answer.resume();
      resolve([answer.statusCode, (answer.socket as TLSSocket).getPeerCertificate().serialNumber]);
    });
    asked.once('error', reject);
  });
}

test('speaks HTTPS with a certificate, and nothing else then', async () => {
  const tls = authority.issue('localhost', ['127.0.0.1']);
  await using server = await listening({ '/here': () => ({ body: 'well' }) }, { tls });
  const { url = '' } = server;
  const [status] = await askTls(`${url}/here`);
  expect([url.startsWith('https://127.0.0.1:'), status]).toEqual([true, 200]);
  await expect(fetch(url.replace('https', 'http'))).rejects.toThrow();
});

test.each([
  ['none', { cert: 'none', key: 'none' }, /^metrics: tls: .*PEM/],
  ['empty', { cert: '', key: '' }, /^metrics: tls: .*the certificate is empty/],
  ['without a key', { ...authority.issue('a', ['a']), key: '' }, /^metrics: tls: .*the key is empty/],
  ['in no file', { certFile: '/none/tls.crt', keyFile: '/none/tls.key' }, /^metrics: tls: \/none\/tls.crt.*ENOENT/],
])('a certificate that is %s is told by the name of the server', async (_, tls, words) => {
  const runtime = { log: memoryLogger(), clock: new VirtualClock(), metrics: memoryMetrics() };
  const parts = { routes: new Map(), runtime };
  const endpoint = new HttpEndpoint('metrics', { port: 0, tls }, parts);
  await expect(endpoint.run({ signal: new AbortController().signal })).rejects.toThrow(words);
});

test('certificate files are followed; unusable ones are logged, and the last good one stays', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'riata-certificate-'));
  const tls = { certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key') };
  const write = async ({ cert, key }: { readonly cert: string; readonly key: string }) => {
    await writeFile(tls.certFile, cert);
    await writeFile(tls.keyFile, key);
  };
  const [first, second] = [authority.issue('a', ['127.0.0.1']), authority.issue('b', ['127.0.0.1'])];
  try {
    await write(first);
    await using server = await listening({ '/here': () => ({ body: 'well' }) }, { tls });
    const serial = async () => (await askTls(`${server.url}/here`))[1];
    const lookedAgain = async (level: 'info' | 'error', count: number) => {
      await server.clock.advance(10_000);
      const reported = () => server.log.messages(level).filter((message) => message.includes('certificate'));
      await expect.poll(reported, { timeout: 30_000 }).toHaveLength(count);
    };
    const before = await serial();
    await write({ cert: second.cert, key: first.key });
    await lookedAgain('error', 1);
    expect(await serial()).toBe(before);
    await write(second);
    await lookedAgain('info', 1);
    expect(await serial()).not.toBe(before);
    expect(server.metrics.value('certwatcher_read_certificate_total')).toBeGreaterThanOrEqual(2);
    expect(server.metrics.value('certwatcher_read_certificate_errors_total')).toBe(1);
    expect(inspect(server.log.records, { depth: 9 })).not.toContain('PRIVATE');
  } finally {
    await rm(dir, { recursive: true });
  }
});
