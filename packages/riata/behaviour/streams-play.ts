import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { ApiServer, type ContainerIo, type ContainerRuntime } from '@riata/apiserver';
import { type ConnectedClient, createClient, type RestConfig } from 'riata';
import { Namespace, Node, Pod } from 'riata/kinds';
import { configFromKubeconfig, nodeTransport } from 'riata/rest';
import { silentLogger } from 'riata/runtime';
import { afterAll, beforeAll, describe } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { KubeletStandIn } from './kubelet-stand-in.js';

/** Lines in the logs of containers, by namespace and name of the Pod. */
export const writtenLogs = new Map<string, string[]>();

/** What the containers of these tests do, whatever serves them. */
export const containers: ContainerRuntime = {
  exec: async (_pod, [program = '', ...args], io) => {
    if (io.container === 'bare' && program === 'tar')
      throw new Error('exec: "tar": executable file not found in $PATH');
    const isHere =
      program === 'tar' || program === 'xargs' || program === 'sh' || (program === 'cat' && args.length > 0);
    return isHere ? await runHere(program, args, io) : await programs[program]?.(io, ...args);
  },
  connect: async ({ metadata }, port, connection) => {
    if (port === 81) throw new Error('connection refused');
    // Port 80 answers one line at a time; others send back what they get, and their name at the end.
    for await (const bytes of connection.input) {
      await connection.write(bytes);
      if (port === 80) return;
    }
    await connection.write(` from ${metadata.name}:${port}`);
  },
  /** What was written so far; a followed log ends there, as when its container restarts. */
  log: async function* ({ metadata }, { timestamps }) {
    const lines = writtenLogs.get(`${metadata.namespace}/${metadata.name}`) ?? [];
    for (const [index, line] of lines.entries()) {
      const time = `2026-01-01T00:00:${String(index).padStart(2, '0')}.000000000Z `;
      yield Buffer.from(`${timestamps ? time : ''}${line}\n`);
    }
  },
  attach: async (_pod, io) => {
    await io.stdout(`attached to ${io.container}\n`);
    for await (const bytes of io.stdin) await io.stdout(bytes);
  },
};

/** An address of this machine that an API server proxies to: none of the loopback. */
export function machineAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}

/** The HTTP server in the containers of these tests. */
interface ContainerHttp extends AsyncDisposable {
  readonly address: string;
  readonly port: number;
}

async function startHttp(): Promise<ContainerHttp> {
  const server = createServer((request, response) => void serveHttp(request, response).catch(() => response.destroy()));
  server.listen(0, machineAddress());
  await once(server, 'listening');
  const { address, port } = server.address() as AddressInfo;
  const dispose = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { address, port, [Symbol.asyncDispose]: dispose };
}

/** What the embedded server's containers do with requests: they hand them on to that server. */
function handOn({ address, port }: ContainerHttp): Pick<ContainerRuntime, 'http' | 'nodeHttp'> {
  const send = (request: Request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers, signal, body } = request;
    const init = { method, headers, signal, ...(body && { body, duplex: 'half' }), redirect: 'manual' };
    return fetch(`http://${address}:${port}${pathname}${search}`, init as RequestInit);
  };
  return {
    http: (_pod, asked, request) => {
      if (asked !== port) throw new Error('connection refused');
      return send(request);
    },
    nodeHttp: (_node, _port, request) => send(request),
  };
}

/** What the HTTP server in the container does. */
async function serveHttp(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '', headers } = incoming;
  const [, first = '', second = ''] = url.split(/[/?]/);
  if (first === 'hello') response.end('hello');
  else if (first === 'healthz') response.end('ok');
  else if (first === 'sum') {
    const hash = createHash('sha256');
    for await (const bytes of incoming) hash.update(bytes as Buffer);
    response.end(hash.digest('hex'));
  } else if (first === 'big') {
    for (let at = 0; at < Number(second); at += 32_768) {
      const bytes = patternBytes(at, Math.min(32_768, Number(second) - at));
      if (!response.write(bytes)) await once(response, 'drain');
    }
    response.end();
  } else if (first === 'back') {
    for await (const bytes of incoming) {
      if (!response.write(bytes)) await once(response, 'drain');
    }
    response.end();
  } else if (first === 'status') {
    response.writeHead(Number(second), {
      ...{ 'content-type': 'application/json' },
      'x-from': 'target',
      'retry-after': '1',
    });
    response.end('{"error":"no such page"}');
  } else if (first === 'cut') {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => incoming.socket.destroy());
  } else if (first === 'echo') {
    const pieces: Buffer[] = [];
    for await (const bytes of incoming) pieces.push(bytes as Buffer);
    const { authorization = null, 'x-shop': shop } = headers;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ method, url, shop, authorization, body: Buffer.concat(pieces).toString() }));
  }
}

/** Runs a program of the test machine: for what a container would have. */
async function runHere(program: string, args: readonly string[], io: ContainerIo): Promise<number> {
  const child = spawn(program, args);
  child.stdin.on('error', () => {});
  const reading = (async () => {
    for await (const bytes of io.stdin) {
      if (!child.stdin.write(bytes)) await Promise.race([once(child.stdin, 'drain'), once(child.stdin, 'close')]);
    }
    child.stdin.end();
  })();
  reading.catch(() => child.kill());
  const writing = [child.stdout, child.stderr].map(async (output, index) => {
    for await (const bytes of output) await (index === 0 ? io.stdout(bytes) : io.stderr(bytes));
  });
  const [code] = (await once(child, 'close')) as [number];
  await Promise.all(writing);
  return code;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a program without a result exits with 0
type Program = (io: ContainerIo, ...args: readonly string[]) => Promise<number | void>;

/** Bytes that differ at every place, so that a lost or doubled piece changes the checksum. */
export function patternBytes(from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let i = 0; i < length; i++) bytes[i] = ((from + i) * 2_654_435_761) >>> 13;
  return bytes;
}

export function patternSum(length: number): string {
  const hash = createHash('sha256');
  for (let at = 0; at < length; at += 32_768) hash.update(patternBytes(at, Math.min(32_768, length - at)));
  return hash.digest('hex');
}

const programs: Readonly<Record<string, Program>> = {
  echo: (io, ...words) => io.stdout(`${words.join(' ')}\n`),
  container: (io) => io.stdout(io.container),
  async cat(io) {
    for await (const bytes of io.stdin) await io.stdout(bytes);
  },
  async sum(io) {
    const hash = createHash('sha256');
    for await (const bytes of io.stdin) hash.update(bytes);
    await io.stdout(hash.digest('hex'));
  },
  async fail(io, code, text = '') {
    await io.stdout('half');
    await io.stderr(text);
    return Number(code);
  },
  async big(io, length) {
    for (let at = 0; at < Number(length); at += 32_768) {
      if (io.signal.aborted) return 1;
      await io.stdout(patternBytes(at, Math.min(32_768, Number(length) - at)));
    }
    return 0;
  },
  /** Ends without reading its input. */
  async quit(io, code) {
    await io.stdout('bye');
    return Number(code);
  },
  async both(io) {
    for (let i = 0; i < 100; i++) {
      await io.stdout(`out ${i}\n`);
      await io.stderr(`err ${i}\n`);
    }
  },
  async size(io) {
    for await (const { columns, rows } of io.sizes) {
      await io.stdout(`${columns}x${rows}`);
      return;
    }
  },
  async broken() {
    throw new Error('no such program');
  },
  hang: (io) =>
    new Promise((resolve) => {
      if (io.signal.aborted) resolve(1);
      io.signal.addEventListener('abort', () => resolve(1));
    }),
};

/** A cluster whose Pods have containers. */
export interface StreamCluster extends AsyncDisposable {
  readonly config: RestConfig;
  readonly client: ConnectedClient;
  /** The node that Pods run on. */
  readonly node: string;
  /** Where the containers serve HTTP. */
  readonly http: Pick<ContainerHttp, 'address' | 'port'>;
  /** A running Pod. */
  readonly pod: { readonly namespace: string; readonly name: string };
}

async function real(over?: 'node'): Promise<StreamCluster> {
  const config = await configFromKubeconfig(controlPlaneFromEnv().kubeconfig);
  const admin = createClient(config, { runtime: { log: silentLogger } });
  const namespace = (await admin.create(Namespace({ metadata: { generateName: 'streams-' } }))).metadata.name;
  const node = namespace.replace('streams', 'node');
  const kubelet = await KubeletStandIn.start(admin, node, containers, machineAddress());
  const http = await startHttp();
  const stop = async () => {
    await http[Symbol.asyncDispose]();
    await kubelet[Symbol.asyncDispose]();
    await admin.delete(Namespace, { name: namespace });
    await admin.close();
  };
  return clusterOn(config, stop, http, { node, namespace, ...(over && { over }) });
}

async function clusterOn(
  config: RestConfig,
  stop: () => Promise<void>,
  http: ContainerHttp,
  { over, node = 'node-1', namespace = 'default' }: { over?: 'node'; node?: string; namespace?: string } = {},
): Promise<StreamCluster> {
  const transport = over === 'node' ? nodeTransport(config) : undefined;
  const client = createClient(config, { runtime: { log: silentLogger }, ...(transport && { transport }) });
  const pod = { namespace, name: 'web' };
  await client.create(
    Pod({
      metadata: { ...pod, labels: { app: 'web' } },
      spec: { nodeName: node, containers: [{ name: 'main', image: 'web' }], automountServiceAccountToken: false },
    }),
  );
  const dispose = async () => {
    await client.close();
    await transport?.close();
    await stop();
  };
  return { config, client, pod, node, http, [Symbol.asyncDispose]: dispose };
}

async function embedded(over: 'in-process' | 'https' | 'node'): Promise<StreamCluster> {
  const http = await startHttp();
  const runtime = { ...containers, ...handOn(http) };
  const admission = { disable: ['ServiceAccount'] };
  const server = await ApiServer.start({ log: silentLogger, containers: runtime, admission });
  const stop = async () => {
    await server.stop();
    await http[Symbol.asyncDispose]();
  };
  await createClient(server.config, { runtime: { log: silentLogger } }).create(Node({ metadata: { name: 'node-1' } }));
  if (over === 'in-process') return clusterOn(server.config, stop, http);
  const { url, ca } = await server.listen();
  const tls = { ...(ca !== undefined && { ca }) };
  const credentials = {
    authorization: async () => `Bearer ${server.token}`,
    tls: async () => tls,
    refresh: async () => false,
  };
  return clusterOn({ server: url, credentials }, stop, http, over === 'node' ? { over } : {});
}

const kinds = {
  'in-process': { 'in-process': () => embedded('in-process') },
  https: { https: () => embedded('https'), 'https, by nodeTransport': () => embedded('node') },
  'kube-apiserver': { 'kube-apiserver': () => real(), 'kube-apiserver, by nodeTransport': () => real('node') },
} as Readonly<Record<string, Readonly<Record<string, () => Promise<StreamCluster>>>>>;

/** Runs a suite on every server of this run (`RIATA_SERVERS`) and every transport. */
export function describeStreams(title: string, suite: (cluster: () => StreamCluster) => void): void {
  for (const server of (process.env.RIATA_SERVERS ?? 'kube-apiserver').split(',')) {
    for (const [name, start] of Object.entries(kinds[server] ?? {})) {
      describe(`${title} (${name})`, () => {
        let cluster: StreamCluster | undefined;
        beforeAll(async () => {
          cluster = await start();
        });
        afterAll(async () => {
          await cluster?.[Symbol.asyncDispose]();
        });
        suite(() => cluster as StreamCluster);
      });
    }
  }
}
