import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { createClient } from 'riata';
import { APIService } from 'riata/kinds';
import { createAuthority, memoryLogger, systemClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';

test('a connection that changes its protocol is handed on', async () => {
  const now = systemClock.now();
  const validity = { notBefore: new Date(now - 60_000), notAfter: new Date(now + 3_600_000) };
  const authority = createAuthority('shells', validity);
  const other = createServer(authority.issue('shells', ['shells.default.svc']), (_, response) => response.end('{}'));
  other.on('upgrade', (request, socket: Duplex) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.write(`${request.headers['x-remote-user']} `);
    socket.on('data', (piece) => socket.write(piece));
    socket.on('end', () => socket.end());
  });
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await using server = await ApiServer.start({
    log: memoryLogger(),
    resolveService: () => ({ host: '127.0.0.1', port }),
  });
  await using client = createClient(server.config);
  const group = 'shells.example.com';
  await client.create(
    APIService({
      metadata: { name: `v1.${group}` },
      spec: {
        ...{ group, version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 },
        caBundle: Buffer.from(authority.cert).toString('base64'),
        service: { namespace: 'default', name: 'shells', port: 443 },
      },
    }),
  );
  await server.idle();
  const { hostname, port: own } = new URL((await server.listen({ tls: false })).url);
  const ask = async (path: string, until: string) => {
    const socket = connect(Number(own), hostname);
    const head = `host: a\r\nauthorization: Bearer ${server.token}\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n`;
    socket.write(`GET ${path} HTTP/1.1\r\n${head}`);
    let text = '';
    socket.on('data', (piece) => {
      const before = text;
      text += piece;
      if (text.includes('riata-admin') && !before.includes('riata-admin')) socket.write('hello');
      if (text.includes(until)) socket.destroy();
    });
    await once(socket, 'close');
    return text;
  };
  expect(await ask(`/apis/${group}/v1/namespaces/default/shells/a/exec`, 'hello')).toMatch(
    /^HTTP\/1\.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nriata-admin hello$/,
  );
  expect(await ask('/api/v1/namespaces/default/configmaps/none', '"code":404')).toMatch(
    /^HTTP\/1\.1 404 Not Found\r\n/,
  );
  other.close();
  other.closeAllConnections();
});
