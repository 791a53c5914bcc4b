import { once } from 'node:events';
import * as net from 'node:net';
import { Duplex } from 'node:stream';
import * as tls from 'node:tls';
import { peerSocket } from './peer-socket.js';

/**
 * A server that misbehaves as told. It speaks HTTP/1.1 by hand on a plain or TLS socket, so that a script decides about
 * every byte: where chunks end, when the connection is cut, when it just goes silent.
 *
 * @example
 * await using server = await startFaultServer(async (request, reply) => {
 *   if (request.number === 1) return reply.status(429, { 'retry-after': '1' });
 *   reply.head(200, { 'content-type': 'application/json' });
 *   reply.chunk('{"kind":"Pod');
 *   await reply.read();
 *   reply.reset();
 * });
 */
export async function startFaultServer(script: FaultScript, options: FaultServerOptions = {}): Promise<FaultServer> {
  const server = new FaultServer(script, options);
  await server.listen();
  return server;
}

/** Answers one request. What it throws ends the connection and fails `close()`. */
export type FaultScript = (request: FaultRequest, reply: FaultReply) => void | Promise<void>;

export interface FaultServerOptions {
  /** Speak TLS with this certificate. `ca` and `requestCert` let clients show theirs. */
  readonly tls?: tls.TlsOptions;
  /** @default '127.0.0.1' */
  readonly host?: string;
  /** Listen here, as a server that comes back does. @default a free one */
  readonly port?: number;
}

export interface FaultRequest {
  /** Counts all requests of this server, from 1. */
  readonly number: number;
  /** Counts connections, from 1. */
  readonly connection: number;
  readonly method: string;
  /** Path and query as they came. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** CN of the client's certificate, if it showed one. */
  readonly user: string | undefined;
  /** Whether the TLS session of an earlier connection was taken up again. */
  readonly resumed: boolean;
}

/** Writes the answer. Each call writes at once; `flushed` waits until the bytes have left, `read` until they are there. */
export class FaultReply {
  readonly socket: net.Socket;
  #chunked = true;
  /** Resolved by whatever ends this answer, so that the next request of the connection may be read. */
  readonly done: Promise<void>;
  #finish: () => void = () => {};

  constructor(socket: net.Socket) {
    this.socket = socket;
    this.done = new Promise((resolve) => {
      this.#finish = () => {
        socket.off('close', this.#finish);
        resolve();
      };
    });
    socket.on('close', this.#finish);
  }

  /** Status line and headers. The body is chunked, unless `content-length` or `connection: close` is among them. */
  head(status: number, headers: Readonly<Record<string, string>> = {}): void {
    const names = Object.keys(headers).map((name) => name.toLowerCase());
    this.#chunked = !names.includes('content-length') && headers.connection !== 'close';
    const lines = Object.entries(this.#chunked ? { ...headers, 'transfer-encoding': 'chunked' } : headers);
    this.raw(`HTTP/1.1 ${status} Scripted\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  }

  /** One piece of the body: one HTTP chunk, which also arrives as one, or bare bytes if the body is not chunked. */
  chunk(bytes: string | Uint8Array): void {
    const data = Buffer.from(bytes as Uint8Array);
    if (data.length === 0) return;
    if (this.#chunked)
      this.raw(Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]));
    else this.raw(data);
  }

  /** The body in pieces that end at these positions. */
  cut(bytes: string | Uint8Array, positions: Iterable<number>): void {
    const data = Buffer.from(bytes as Uint8Array);
    let from = 0;
    for (const position of [...positions, data.length]) {
      this.chunk(data.subarray(from, position));
      from = position;
    }
  }

  /** Bytes as they are, in no frame. */
  raw(bytes: string | Uint8Array): void {
    if (!this.socket.destroyed) this.socket.write(bytes);
  }

  /** The body is complete; the connection stays for the next request. */
  end(): void {
    if (this.#chunked) this.raw('0\r\n\r\n');
    this.#finish();
  }

  /** A complete answer. */
  send(status: number, body: string | Uint8Array | object, headers: Readonly<Record<string, string>> = {}): void {
    const isJson = typeof body === 'object' && !(body instanceof Uint8Array);
    const data = isJson ? Buffer.from(JSON.stringify(body)) : Buffer.from(body as string);
    const type: Record<string, string> = isJson ? { 'content-type': 'application/json' } : {};
    this.head(status, { ...type, ...headers, 'content-length': String(data.length) });
    this.raw(data);
    this.end();
  }

  /** An error as the API server sends it. */
  status(code: number, headers: Readonly<Record<string, string>> = {}, message = 'scripted failure'): void {
    const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code };
    this.send(code, body, headers);
  }

  /** Waits until all that was written has been handed to the kernel. */
  async flushed(): Promise<void> {
    if (this.socket.destroyed || this.socket.writableLength === 0) return;
    await new Promise<void>((resolve) => {
      this.socket.write('', () => resolve());
    });
  }

  /** Waits until the client, which has to be in this process, has read all that was written, or reads no more. */
  async read(): Promise<void> {
    await this.flushed();
    const below = this.#below;
    const peer = peerSocket(below);
    while (peer !== undefined && !peer.destroyed && peer.bytesRead < below.bytesWritten)
      await new Promise(setImmediate);
  }

  /** Cuts the connection with a TCP reset. Await `read` before, or what was written may be lost with it. */
  reset(): void {
    this.#below.resetAndDestroy();
  }

  /** Through TLS the socket below has to be the one that resets. */
  get #below(): net.Socket {
    const { socket } = this;
    return socket instanceof tls.TLSSocket ? (rawSockets.get(socket) ?? socket) : socket;
  }

  /** Ends the connection in an orderly way, whatever was promised. */
  close(): void {
    this.socket.end();
  }

  /** Goes silent: nothing more is written, nothing is closed, until the client or the server's `close` ends it. */
  async hang(): Promise<void> {
    await this.done;
  }
}

const rawSockets = new WeakMap<tls.TLSSocket, net.Socket>();

/** A running server. Disposing it ends every connection. */
export class FaultServer implements AsyncDisposable {
  readonly #script: FaultScript;
  readonly #host: string;
  readonly #port: number;
  readonly #server: net.Server;
  #tls: tls.TlsOptions | undefined;
  /** One for all connections, so that sessions can be resumed. */
  #context: tls.SecureContext | undefined;
  readonly #open = new Set<net.Socket>();
  readonly #whenIdle: (() => void)[] = [];
  readonly #failures: unknown[] = [];
  /** Every request that came, in order. */
  readonly requests: FaultRequest[] = [];
  /** Connections accepted so far, handshake or not. */
  connections = 0;

  constructor(script: FaultScript, options: FaultServerOptions) {
    this.#script = script;
    this.#host = options.host ?? '127.0.0.1';
    this.#port = options.port ?? 0;
    if (options.tls) this.setTls(options.tls);
    this.#server = net.createServer((socket) => this.#accept(socket));
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#port, this.#host);
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** Base URL, for `RestConfig.server`. */
  get url(): string {
    const host = this.#host.includes(':') ? `[${this.#host}]` : this.#host;
    return `${this.#tls ? 'https' : 'http'}://${host}:${this.port}`;
  }

  /** Connections open now. */
  get open(): number {
    return this.#open.size;
  }

  /** Resolves when no connection is open. */
  async idle(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** Another certificate for connections to come. */
  setTls(options: tls.TlsOptions): void {
    this.#tls = options;
    this.#context = tls.createSecureContext({ sessionIdContext: 'faults', ...options });
  }

  /** Throws what a script threw. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
    await closed;
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(raw: net.Socket): void {
    const connection = ++this.connections;
    this.#open.add(raw);
    raw.setNoDelay(true);
    raw.on('error', () => {});
    raw.on('close', () => {
      this.#open.delete(raw);
      if (this.#open.size === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
    });
    const socket = this.#tls ? this.#secure(raw, this.#tls) : raw;
    this.#serve(socket, connection).catch((error: unknown) => {
      this.#failures.push(error);
      raw.destroy();
    });
  }

  #secure(raw: net.Socket, options: tls.TlsOptions): tls.TLSSocket {
    // Through a stream in between, not on the raw socket itself, which would be lost to us: it has to reset one day.
    const bridge = Duplex.from({ readable: raw, writable: raw });
    bridge.on('error', () => raw.destroy());
    const socket = new tls.TLSSocket(bridge, {
      ...options,
      isServer: true,
      secureContext: this.#context,
      rejectUnauthorized: false,
    });
    rawSockets.set(socket, raw);
    // Handshakes that fail are what many tests are about.
    socket.on('error', () => raw.destroy());
    return socket;
  }

  /** One request after the other; the next one is read when the answer to this one has ended. */
  async #serve(socket: net.Socket, connection: number): Promise<void> {
    let buffer = Buffer.alloc(0);
    let ended = false;
    let wake = () => {};
    // Read all the time, also while a script goes silent: else the client's end would go unnoticed.
    socket.on('data', (chunk: Buffer) => {
      buffer = Buffer.concat([buffer, chunk]);
      wake();
    });
    socket.on('close', () => {
      ended = true;
      wake();
    });
    const more = async (): Promise<boolean> => {
      if (!ended) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return !ended;
    };
    for (;;) {
      while (!buffer.includes('\r\n\r\n')) {
        if (!(await more())) return;
        // A TLS handshake on a plain port, say: answered as Go's server does.
        if (!/^[A-Z]/.test(buffer.toString('latin1'))) socket.end('HTTP/1.0 400 Bad Request\r\n\r\n');
      }
      const end = buffer.indexOf('\r\n\r\n');
      const [first = '', ...lines] = buffer.subarray(0, end).toString('latin1').split('\r\n');
      const headers = Object.fromEntries(lines.map(splitHeader));
      const length = Number(headers['content-length'] ?? 0);
      buffer = buffer.subarray(end + 4);
      while (buffer.length < length) if (!(await more())) return;
      const [method = '', path = ''] = first.split(' ');
      const secure = socket instanceof tls.TLSSocket ? socket : undefined;
      const user = secure?.getPeerX509Certificate()?.subject?.match(/CN=(.*)/)?.[1];
      const resumed = secure?.isSessionReused() ?? false;
      const body = buffer.subarray(0, length);
      const number = this.requests.length + 1;
      const request: FaultRequest = { number, connection, method, path, headers, body, user, resumed };
      this.requests.push(request);
      buffer = buffer.subarray(length);
      const reply = new FaultReply(socket);
      await this.#script(request, reply);
      await reply.done;
    }
  }
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
