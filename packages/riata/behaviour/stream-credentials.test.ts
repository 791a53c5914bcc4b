import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { createClient, impersonating, isForbidden, type KubeClient, type RestConfig } from 'riata';
import { isExecError } from 'riata/client';
import { ClusterRole, ClusterRoleBinding, Pod } from 'riata/kinds';
import { configFromKubeconfig, httpTransport, nodeTransport } from 'riata/rest';
import { silentLogger, systemClock, WebSocketLink, webSocketAccept } from 'riata/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rejection } from './servers.js';
import { containers } from './streams-play.js';

const pod = { namespace: 'default', name: 'web' };
let server: ApiServer;
let listening: Awaited<ReturnType<ApiServer['listen']>>;
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'riata-streams-'));
  server = await ApiServer.start({ log: silentLogger, containers, admission: { disable: ['ServiceAccount'] } });
  listening = await server.listen();
  await using client = createClient(server.config, { runtime: { log: silentLogger } });
  const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'web' }] };
  await client.create(Pod({ metadata: pod, spec }));
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const kubeconfig = (user: object) => {
  const { url, ca = '' } = listening;
  const data = Buffer.from(ca).toString('base64');
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': data } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user }],
  });
};

/** Lets a user run commands. */
async function allowExec(admin: KubeClient, name: string): Promise<void> {
  const rules = [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['create', 'get'] }];
  await admin.create(ClusterRole({ metadata: { name }, rules }));
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
  const subjects = [{ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' }];
  await admin.create(ClusterRoleBinding({ metadata: { name }, roleRef, subjects }));
}

describe.each([
  ['httpTransport', httpTransport],
  ['nodeTransport', nodeTransport],
] as const)('streams authenticate as any request does (%s)', (_, transportFor) => {
  async function say(config: RestConfig, ...words: readonly string[]): Promise<string> {
    await using transport = transportFor(config);
    await using client = createClient(config, { transport, runtime: { log: silentLogger } });
    return await client.exec(pod, ['echo', ...words]).text();
  }

  test('by an exec plugin, whose credential is renewed when the server refuses it', async () => {
    const runs = join(folder, `runs-${transportFor.name}`);
    const plugin = join(folder, 'plugin.mjs');
    await writeFile(
      plugin,
      `import { appendFileSync, readFileSync } from 'node:fs';
       appendFileSync(${JSON.stringify(runs)}, 'x');
       const token = readFileSync(${JSON.stringify(runs)}).length === 1 ? 'stale' : ${JSON.stringify(server.token)};
       console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } }));`,
    );
    const exec = {
      ...{ apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: [plugin] },
      interactiveMode: 'Never',
    };
    const config = await configFromKubeconfig(kubeconfig({ exec }));
    expect(await say(config, 'by', 'plugin')).toBe('by plugin\n');
  });

  test('by a client certificate', async () => {
    const name = `cert-${transportFor.name.toLowerCase()}`;
    const { cert, key } = server.authority.issue(name, []);
    await using admin = createClient(server.config, { runtime: { log: silentLogger } });
    await allowExec(admin, name);
    const user = {
      'client-certificate-data': Buffer.from(cert).toString('base64'),
      'client-key-data': Buffer.from(key).toString('base64'),
    };
    expect(await say(await configFromKubeconfig(kubeconfig(user)), 'by', 'certificate')).toBe('by certificate\n');
  });

  test('by impersonation, with the rights of the other user', async () => {
    const config = await configFromKubeconfig(adminKubeconfig({ ...listening, token: server.token }));
    await using transport = transportFor(config);
    await using client = createClient(config, { transport, runtime: { log: silentLogger } });
    const name = `runner-${transportFor.name.toLowerCase()}`;
    const runner = impersonating(client, { user: name });
    expect(isForbidden(await rejection(runner.exec(pod, ['echo', 'x']).text()))).toBe(true);
    await allowExec(client, name);
    expect(await runner.exec(pod, ['echo', 'as', 'another']).text()).toBe('as another\n');
  });

  test('through an HTTP proxy', async () => {
    const asked: string[] = [];
    const sockets = new Set<Socket>();
    const proxy = createTcpServer((client) => {
      sockets.add(client.on('error', () => {}));
      client.once('data', (head) => {
        const [, host = '', port = ''] = /^CONNECT ([^:]+):(\d+) /.exec(String(head)) ?? [];
        asked.push(`${host}:${port}`);
        const target = connect(Number(port), host, () => {
          client.write('HTTP/1.1 200 Connection established\r\n\r\n');
          client.pipe(target).pipe(client);
        });
        sockets.add(target.on('error', () => client.destroy()));
      });
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    const base = await configFromKubeconfig(adminKubeconfig({ ...listening, token: server.token }));
    expect(await say({ ...base, proxyUrl: `http://127.0.0.1:${port}` }, 'through', 'it')).toBe('through it\n');
    expect(asked).toEqual([new URL(listening.url).host]);
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
});

describe('a server that speaks v4.channel.k8s.io alone', () => {
  /** Sends what it is asked for by the command, or back what it gets, until that has a full stop. */
  async function start(code: number) {
    const sockets = new Set<Socket>();
    const http = createServer((_, response) => response.writeHead(404).end());
    http.on('upgrade', (request, socket: Socket) => {
      sockets.add(socket.on('error', () => {}));
      const { headers, url = '' } = request;
      const offered = String(headers['sec-websocket-protocol']).split(/,\s*/);
      if (!offered.includes('v4.channel.k8s.io')) {
        socket.destroy();
        return;
      }
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
          `Sec-WebSocket-Accept: ${webSocketAccept(String(headers['sec-websocket-key']))}\r\n` +
          'Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n',
      );
      const finish = () => {
        const causes = [{ reason: 'ExitCode', message: String(code) }];
        const failure = { status: 'Failure', reason: 'NonZeroExitCode', details: { causes } };
        link.send(Buffer.from(JSON.stringify(code === 0 ? { status: 'Success' } : failure)), 3);
        link.close();
      };
      const link: WebSocketLink = new WebSocketLink(
        {
          write: (bytes) => socket.write(bytes),
          end: () => socket.end(),
          pause: () => socket.pause(),
          resume: () => socket.resume(),
          destroy: () => socket.destroy(),
        },
        {
          onPiece: (piece, { first }) => {
            const bytes = Buffer.from(first ? piece.subarray(1) : piece);
            link.send(Buffer.from(bytes), 1);
            if (bytes.includes('.')) finish();
          },
          onDrain: () => {},
          onEnd: () => {},
        },
        { role: 'server', clock: systemClock, pingMs: 0 },
      );
      socket.on('data', (chunk) => link.received(chunk));
      socket.on('end', () => link.ended());
      if (url.includes('stdin=true')) return;
      link.send(Buffer.from('v4 output'), 1);
      link.send(Buffer.from('complaint'), 2);
      finish();
    });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    const { port } = http.address() as AddressInfo;
    const client = createClient({ server: `http://127.0.0.1:${port}` }, { runtime: { log: silentLogger } });
    const dispose = async () => {
      await client.close();
      for (const socket of sockets) socket.destroy();
      http.close();
    };
    return { client, [Symbol.asyncDispose]: dispose };
  }

  test('output, exit code and input work', async () => {
    await using v4 = await start(4);
    await using ran = await v4.client.exec(pod, ['x']);
    expect(ran.protocol).toBe('v4.channel.k8s.io');
    expect(Buffer.from((await ran.stdout.next()).value as Uint8Array).toString()).toBe('v4 output');
    expect(await ran.ended).toEqual({ exitCode: 4 });
    await using talk = await v4.client.exec(pod, ['x'], { stdin: true });
    await talk.stdin.write('a line.');
    expect(Buffer.from((await talk.stdout.next()).value as Uint8Array).toString()).toBe('a line.');
    expect(await talk.ended).toEqual({ exitCode: 4 });
  });

  test('the end of the input is an error that names the remedy, not a command that waits for ever', async () => {
    await using v4 = await start(0);
    const error = await rejection(v4.client.exec(pod, ['cat'], { stdin: 'no full stop' }).text());
    expect(isExecError(error)).toBe(true);
    expect(error.message).toContain(
      'the server speaks v4.channel.k8s.io only, which cannot end stdin; v5.channel.k8s.io requires Kubernetes 1.30',
    );
  });
});
