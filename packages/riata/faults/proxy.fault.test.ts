import { once } from 'node:events';
import * as net from 'node:net';
import * as tls from 'node:tls';
import type { RestConfig } from 'riata/rest';
import { defaultTransport } from 'riata/rest';
import { VirtualClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { createAuthority, issueCertificate } from '../../../tools/control-plane/x509.mjs';
import { startFaultServer } from './fault-server.js';
import { startExchange } from './start-exchange.js';

const authority = createAuthority('proxy-test-ca');
const identity = issueCertificate({ commonName: 'apiserver', ipAddresses: ['127.0.0.1'], issuer: authority });
const material = { ca: authority.cert };
const credentials = { authorization: async () => undefined, tls: async () => material, refresh: async () => false };

const hello = startFaultServer.bind(undefined, (request, reply) =>
  reply.send(200, { path: request.path, proxyAuthorization: request.headers['proxy-authorization'] ?? null }),
);

/** What a proxy does with a connection once the first bytes have come. */
type Handle = (client: net.Socket, first: Buffer, log: string[]) => void | Promise<void>;

async function startProxy(handle: Handle) {
  const log: string[] = [];
  const open = new Set<net.Socket>();
  const server = net.createServer((client) => {
    open.add(client);
    client.on('error', () => {}).on('close', () => open.delete(client));
    client.once('data', (first: Buffer) => void handle(client, first, log));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    log,
    port: (server.address() as net.AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function join(client: net.Socket, host: string, port: number, first: Buffer | string, answer: Buffer | string): void {
  const server = net.connect(port, host, () => {
    client.write(answer);
    server.write(first);
    client.pipe(server).pipe(client);
  });
  server.on('error', () => client.destroy());
  client.on('close', () => server.destroy());
}

const httpProxy: Handle = (client, first, log) => {
  const head = `${first}`;
  log.push(head.split('\r\n\r\n', 1)[0] ?? '');
  const [, host = '', port = ''] = /^CONNECT ([^:]+):(\d+) /.exec(head) ?? [];
  if (host) join(client, host, Number(port), '', 'HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n');
  else {
    const target = new URL(head.split(' ')[1] ?? '');
    join(client, target.hostname, Number(target.port), first, '');
  }
};

async function get(config: RestConfig, path = '/version') {
  await using transport = defaultTransport(config);
  const exchange = startExchange(transport, { path });
  return JSON.parse(`${await exchange.completed}`) as unknown;
}

describe('an HTTP proxy', () => {
  test('opens a tunnel for https, with user and password if the URL has them, kept for the next request', async () => {
    await using server = await hello({ tls: identity });
    await using proxy = await startProxy(httpProxy);
    const config = { server: server.url, credentials, proxyUrl: `http://us%40er:pass@127.0.0.1:${proxy.port}` };
    await using transport = defaultTransport(config);
    for (let i = 0; i < 3; i++) {
      const answer = JSON.parse(`${await startExchange(transport, { path: '/version' }).completed}`) as unknown;
      expect(answer).toEqual({ path: '/version', proxyAuthorization: null });
    }
    const authorization = `Basic ${Buffer.from('us@er:pass').toString('base64')}`;
    const target = `127.0.0.1:${server.port}`;
    expect(proxy.log).toEqual([
      `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: ${authorization}`,
    ]);
  });

  test('forwards requests for a plain server', async () => {
    await using server = await hello();
    await using proxy = await startProxy(httpProxy);
    const answer = await get(
      { server: `${server.url}/base`, proxyUrl: `http://u:p@127.0.0.1:${proxy.port}` },
      '/a?b=c',
    );
    expect(answer).toMatchObject({ path: `${server.url}/base/a?b=c`, proxyAuthorization: 'Basic dTpw' });
    expect(proxy.log[0]).toMatch(`host: 127.0.0.1:${server.port}\r\n`);
  });

  test('that refuses is named, with what it said and a remedy', async () => {
    const answers = [
      'HTTP/1.1 407 Authentication Required\r\n\r\n',
      'HTTP/1.1 403 Forbidden\r\n\r\n',
      'SSH-2.0\r\n\r\n',
    ];
    for (const answer of answers) {
      await using proxy = await startProxy((client) => void client.end(answer));
      await using transport = defaultTransport({
        server: 'https://10.0.0.1:6443',
        proxyUrl: `http://u:hunter2@127.0.0.1:${proxy.port}`,
      });
      const error = await startExchange(transport).failure;
      expect(error).toMatchObject({ kind: 'proxy', requestSent: false });
      const { message } = error as Error;
      expect(message).toContain(`the proxy 127.0.0.1:${proxy.port}`);
      expect(message).not.toContain('hunter2');
      if (answer.includes('407')) expect(message).toMatch(/407 Authentication Required; put user and password into/);
      if (answer.includes('403')) expect(message).toMatch(/refused a tunnel to 10\.0\.0\.1:6443: 403 Forbidden$/);
    }
  });

  test('that is not there, hangs up or says nothing', async () => {
    const at = (port: number) => ({ server: 'https://10.0.0.1:6443', proxyUrl: `http://127.0.0.1:${port}` });
    // Port 1 is never assigned, unlike one that was in use a moment ago.
    await using refused = defaultTransport(at(1));
    const error = await startExchange(refused).failure;
    expect(error).toMatchObject({ kind: 'proxy', requestSent: false, code: 'ECONNREFUSED' });
    expect((error as Error).message).toMatch(
      /is the proxy running, and is "proxy-url" in the kubeconfig \(or HTTPS_PROXY\) right\?/,
    );

    await using closing = await startProxy((client) => void client.destroy());
    await using cut = defaultTransport(at(closing.port));
    expect(await startExchange(cut).failure).toMatchObject({ kind: 'proxy', requestSent: false });

    const clock = new VirtualClock();
    const received: (() => void)[] = [];
    const asked = new Promise<void>((resolve) => received.push(resolve));
    await using silent = await startProxy(() => received[0]?.());
    await using waiting = defaultTransport(at(silent.port), { clock, connectTimeoutMs: 10_000 });
    const exchange = startExchange(waiting);
    await asked;
    await clock.advance(10_000);
    const late = await exchange.failure;
    expect(late).toMatchObject({ kind: 'connect-timeout', requestSent: false });
    expect((late as Error).message).toMatch(/no connection to 10\.0\.0\.1:6443 through the proxy .* within 10000 ms/);
  });

  test('over TLS has to show a certificate that this machine trusts', async () => {
    const server = tls.createServer(identity, (socket) => socket.destroy());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as net.AddressInfo;
    await using transport = defaultTransport({
      server: 'https://10.0.0.1:6443',
      proxyUrl: `https://127.0.0.1:${port}`,
    });
    const error = await startExchange(transport).failure;
    expect(error).toMatchObject({ kind: 'proxy', requestSent: false });
    expect((error as Error).message).toMatch(/certificate of the proxy at .* is signed by "proxy-test-ca"/);
    server.close();
  });

  test('from the environment is used only when asked for', async () => {
    await using server = await hello();
    await using proxy = await startProxy(httpProxy);
    // Loopback addresses never go through a proxy, so the server needs a name that only the proxy knows.
    const config = { server: `http://cluster.invalid:${server.port}` };
    await using direct = defaultTransport(config);
    expect(await startExchange(direct).failure).toMatchObject({ kind: 'dns' });
    const environment = { http_proxy: `127.0.0.1:${proxy.port}`, NO_PROXY: 'other.invalid' };
    await using transport = defaultTransport(config, { proxyEnvironment: environment });
    const exchange = startExchange(transport, { path: '/x' });
    await exchange.failure;
    expect(proxy.log[0]).toMatch(/^GET http:\/\/cluster\.invalid:\d+\/x HTTP\/1\.1/);
  });
});

describe('a SOCKS proxy', () => {
  const socks =
    (options: { method?: number; accept?: boolean; reply?: number } = {}): Handle =>
    async (client, greeting, log) => {
      const next = async () => ((await once(client, 'data')) as [Buffer])[0];
      log.push(greeting.toString('hex'));
      const method = options.method ?? 0;
      client.write(Buffer.of(5, method));
      if (method === 2) {
        log.push((await next()).toString('latin1'));
        client.write(Buffer.of(1, options.accept ? 0 : 1));
        if (!options.accept) return;
      }
      if (method === 255) return;
      const request = await next();
      log.push(request.toString('hex'));
      const reply = Buffer.of(5, options.reply ?? 0, 0, 1, 0, 0, 0, 0, 0, 0);
      if (options.reply) return void client.end(reply);
      const host = request[3] === 3 ? '127.0.0.1' : [...request.subarray(4, 8)].join('.');
      join(client, host, request.readUInt16BE(request.length - 2), '', reply);
    };

  test('opens a tunnel to an address, with TLS in it', async () => {
    await using server = await hello({ tls: identity });
    await using proxy = await startProxy(socks());
    expect(await get({ server: server.url, credentials, proxyUrl: `socks5://127.0.0.1:${proxy.port}` })).toMatchObject({
      path: '/version',
    });
    const port = server.port.toString(16).padStart(4, '0');
    expect(proxy.log).toEqual(['050100', `050100017f000001${port}`]);
  });

  test('gets the name to resolve, and user and password if it asks', async () => {
    await using server = await hello();
    await using proxy = await startProxy(socks({ method: 2, accept: true }));
    const target = { server: `http://cluster.invalid:${server.port}` };
    expect(await get({ ...target, proxyUrl: `socks5h://me:secret@127.0.0.1:${proxy.port}` })).toMatchObject({
      path: '/version',
    });
    expect(proxy.log.slice(0, 2)).toEqual(['05020002', '\x01\x02me\x06secret']);
    expect(Buffer.from(proxy.log[2] ?? '', 'hex').toString('latin1')).toContain('\x03\x0fcluster.invalid');
  });

  test('that refuses says why', async () => {
    const cases: [Parameters<typeof socks>[0], string, RegExp][] = [
      [{ reply: 5 }, '', /could not reach 10\.0\.0\.1:6443: connection refused/],
      [{ method: 255 }, '', /requires an authentication method that proxy-url does not provide/],
      [{ method: 2 }, 'me:wrong@', /did not accept user and password of proxy-url/],
    ];
    for (const [options, user, message] of cases) {
      await using proxy = await startProxy(socks(options));
      const proxyUrl = `socks5://${user}127.0.0.1:${proxy.port}`;
      await using transport = defaultTransport({ server: 'https://10.0.0.1:6443', proxyUrl });
      const error = await startExchange(transport).failure;
      expect(error).toMatchObject({ kind: 'proxy', requestSent: false });
      expect((error as Error).message).toMatch(message);
    }
  });
});
