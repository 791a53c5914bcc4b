import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ContainerIo, ContainerRuntime, PodObject, ProcessEnd } from '@riata/apiserver';
import type { KubeClient } from 'riata';
import { Node, Pod } from 'riata/kinds';
import { createAuthority, describeError, SpdySession, type SpdyStream, systemClock } from 'riata/runtime';

/**
 * Stands for the kubelet of a node: a real kube-apiserver connects to it over HTTPS and speaks SPDY, as it does with
 * container runtimes. What containers do is up to the same scripts as on the embedded server.
 */
export class KubeletStandIn implements AsyncDisposable {
  readonly node: string;
  readonly #close: () => Promise<void>;

  /** Listens, and registers itself as a Node. An API server proxies to addresses outside of the loopback only. */
  static async start(
    client: KubeClient,
    node: string,
    runtime: ContainerRuntime,
    address = '127.0.0.1',
  ): Promise<KubeletStandIn> {
    const now = systemClock.now();
    const validity = { notBefore: new Date(now - 60_000), notAfter: new Date(now + 3_600_000) };
    const identity = createAuthority('kubelet', validity).issue(node, [address]);
    const sockets = new Set<Duplex>();
    const server = createServer(identity, (request, response) => void serveLog(request, response, runtime));
    server.on('upgrade', (request, socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
      new KubeletConnection(request, socket, {
        ...runtime,
        connect: (...args) => connect(client, runtime, ...args),
      }).serve();
    });
    server.listen(0, address);
    await once(server, 'listening');
    const { port: Port } = server.address() as AddressInfo;
    await client.create(Node({ metadata: { name: node } }));
    const status = {
      addresses: [{ type: 'InternalIP', address }],
      daemonEndpoints: { kubeletEndpoint: { Port } },
    };
    await client.status.patch(Node, { name: node }, { type: 'merge', body: { status } });
    return new KubeletStandIn(node, async () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
      await client.delete(Node, { name: node });
    });
  }

  private constructor(node: string, close: () => Promise<void>) {
    this.node = node;
    this.#close = close;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

async function connect(
  client: KubeClient,
  runtime: ContainerRuntime,
  ...[pod, port, connection]: Parameters<NonNullable<ContainerRuntime['connect']>>
): Promise<void> {
  const { namespace = '', name } = pod.metadata;
  if ((await client.find(Pod, { namespace, name })) === undefined) throw new Error(`pod not found ("${name}")`);
  await runtime.connect?.(pod, port, connection);
}

function podOf(namespace: string, name: string): PodObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name }, spec: {} } as unknown as PodObject;
}

/** One upgraded connection of the API server. */
class KubeletConnection {
  readonly #socket: Duplex;
  readonly #request: IncomingMessage;
  readonly #runtime: ContainerRuntime;
  readonly #url: URL;
  readonly #gone = new AbortController();
  readonly #streams = new Map<string, SpdyStream>();
  readonly #session: SpdySession;

  constructor(request: IncomingMessage, socket: Duplex, runtime: ContainerRuntime) {
    this.#request = request;
    this.#socket = socket;
    this.#runtime = runtime;
    this.#url = new URL(request.url ?? '/', 'https://kubelet');
    this.#session = new SpdySession('server', {
      write: (bytes) => socket.write(bytes),
      pause: () => socket.pause(),
      resume: () => socket.resume(),
      onStream: (stream) => this.#onStream(stream),
    });
  }

  serve(): void {
    const offered = String(this.#request.headers['x-stream-protocol-version'] ?? '').split(/,\s*/);
    const [, kind] = this.#url.pathname.split('/');
    const protocol = kind === 'portForward' ? 'portforward.k8s.io' : 'v4.channel.k8s.io';
    if (this.#request.headers.upgrade !== 'SPDY/3.1' || !offered.includes(protocol)) {
      this.#socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
      return;
    }
    this.#socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n' +
        `X-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
    );
    this.#socket.on('data', (bytes: Buffer) => this.#session.received(bytes));
    this.#socket.on('drain', () => this.#session.drained());
    const end = () => {
      this.#session.end(new Error('the API server has disconnected'));
      this.#gone.abort(new Error('the API server has disconnected'));
    };
    this.#socket.on('end', end).on('close', end);
  }

  #onStream(stream: SpdyStream): void {
    const [, kind, namespace = '', name = '', container = ''] = this.#url.pathname.split('/');
    const { streamtype = '', requestid = '', port = '' } = stream.headers;
    const pod = podOf(namespace, name);
    this.#streams.set(`${streamtype} ${requestid}`, stream);
    if (kind === 'portForward') {
      const [data, error] = ['data', 'error'].map((type) => this.#streams.get(`${type} ${requestid}`));
      if (data !== undefined && error !== undefined) void this.#forward(pod, Number(port), data, error);
      return;
    }
    if (this.#streams.size < this.#expectedStreams()) return;
    const { exec, attach } = this.#runtime;
    const command = this.#url.searchParams.getAll('command');
    void this.#run(container, (io) => (kind === 'exec' ? exec?.(pod, command, io) : attach?.(pod, io)));
  }

  #asks(name: string): boolean {
    return ['1', 'true'].includes(this.#url.searchParams.get(name) ?? '');
  }

  #expectedStreams(): number {
    return 1 + ['input', 'output', 'error', 'tty'].filter((name) => this.#asks(name)).length;
  }

  async #run(container: string, process: (io: ContainerIo) => ProcessEnd | undefined): Promise<void> {
    const [stdin, stdout, stderr, error, resize] = ['stdin', 'stdout', 'stderr', 'error', 'resize'].map((type) =>
      this.#streams.get(`${type} `),
    );
    const write = (to: SpdyStream | undefined) => async (output: string | Uint8Array) =>
      to?.write(typeof output === 'string' ? Buffer.from(output) : Uint8Array.from(output));
    const tty = this.#asks('tty');
    const status = await statusOf(() =>
      process({
        ...{ container, tty, stdin: stdin?.input ?? none(), sizes: sizesOf(resize), signal: this.#gone.signal },
        ...{ stdout: write(stdout), stderr: write(tty ? stdout : stderr) },
      }),
    );
    await error?.write(Buffer.from(JSON.stringify(status)));
    for (const stream of this.#streams.values()) stream.end();
  }

  async #forward(pod: PodObject, port: number, data: SpdyStream, error: SpdyStream): Promise<void> {
    try {
      await this.#runtime.connect?.(pod, port, {
        ...{ input: data.input, signal: this.#gone.signal },
        write: (output) => data.write(typeof output === 'string' ? Buffer.from(output) : Uint8Array.from(output)),
      });
      data.end();
      error.end();
    } catch (thrown) {
      await error.write(Buffer.from(`error forwarding port ${port}: ${describeError(thrown)}`));
      error.end();
      data.reset();
    }
  }
}

async function statusOf(run: () => ProcessEnd | undefined) {
  try {
    const code = (await run()) ?? 0;
    if (code === 0) return { metadata: {}, status: 'Success' };
    const details = { causes: [{ reason: 'ExitCode', message: String(code) }] };
    const message = `command terminated with non-zero exit code: ${code}`;
    return { metadata: {}, status: 'Failure', reason: 'NonZeroExitCode', message, details };
  } catch (error) {
    const message = `error executing command in container: ${describeError(error)}`;
    return { metadata: {}, status: 'Failure', reason: 'InternalError', message, code: 500 };
  }
}

async function serveLog(request: IncomingMessage, response: ServerResponse, { log }: ContainerRuntime): Promise<void> {
  const url = new URL(request.url ?? '/', 'https://kubelet');
  const [, kind, namespace = '', name = '', container = ''] = url.pathname.split('/');
  if (kind === 'healthz') {
    response.end('ok');
    return;
  }
  if (kind !== 'containerLogs' || log === undefined) {
    response.writeHead(404).end();
    return;
  }
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const flag = (option: string) => ['1', 'true'].includes(url.searchParams.get(option) ?? '');
  const whole = (option: string) => (url.searchParams.has(option) ? Number(url.searchParams.get(option)) : undefined);
  const wanted = {
    ...{ container, follow: flag('follow'), previous: flag('previous'), timestamps: flag('timestamps') },
    ...{ tailLines: whole('tailLines'), limitBytes: whole('limitBytes'), sinceMs: undefined, sinceSeconds: undefined },
  };
  response.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders();
  for await (const bytes of log(podOf(namespace, name), { ...wanted, signal: gone.signal })) response.write(bytes);
  response.end();
}

async function* none(): AsyncGenerator<Uint8Array> {}

async function* sizesOf(resize: SpdyStream | undefined) {
  for await (const bytes of resize?.input ?? none()) {
    const { Width: columns, Height: rows } = JSON.parse(Buffer.from(bytes).toString()) as Record<string, number>;
    yield { columns: columns ?? 0, rows: rows ?? 0 };
  }
}
