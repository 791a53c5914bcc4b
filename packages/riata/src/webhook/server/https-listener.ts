import { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { closeIdleSession } from '../../runtime/close-idle-session.js';
import { listenProblem } from '../../runtime/listen-problem.js';
import type { Runtime } from '../../runtime/runtime.js';
import { AbortSource } from '../../runtime/signals.js';
import { Removed, Shutdown } from '../../runtime/stop-reasons.js';
import type { ServeWebhook } from '../webhook-listener.js';
import type { WebhookAnswer } from '../webhook-route.js';
import { readBody, tooLarge } from './read-request.js';
import { ReceivedRequest } from './received-request.js';
import { problem } from './webhook-routes.js';

/** A certificate and its key in PEM, and, if callers must have one too, their authorities. */
export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
  readonly clientCa?: string | undefined;
}

/** Options of an {@link HttpsListener}. */
export interface HttpsListenerOptions {
  /** In errors and logs. */
  readonly name: string;
  readonly host: string | undefined;
  readonly port: number;
  /** For requests to a path. */
  readonly bodyLimit: (path: string) => number;
  /** How long it keeps serving after a stop was requested. */
  readonly drainDelayMs: number;
  /** How long requests in flight may take after that. */
  readonly drainTimeoutMs: number;
  readonly runtime: Pick<Runtime, 'clock' | 'log'>;
}

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

/**
 * Clients in Go close connections that are idle for 90 s. They have to be first: a request that is sent while the server
 * closes the connection fails.
 */
const idleMs = 120_000;
/** A client that takes longer for its headers, or for the whole request, holds a connection for nothing. */
const headersMs = 32_000;
const requestMs = 60_000;
/** So long a connection stays open after its GOAWAY, unless the client closes it: closed at once, the GOAWAY may be lost. */
const lingerMs = 250;

/** Serves HTTP/2 and HTTP/1.1 over TLS 1.2 and newer, and takes new certificates without dropping a connection. */
export class HttpsListener {
  readonly #serve: ServeWebhook;
  readonly #options: HttpsListenerOptions;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  /** Aborts when requests in flight may not take any longer. */
  readonly #overdue = new AbortSource();
  #server: Http2SecureServer | undefined;
  #port: number | undefined;
  #inFlight = 0;
  #onIdle: (() => void) | undefined;
  #isDraining = false;

  constructor(serve: ServeWebhook, options: HttpsListenerOptions) {
    this.#serve = serve;
    this.#options = options;
  }

  /** The port that it listens on; undefined before and after. */
  get port(): number | undefined {
    return this.#server?.listening ? this.#port : undefined;
  }

  /** Resolves once it accepts connections. Rejects with the reason and the remedy if it cannot. */
  async listen(certificate: ServingCertificate): Promise<void> {
    const { createSecureServer } = await import('node:http2');
    const { name, host, port, runtime } = this.#options;
    const server = createSecureServer(
      { allowHTTP1: true, ...tlsOptions(certificate), settings: { maxConcurrentStreams: 1000 } },
      (request, response) => void this.#answer(request, response),
    );
    // Node has these properties of an HTTP/1.1 server here as well; its types do not.
    Object.assign(server, { headersTimeout: headersMs, requestTimeout: requestMs, keepAliveTimeout: idleMs });
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('session', (session) => {
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
      closeIdleSession(session, runtime.clock, idleMs);
      session.on('error', (error) => runtime.log.debug('an HTTP/2 session failed', { server: name, error }));
    });
    server.on('tlsClientError', (error: Error) => {
      runtime.log.debug('a TLS handshake failed', { server: name, error });
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.on('error', (error) => {
        // Once it listens, a connection that could not be accepted is retried by the caller.
        if (server.listening) runtime.log.warn('cannot accept a connection', { server: name, error });
        else reject(new Error(`${name}: ${listenProblem(error, { host, port })}`, { cause: error }));
      });
      server.listen({ host, port }, resolve);
    });
    const address = server.address();
    this.#port = typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Replaces the certificate of new connections; open ones keep theirs. Throws if it is invalid. */
  use(certificate: ServingCertificate): void {
    this.#server?.setSecureContext(tlsOptions(certificate));
  }

  /**
   * Stops without failing a request: serves for a while, asks clients to open other connections, accepts no more, waits
   * for requests in flight, and ends what is left.
   */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const { drainDelayMs, drainTimeoutMs, runtime, name } = this.#options;
    const { clock, log } = runtime;
    this.#isDraining = true;
    if (drainDelayMs > 0) await clock.sleep(drainDelayMs, { background: true });
    // On a busy process, requests that have arrived may still be unread: they are in flight, their connections not idle.
    await clock.yield();
    // Names the last request that has arrived: clients send later ones again, over other connections.
    const sessions = [...this.#sessions].filter((session) => !session.destroyed);
    for (const session of sessions) session.goaway();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    if (this.#inFlight > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      using _timer = clock.after(
        drainTimeoutMs,
        () => {
          log.warn('requests did not end in time, closing their connections', {
            server: name,
            requests: this.#inFlight,
          });
          this.#overdue.abort(new Shutdown('the webhook server stops'));
          this.#onIdle?.();
        },
        { background: true },
      );
      await idle;
      // What was answered last is on its way.
      await clock.yield();
    }
    if (sessions.some((session) => !session.destroyed)) await clock.sleep(lingerMs, { background: true });
    for (const socket of this.#sockets) socket.destroySoon();
    for (const session of this.#sessions) session.destroy();
    await closed;
  }

  async #answer(request: Request, response: Response): Promise<void> {
    this.#inFlight += 1;
    try {
      await this.#handle(request, response);
    } catch (error) {
      // The caller has hung up, or the answer broke in the middle: all that is left is to end the stream.
      this.#options.runtime.log.debug('a request broke off', { server: this.#options.name, error });
      response.destroy();
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#onIdle?.();
    }
  }

  async #handle(request: Request, response: Response): Promise<void> {
    const { runtime } = this.#options;
    if (request.method !== 'POST') {
      return this.#send(request, response, { status: 405, body: problem(`expected POST, got ${request.method}`) });
    }
    const bodyLimit = this.#options.bodyLimit((request.url ?? '/').replace(/\?.*/s, ''));
    const body = await readBody(request, bodyLimit);
    if (body === tooLarge) {
      const text = problem(`the request is larger than the limit of ${bodyLimit} bytes`);
      return this.#send(request, response, { status: 413, body: text });
    }
    const contentType = request.headers['content-type'];
    const parts = { clock: runtime.clock, server: this.#overdue.signal };
    const received = new ReceivedRequest(request.url ?? '/', { contentType, body }, parts);
    let isAnswered = false;
    response.once('close', () => {
      if (!isAnswered) received.abort(new Removed('the caller has closed the connection'));
    });
    let answer: WebhookAnswer;
    try {
      answer = await this.#serve(received);
    } finally {
      isAnswered = true;
      received[Symbol.dispose]();
    }
    if (!response.destroyed) await this.#send(request, response, answer);
  }

  async #send(request: Request, response: Response, { status, body }: WebhookAnswer): Promise<void> {
    response.statusCode = status;
    response.setHeader('content-type', 'application/json');
    if (status === 405) response.setHeader('allow', 'POST');
    const isHttp1 = request.httpVersionMajor === 1;
    // The rest of a request that is too large would be read for nothing.
    if (isHttp1 && (this.#isDraining || status === 413)) response.setHeader('connection', 'close');
    if (typeof body === 'string') {
      response.setHeader('content-length', Buffer.byteLength(body));
      await ended(response, body);
    } else {
      for await (const piece of body) {
        if (response.destroyed) return;
        const isTaken = (response as ServerResponse).write(piece);
        if (!isTaken) await drained(response);
      }
      await ended(response);
    }
    if (!isHttp1 && status === 413) (request as Http2ServerRequest).stream.close();
  }
}

function tlsOptions({ cert, key, clientCa }: ServingCertificate) {
  const callers = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  return { cert, key, minVersion: 'TLSv1.2', ...callers } as const;
}

function ended(response: Response, body?: string): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', () => resolve());
    (response as ServerResponse).end(body, () => resolve());
  });
}

function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('close', done);
      response.off('drain', done);
      resolve();
    };
    response.once('close', done);
    response.once('drain', done);
  });
}
