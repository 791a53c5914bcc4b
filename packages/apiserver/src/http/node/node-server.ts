import { Buffer } from 'node:buffer';
import { createServer, type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type Identity, link, listenProblem, type Scheduler } from 'riata/runtime';
import { type ClientCertificate, clientCertificateOf } from '../../authentication/client-certificate.js';
import type { Handle } from '../in-process/in-process-transport.js';
import type { Reply } from '../reply.js';
import { isProxied, type ServerRequest } from '../server-request.js';
import { answerBadHead, answerClientError, headProblem } from './bad-heads.js';
import { Http2Front } from './http2-front.js';
import { Http2Reply } from './http2-reply.js';
import { NodeReply } from './node-reply.js';
import { answerLateBody, bodyTimeoutOf, readBody } from './read-body.js';
import { WriteBatch } from './write-batch.js';

export interface NodeServerOptions {
  readonly host: string;
  /** 0: one that is free. */
  readonly port: number;
  /** Certificate and key; without them, plain HTTP. */
  readonly tls?: Identity | undefined;
  /** Clients may show certificates of this authority, PEM. @default no certificate is requested */
  readonly clientAuthority?: string | undefined;
  readonly clock: Scheduler;
  /** How long requests in flight may take when the server closes. @default 2000 */
  readonly graceMs?: number;
  /** How long a client may take for the TLS handshake and for the head of a request. @default 32,000 */
  readonly headTimeoutMs?: number;
}

/** Idle connections are kept as long as kube-apiserver keeps them. */
const keepAliveMs = 90_000;
/** As kube-apiserver: a mebibyte, and the 4 KiB that Go adds to every limit. */
const maxHeaderBytes = 1024 * 1024 + 4096;
const defaultHeadTimeoutMs = 32_000;
/** How often Node looks for clients that are too slow. */
const checkEveryMs = 2_000;
const nothing = new Uint8Array();
/** The protocols in the TLS handshake. */
const protocols = ['h2', 'http/1.1'];

/** Serves HTTP/1.1, and over TLS HTTP/2 beside it, as clients choose. */
export class NodeServer {
  readonly #server: Server;
  readonly #handle: Handle;
  readonly #options: NodeServerOptions;
  readonly #batch: WriteBatch;
  readonly #http2: Http2Front;
  readonly #running = new Map<Writable, Promise<void>>();
  /** Node's own list has no connections in it that have not finished their handshake. */
  readonly #sockets = new Set<Socket>();
  readonly #certificates = new WeakMap<TLSSocket, ClientCertificate | undefined>();
  #url = '';
  #address = '';
  #port = 0;
  #closing: Promise<void> | undefined;

  private constructor(handle: Handle, options: NodeServerOptions) {
    this.#handle = handle;
    this.#options = options;
    this.#batch = new WriteBatch(options.clock);
    this.#http2 = new Http2Front((stream, headers, raw) => this.#takeStream(stream, headers, raw), options.clock);
    const { tls, clientAuthority: ca, headTimeoutMs = defaultHeadTimeoutMs } = options;
    // Who shows no certificate, or a bad one, is answered all the same: with 401, or by another credential.
    const clients = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: false };
    const listener: RequestListener = (incoming, response) => this.#take(incoming, response);
    const settings = {
      ...{ maxHeaderSize: maxHeaderBytes, keepAliveTimeout: keepAliveMs, noDelay: true, requireHostHeader: false },
      // The time of bodies is limited below: it depends on the request.
      ...{ headersTimeout: headTimeoutMs, requestTimeout: 0, handshakeTimeout: headTimeoutMs },
      connectionsCheckingInterval: Math.min(checkEveryMs, headTimeoutMs),
    };
    this.#server = tls
      ? this.#secure(
          createSecureServer(
            { ...settings, ...clients, cert: tls.cert, key: tls.key, ALPNProtocols: protocols },
            listener,
          ),
        )
      : createServer(settings, listener);
    // Node would drop those past the 2,000th, and with them the name of the user to act as.
    this.#server.maxHeadersCount = 0;
    this.#server.on('clientError', answerClientError);
    this.#server.on('upgrade', (incoming, socket, head) => this.#takeUpgrade(incoming, socket as Socket, head));
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** Resolves when it listens; rejects when it cannot, as with a port in use. */
  static async listen(handle: Handle, options: NodeServerOptions): Promise<NodeServer> {
    const made = new NodeServer(handle, options);
    await listen(made.#server, options);
    const address = made.#server.address() as AddressInfo;
    made.#port = address.port;
    made.#address = address.address;
    made.#url = `${options.tls ? 'https' : 'http'}://${reachable(address)}`;
    return made;
  }

  /** Where it listens, or has listened. */
  get url(): string {
    return this.#url;
  }

  /** The address that it is bound to, e.g. `0.0.0.0`. */
  get address(): string {
    return this.#address;
  }

  /** Requests in flight. */
  get running(): number {
    return this.#running.size;
  }

  /** Cuts all connections and refuses new ones until {@link resume}. */
  async suspend(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#cut();
    await closed;
  }

  /** Listens again, at the same address. Rejects when another process has taken it. */
  async resume(): Promise<void> {
    await listen(this.#server, { host: this.#options.host, port: this.#port });
  }

  /** Accepts no more requests, waits a little for those in flight, then cuts the rest. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Hands on connections over which HTTP/2 is spoken; Node's HTTP server takes the others. */
  #secure(server: Server): Server {
    const serveHttp1 = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[];
    server.removeAllListeners('secureConnection');
    server.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol === 'h2') this.#http2.take(socket);
      else for (const serve of serveHttp1) serve.call(server, socket);
    });
    return server;
  }

  async #close(): Promise<void> {
    const { clock, graceMs = 2_000 } = this.#options;
    const server = this.#server;
    using grace = link({ timeoutMs: graceMs, clock, what: 'closing' });
    const over = new Promise<void>((resolve) =>
      grace.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    // Node considers a connection idle when its answer is complete, even if not all of it was sent, and cuts it.
    const leaving = [...this.#running].filter(([response]) => response.writableEnded).map(([, serving]) => serving);
    await Promise.race([Promise.all(leaving), over]);
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    this.#http2.close();
    await Promise.race([Promise.all(this.#running.values()), over]);
    this.#cut();
    await closed;
  }

  #cut(): void {
    this.#server.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
  }

  #take(incoming: IncomingMessage, response: ServerResponse): void {
    const { method = '', rawHeaders, socket } = incoming;
    const path = pathOf(incoming);
    const problem = headProblem(incoming);
    if (problem !== undefined) {
      answerBadHead(response, problem);
      return;
    }
    const headers = headersOf(incoming.headers);
    const request = { method, path, headers, ...this.#clientOf(socket as TLSSocket, headers, rawHeaders) };
    this.#run(request, incoming, response, () => {
      if (this.#closing !== undefined) response.setHeader('connection', 'close');
      return new NodeReply(response, this.#options.clock, this.#batch);
    });
  }

  /** A request for another protocol is answered like any other, unless a handler takes over the connection. */
  #takeUpgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): void {
    const { method = '', rawHeaders } = incoming;
    const path = pathOf(incoming);
    const headers = headersOf(incoming.headers);
    const response = new ServerResponse(incoming);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => socket.end());
    let taken: Duplex | undefined;
    const upgrade = () => {
      response.detachSocket(socket);
      if (head.length > 0) socket.unshift(head);
      taken = socket;
      return socket;
    };
    const request = { method, path, headers, ...this.#clientOf(socket as TLSSocket, headers, rawHeaders), upgrade };
    const reply = () => new NodeReply(response, this.#options.clock, this.#batch);
    this.#run(request, incoming, response, reply, () => taken ?? response);
  }

  #takeStream(stream: ServerHttp2Stream, sent: IncomingHttpHeaders, rawHeaders: readonly string[]): void {
    const { ':method': method = '', ':path': path = '', ':authority': host } = sent;
    const headers = { host, ...headersOf(sent) };
    const socket = stream.session?.socket as TLSSocket;
    const request = { method, path, headers, http2: true, ...this.#clientOf(socket, headers, rawHeaders) };
    this.#run(request, stream, stream, () => new Http2Reply(stream, this.#options.clock));
  }

  /** The identity of a request, beyond a token. */
  #clientOf(socket: TLSSocket, headers: ServerRequest['headers'], rawHeaders: readonly string[]) {
    const certificate = this.#options.clientAuthority === undefined ? undefined : this.#certificateOf(socket);
    return { certificate, impersonation: impersonationOf(headers, rawHeaders), remoteAddress: socket?.remoteAddress };
  }

  /** Read once for each connection. */
  #certificateOf(socket: TLSSocket): ClientCertificate | undefined {
    // Of an HTTP/2 session, Node gives a stand-in for the socket, the same one each time.
    if (!this.#certificates.has(socket)) this.#certificates.set(socket, clientCertificateOf(socket));
    return this.#certificates.get(socket);
  }

  /** @param last what is closed when all is over; the response by default */
  #run(
    request: RequestHead,
    incoming: Readable,
    response: Writable,
    reply: () => Reply,
    last: () => Writable = () => response,
  ): void {
    const gone = new AbortController();
    const leave = () => gone.abort(new Error('the client has gone'));
    response.once('close', () => {
      if (!response.writableFinished) leave();
    });
    // A stream of HTTP/2 that was reset counts as finished.
    response.once('aborted', leave);
    // A broken connection shows by the close above.
    for (const stream of [incoming, response]) stream.on('error', () => {});
    const serving = this.#serve(request, incoming, last, reply, gone.signal);
    this.#running.set(
      response,
      serving.finally(() => this.#running.delete(response)),
    );
  }

  async #serve(
    request: RequestHead,
    incoming: Readable,
    last: () => Writable,
    reply: () => Reply,
    signal: AbortSignal,
  ): Promise<void> {
    if (isProxied(request.path)) {
      // What is answered without it must not lose its connection with it.
      const bodyStream = incoming.iterator({ destroyOnReturn: false });
      await this.#handle({ ...request, body: nothing, bodyStream, signal }, reply());
      await finished(last());
      return;
    }
    const body = await readBody(incoming, this.#options.clock, bodyTimeoutOf(request));
    if (body === 'gone') {
      last().destroy();
      return;
    }
    if (body === 'late') {
      await answerLateBody(reply(), last());
      return;
    }
    await this.#handle({ ...request, body, signal }, reply());
    await finished(last());
  }
}

type RequestHead = Pick<
  ServerRequest,
  'method' | 'path' | 'headers' | 'impersonation' | 'certificate' | 'upgrade' | 'http2' | 'remoteAddress'
>;

function listen(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const fail = (error: Error) => reject(new Error(listenProblem(error, { host, port }), { cause: error }));
    server.once('error', fail);
    server.listen({ host, port }, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

/** A request may name the server, too, as for a proxy. */
function pathOf({ url = '' }: IncomingMessage): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]+(?=[/?]|$)/i, '').replace(/^(?=\?|$)/, '/');
}

function headersOf(headers: IncomingMessage['headers'] | IncomingHttpHeaders): ServerRequest['headers'] {
  const named: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(headers)) {
    // The pseudo-headers of HTTP/2 in place of a request line.
    if (name.startsWith(':')) continue;
    named[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return named;
}

/** Headers for impersonation line by line: names of groups may have commas in them. */
function impersonationOf(
  headers: ServerRequest['headers'],
  rawHeaders: readonly string[],
): ServerRequest['impersonation'] {
  let found = false;
  for (const name in headers) if (name.startsWith('impersonate-')) found = true;
  if (!found) return undefined;
  const lines: Record<string, string[]> = {};
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (!name.startsWith('impersonate-')) continue;
    lines[name] ??= [];
    // Node reads one character per byte, and names of users are UTF-8.
    lines[name]?.push(Buffer.from(rawHeaders[i + 1] as string, 'latin1').toString('utf8'));
  }
  return lines;
}

function finished(response: Writable): Promise<void> {
  if (response.writableFinished || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => response.once('close', () => resolve()));
}

/** Who listens on every address is reached on the loopback one. */
function reachable({ address, port }: AddressInfo): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
