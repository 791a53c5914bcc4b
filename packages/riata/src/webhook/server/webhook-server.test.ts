import { Buffer } from 'node:buffer';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connect2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createAuthority } from '../../runtime/crypto/x509.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { Shutdown } from '../../runtime/stop-reasons.js';
import type { WebhookAnswer } from '../webhook-route.js';
import { ask1, ask2, echo, webhookAt } from './webhook.fixture.js';
import { type StandaloneWebhookOptions, WebhookServer } from './webhook-server.js';

/** Without an API server: certificates in files, and nothing to install. */
const directory = mkdtempSync(join(tmpdir(), 'webhook-server-'));
const files = { certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') };
const validity = { notBefore: new Date('2020-01-01'), notAfter: new Date('2120-01-01') };
const authority = createAuthority('test', validity);
const { cert, key } = authority.issue('localhost', ['127.0.0.1'], validity);
writeFileSync(files.certFile, cert);
writeFileSync(files.keyFile, key);
afterAll(() => rmSync(directory, { recursive: true }));

const runs: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of runs.splice(0)) await stop();
});

async function serve(options: StandaloneWebhookOptions) {
  const metrics = memoryMetrics();
  const runtime = { log: silentLogger, metrics };
  const server = new WebhookServer({ port: 0, certificates: files, install: false, runtime, ...options });
  const stop = new AbortController();
  const ran = server.run({ signal: stop.signal });
  const end = async () => {
    stop.abort(new Shutdown());
    await ran;
  };
  runs.push(end);
  await server.listening;
  return { server, metrics, url: server.url as string, end };
}

test.each([
  ['HTTP/1.1', ask1],
  ['HTTP/2', ask2],
])('answers over %s on the path that it is asked for, and on no other', async (_, ask) => {
  const { url } = await serve({ webhooks: [webhookAt('/somepath', echo)] });
  expect(await ask(`${url}/somepath`, { body: 'hello' })).toMatchObject({ status: 200, body: '{"got":"hello"}' });
  expect(await ask(`${url}/other`)).toMatchObject({ status: 404 });
  expect(await ask(`${url}/somepath/below`)).toMatchObject({ status: 404 });
});

test.each([
  ['HTTP/1.1', ask1],
  ['HTTP/2', ask2],
])('refuses other methods and bodies past the limit over %s', async (_, ask) => {
  const { url } = await serve({ webhooks: [webhookAt('/somepath', echo)], bodyLimit: 1000 });
  expect(await ask(`${url}/somepath`, { method: 'GET' })).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  expect(await ask(`${url}/somepath`, { body: 'x'.repeat(1000) })).toMatchObject({ status: 200 });
  const large = await ask(`${url}/somepath`, { body: 'x'.repeat(1001) });
  expect(large).toMatchObject({
    status: 413,
    body: '{"error":"the request is larger than the limit of 1000 bytes"}\n',
  });
  expect(await ask(`${url}/somepath`, { body: 'x' })).toMatchObject({ status: 200 });
});

test('a route may take larger bodies than others', async () => {
  const large = webhookAt('/large', echo, {
    bind: () => [{ path: '/large', bodyLimit: 2000, answer: async (request) => echo(request) }],
  });
  const { url } = await serve({ webhooks: [large, webhookAt('/somepath', echo)], bodyLimit: 1000 });
  expect(await ask1(`${url}/large?timeout=10s`, { body: 'x'.repeat(2000) })).toMatchObject({ status: 200 });
  expect(await ask1(`${url}/large`, { body: 'x'.repeat(2001) })).toMatchObject({ status: 413 });
  expect(await ask1(`${url}/somepath`, { body: 'x'.repeat(1001) })).toMatchObject({ status: 413 });
});

test('a body of unknown length is refused once it is too long', async () => {
  const { url } = await serve({ webhooks: [webhookAt('/somepath', echo)], bodyLimit: 1000 });
  const session = connect2(url, { rejectUnauthorized: false });
  const stream = session.request({ ':method': 'POST', ':path': '/somepath' });
  const status = new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])));
  stream.on('error', () => {});
  stream.write('x'.repeat(2000));
  expect(await status).toBe(413);
  session.destroy();
});

test('TLS 1.1 is refused, 1.2 and 1.3 are served', async () => {
  const { url } = await serve({ webhooks: [webhookAt('/somepath', echo)] });
  const by = (version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3') =>
    ask1(`${url}/somepath`, { versions: { minVersion: version, maxVersion: version } });
  await expect(by('TLSv1.1')).rejects.toThrow();
  expect(await by('TLSv1.2')).toMatchObject({ status: 200 });
  expect(await by('TLSv1.3')).toMatchObject({ status: 200 });
});

test('an answer may come in pieces', async () => {
  async function* pieces() {
    for (let at = 0; at < 100; at += 1) yield `${at},`.padEnd(5000, ' ');
  }
  const { url } = await serve({ webhooks: [webhookAt('/somepath', () => ({ status: 200, body: pieces() }))] });
  for (const ask of [ask1, ask2]) {
    const { body } = await ask(`${url}/somepath`);
    expect([body.length, body.slice(-5000).trim()]).toEqual([500_000, '99,']);
  }
});

test('counts requests under the names of controller-runtime', async () => {
  const failing = webhookAt('/failing', () => Promise.reject(new Error('secret')));
  const { url, metrics } = await serve({ webhooks: [webhookAt('/somepath', echo), failing] });
  await ask1(`${url}/somepath`);
  await ask2(`${url}/somepath`);
  const failed = await ask1(`${url}/failing`);
  expect(failed).toMatchObject({ status: 500, body: '{"error":"webhook \\"failing\\" failed; see its log"}\n' });
  await ask1(`${url}/nowhere`);
  const requests = (webhook: string, code: string) =>
    metrics.value('controller_runtime_webhook_requests_total', { webhook, code });
  expect([requests('/somepath', '200'), requests('/somepath', '500')]).toEqual([2, 0]);
  expect([requests('/failing', '500'), requests('/nowhere', '404')]).toEqual([1, undefined]);
  expect(metrics.observed('controller_runtime_webhook_latency_seconds', { webhook: '/somepath' })).toHaveLength(2);
  expect(metrics.value('controller_runtime_webhook_requests_in_flight', { webhook: '/somepath' })).toBe(0);
  expect(metrics.value('controller_runtime_webhook_panics_total')).toBe(1);
});

test('a duplicate name or path is refused, and free again once it is removed', async () => {
  const { server, url } = await serve({});
  const first = server.add(webhookAt('/somepath', echo));
  expect(() => server.add(webhookAt('/somepath', echo))).toThrow('webhook "somepath" already exists');
  expect(() => server.add(webhookAt('/somepath', echo, { name: 'other' }))).toThrow(
    'webhook "other": path /somepath is already served by webhook "somepath"; choose another path',
  );
  first[Symbol.dispose]();
  expect(await ask1(`${url}/somepath`)).toMatchObject({ status: 404 });
  server.add(webhookAt('/somepath', echo));
  expect(await ask1(`${url}/somepath`)).toMatchObject({ status: 200 });
});

test('a port that is taken is an error that names the remedy', async () => {
  const { url } = await serve({});
  const port = Number(new URL(url).port);
  const other = new WebhookServer({ port, certificates: files, install: false, runtime: { log: silentLogger } });
  await expect(other.run({ signal: new AbortController().signal })).rejects.toThrow(
    /^webhooks: cannot listen on 127\.0\.0\.1:\d+: another process does already/,
  );
});

test('answers requests in flight before it stops, and sends GOAWAY to its connections', async () => {
  let answer: (made: WebhookAnswer) => void = () => {};
  let arrived: () => void = () => {};
  const both = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  let count = 0;
  const slow = webhookAt('/slow', () => {
    count += 1;
    if (count === 2) arrived();
    return new Promise<WebhookAnswer>((resolve) => {
      const last = answer;
      answer = (made) => {
        last(made);
        resolve(made);
      };
    });
  });
  const { url, end } = await serve({ webhooks: [slow] });
  const session = connect2(url, { rejectUnauthorized: false });
  const goaway = new Promise((resolve) => session.once('goaway', (code) => resolve(code)));
  const stream = session.request({ ':method': 'POST', ':path': '/slow' });
  const status = new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])));
  stream.end();
  const by1 = ask1(`${url}/slow`);
  await both;
  const ended = end();
  expect(await goaway).toBe(0);
  answer({ status: 200, body: '{}' });
  expect(await status).toBe(200);
  expect(await by1).toMatchObject({ status: 200, headers: { connection: 'close' } });
  stream.resume();
  await ended;
  await expect(ask1(`${url}/slow`)).rejects.toThrow('ECONNREFUSED');
});

test("a request's signal aborts when the caller's time is over, and when it hangs up", async () => {
  const reasons: string[] = [];
  let notify: () => void = () => {};
  const waits = webhookAt('/waits', ({ signal }) => {
    return new Promise<WebhookAnswer>((resolve) => {
      signal.addEventListener('abort', () => {
        reasons.push((signal.reason as Error).name);
        notify();
        resolve({ status: 200, body: '{}' });
      });
    });
  });
  const { url } = await serve({ webhooks: [waits] });
  await ask1(`${url}/waits?timeout=20ms`);
  const session = connect2(url, { rejectUnauthorized: false });
  const gone = new Promise<void>((resolve) => {
    notify = resolve;
  });
  session.request({ ':method': 'POST', ':path': '/waits' }).end(Buffer.from('{}'), () => session.destroy());
  await gone;
  expect(reasons).toEqual(['Timeout', 'Removed']);
});
