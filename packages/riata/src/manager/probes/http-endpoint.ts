import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { listenProblem } from '../../runtime/listen-problem.js';
import { describeError } from '../../runtime/log/describe-error.js';
import { optionNames } from '../../runtime/option-names.js';
import type { Runtime } from '../../runtime/runtime.js';
import { onAbort } from '../../runtime/signals.js';
import { Removed } from '../../runtime/stop-reasons.js';
import { ReportedProblems } from '../reported-problems.js';
import type { Runnable } from '../runnable.js';
import { type CertificateFiles, followCertificateFiles, readCertificateFiles } from './certificate-files.js';

/** What a route answers. */
export interface EndpointAnswer {
  /** @default 200 */
  readonly status?: number;
  /** @default 'text/plain; charset=utf-8' */
  readonly contentType?: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Writes more after `body`, until the caller closes the connection. @default none: the answer ends with `body` */
  readonly stream?: (sink: EndpointSink) => void;
  /** The cause of a failure: for the log, not for the client. */
  readonly failure?: unknown;
}

/** The connection of a caller who reads a stream. */
export interface EndpointSink {
  write(text: string): void;
  /** Whether the caller reads more slowly than is written: what is written now waits in memory. */
  readonly isFull: boolean;
}

/** What a route is asked. */
export interface EndpointRequest {
  /** What follows the path of the route. */
  readonly rest: string;
  readonly query: URLSearchParams;
  /** The header `Authorization`, also of a caller that came through the proxy of the API server. */
  readonly authorization?: string | undefined;
  readonly headers?: IncomingHttpHeaders;
  /** Of a POST. */
  readonly body?: string;
  /** Aborts when the caller has closed the connection. */
  readonly signal: AbortSignal;
}

/** Answers requests of one path and what is below it. */
export type EndpointRoute = (
  request: EndpointRequest,
) => EndpointAnswer | undefined | Promise<EndpointAnswer | undefined>;

/** Says no to a request: undefined lets it pass. */
export type EndpointGuard = (request: {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly headers?: IncomingHttpHeaders;
  /** Aborts when the caller has closed the connection. */
  readonly signal: AbortSignal;
}) => Promise<EndpointAnswer | undefined>;

/** Where a server of the manager listens: probes and metrics. */
export interface HttpEndpointOptions {
  /** @default all interfaces, as a kubelet or a scraper asks from outside */
  readonly host?: string;
  /** 0: any that is free. */
  readonly port: number;
  /**
   * Serves HTTPS, with the texts of a certificate and its key in PEM, or with files of them, which are checked again
   * every ten seconds for renewed certificates (`certwatcher`). If renewed files cannot be used, that is logged and the
   * last good ones stay; at the start it is an error.
   */
  readonly tls?: { readonly cert: string; readonly key: string } | CertificateFiles;
}

export const httpEndpointOptionNames = optionNames<HttpEndpointOptions>({ host: true, port: true, tls: true });

/** A body of a POST that is larger is refused. */
const mostBody = 65_536;
/** A caller who leaves this much unread is too slow. */
const mostUnread = 1_048_576;
/** For paths alone. */
const base = 'http://localhost';

/** A small HTTP server for probes, scrapers and people: GET and HEAD by path, POST where a route asks for it. */
export class HttpEndpoint implements Runnable {
  readonly name: string;
  readonly #options: HttpEndpointOptions;
  readonly #routes: ReadonlyMap<string, EndpointRoute>;
  readonly #posts: ReadonlyMap<string, EndpointRoute>;
  readonly #guard: EndpointGuard | undefined;
  readonly #authorizationOf: (headers: IncomingHttpHeaders) => string | undefined;
  readonly #runtime: Pick<Runtime, 'clock' | 'log' | 'metrics'>;
  readonly #problems: ReportedProblems;
  #url: string | undefined;

  constructor(
    name: string,
    options: HttpEndpointOptions,
    parts: {
      readonly routes: ReadonlyMap<string, EndpointRoute>;
      /** Of POST requests. @default none */
      readonly posts?: ReadonlyMap<string, EndpointRoute>;
      readonly guard?: EndpointGuard;
      /** Who asks, if the headers `Authorization` and `X-Riata-Authorization` do not say so. @default nobody */
      readonly authorizationOf?: (headers: IncomingHttpHeaders) => string | undefined;
      readonly runtime: Pick<Runtime, 'clock' | 'log' | 'metrics'>;
    },
  ) {
    this.name = name;
    this.#options = options;
    this.#routes = parts.routes;
    this.#posts = parts.posts ?? new Map();
    this.#guard = parts.guard;
    this.#authorizationOf = parts.authorizationOf ?? (() => undefined);
    this.#runtime = parts.runtime;
    this.#problems = new ReportedProblems(parts.runtime.clock);
  }

  /** Where it listens; undefined before it does. */
  get url(): string | undefined {
    return this.#url;
  }

  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (signal.aborted) return;
    const server = await this.#create(signal);
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.on('error', (error) => {
        const { host, port } = this.#options;
        // Once it listens, a connection that could not be taken is the caller's to try again.
        if (server.listening) this.#runtime.log.warn('cannot accept a connection', { server: this.name, error });
        else reject(new Error(`${this.name}: ${listenProblem(error, { host, port })}`, { cause: error }));
      });
      server.listen({ host: this.#options.host, port: this.#options.port }, () => {
        const address = server.address();
        const port = typeof address === 'object' && address !== null ? address.port : this.#options.port;
        const { tls, host = 'localhost' } = this.#options;
        this.#url = `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
        this.#runtime.log.info('listening', { server: this.name, url: this.#url });
      });
      onAbort(signal, () => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      });
    });
  }

  async #create(signal: AbortSignal): Promise<Server> {
    const listener = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response);
    const { tls } = this.#options;
    if (tls === undefined) return (await import('node:http')).createServer(listener);
    const { createServer } = await import('node:https');
    const files = 'certFile' in tls ? tls : undefined;
    try {
      const pair = 'certFile' in tls ? await readCertificateFiles(tls) : tls;
      // Node would take nothing for a certificate, and then refuse every caller.
      if (!pair.cert || !pair.key) throw new Error(`${pair.cert ? 'the key' : 'the certificate'} is empty`);
      const server = createServer(pair, listener);
      if (files !== undefined) {
        const parts = { ...this.#runtime, server: this.name, signal, first: pair };
        followCertificateFiles(files, (next) => server.setSecureContext(next), parts);
      }
      return server;
    } catch (error) {
      const expected =
        files === undefined
          ? 'cert and key must be a certificate and its key, in PEM'
          : `${files.certFile} and ${files.keyFile} must be a certificate and its key, in PEM`;
      throw new Error(`${this.name}: tls: ${expected}: ${describeError(error)}`, { cause: error });
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Removed('the caller has closed the connection')));
    const answer = await this.#answer(request, gone.signal).catch(
      (failure: unknown): EndpointAnswer => ({ status: 500, body: 'internal error\n', failure }),
    );
    // A client that has hung up, mostly because it took too long, gets no answer, and nothing is logged.
    if (gone.signal.aborted) return;
    this.#report(request.url ?? '/', answer);
    response.writeHead(answer.status ?? 200, {
      'content-type': answer.contentType ?? 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      ...answer.headers,
      ...(answer.status === 405 && { allow: 'GET, HEAD' }),
    });
    if (request.method === 'HEAD' || answer.stream === undefined) {
      response.end(request.method === 'HEAD' ? undefined : answer.body);
      return;
    }
    response.write(answer.body);
    answer.stream({
      write: (text) => void (gone.signal.aborted || response.write(text)),
      get isFull() {
        return response.writableLength > mostUnread;
      },
    });
  }

  /** Scrapers poll every few seconds: a lasting failure is logged once, and so is its end. */
  #report(url: string, { failure, status = 200 }: EndpointAnswer): void {
    const [path = '/'] = url.split('?', 1);
    const route = [...this.#routes.keys()].find((known) => isBelow(path, known)) ?? 'any other path';
    if (failure !== undefined) {
      const level = this.#problems.isNews(route, describeError(failure)) ? 'error' : 'debug';
      this.#runtime.log[level]('a request failed', { server: this.name, path, error: failure });
    } else if (status < 400 && this.#problems.isResolved(route)) {
      this.#runtime.log.info('requests succeed again', { server: this.name, path });
    }
  }

  async #answer(request: IncomingMessage, signal: AbortSignal): Promise<EndpointAnswer> {
    const sent = request.url ?? '/';
    // Any client may send anything: malformed requests are not logged.
    if (!URL.canParse(sent, base)) return { status: 400, body: 'bad request\n' };
    const url = new URL(sent, base);
    // The API server takes the first one off what it passes on to a Pod.
    const forwarded = request.headers['x-riata-authorization'];
    const other = typeof forwarded === 'string' ? forwarded : this.#authorizationOf(request.headers);
    const { authorization = other } = request.headers;
    const { headers } = request;
    const refusal = await this.#guard?.({ path: url.pathname, authorization, headers, signal });
    if (refusal !== undefined) return refusal;
    const isPost = request.method === 'POST' && [...this.#posts.keys()].some((path) => isBelow(url.pathname, path));
    if (!isPost && request.method !== 'GET' && request.method !== 'HEAD') {
      return { status: 405, body: 'method not allowed\n' };
    }
    const body = isPost ? await readBody(request) : undefined;
    if (isPost && body === undefined) return { status: 413, body: 'the body is too large\n' };
    for (const [path, route] of isPost ? this.#posts : this.#routes) {
      if (!isBelow(url.pathname, path)) continue;
      const rest = url.pathname.slice(path === '/' ? 1 : path.length + 1);
      const asked = {
        rest,
        query: url.searchParams,
        authorization,
        headers,
        signal,
        ...(body !== undefined && { body }),
      };
      const answer = await route(asked);
      if (answer !== undefined) return answer;
    }
    return { status: 404, body: 'not found\n' };
  }
}

/** Undefined if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > mostBody) return undefined;
    parts.push(part);
  }
  return new TextDecoder().decode(concat(parts, size));
}

function concat(parts: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function isBelow(path: string, route: string): boolean {
  return route === '/' || path === route || path.startsWith(`${route}/`);
}
