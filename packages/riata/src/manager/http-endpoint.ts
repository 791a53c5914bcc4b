import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describeError } from '../runtime/describe-error.js';
import { listenProblem } from '../runtime/listen-problem.js';
import type { Logger } from '../runtime/logger.js';
import { onAbort } from '../runtime/signals.js';
import type { Runnable } from './runnable.js';

/** What a route answers. */
export interface EndpointAnswer {
  /** @default 200 */
  readonly status?: number;
  /** @default 'text/plain; charset=utf-8' */
  readonly contentType?: string;
  readonly body: string;
}

/** Answers GET requests of one path and what is below it; `rest` is what follows the path. */
export type EndpointRoute = (request: {
  readonly rest: string;
  readonly query: URLSearchParams;
}) => EndpointAnswer | undefined | Promise<EndpointAnswer | undefined>;

/** Says no to a request: undefined lets it pass. */
export type EndpointGuard = (request: {
  readonly path: string;
  readonly authorization: string | undefined;
}) => Promise<EndpointAnswer | undefined>;

/** Where a server of the manager listens: probes and metrics. */
export interface HttpEndpointOptions {
  /** @default all interfaces, as a kubelet or a scraper asks from outside */
  readonly host?: string;
  /** 0: any that is free. */
  readonly port: number;
  /** PEM; given, it speaks HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** For paths alone. */
const base = 'http://localhost';

/** A small HTTP server for probes and scrapers: GET and HEAD, by path. */
export class HttpEndpoint implements Runnable {
  readonly name: string;
  readonly #options: HttpEndpointOptions;
  readonly #routes: ReadonlyMap<string, EndpointRoute>;
  readonly #guard: EndpointGuard | undefined;
  readonly #log: Logger;
  #url: string | undefined;

  constructor(
    name: string,
    options: HttpEndpointOptions,
    parts: {
      readonly routes: ReadonlyMap<string, EndpointRoute>;
      readonly guard?: EndpointGuard;
      readonly log: Logger;
    },
  ) {
    this.name = name;
    this.#options = options;
    this.#routes = parts.routes;
    this.#guard = parts.guard;
    this.#log = parts.log;
  }

  /** Where it listens; undefined before it does. */
  get url(): string | undefined {
    return this.#url;
  }

  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (signal.aborted) return;
    const server = await this.#create();
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        const { host, port } = this.#options;
        reject(new Error(`${this.name}: ${listenProblem(error, { host, port })}`, { cause: error }));
      });
      server.listen({ host: this.#options.host, port: this.#options.port }, () => {
        const address = server.address();
        const port = typeof address === 'object' && address !== null ? address.port : this.#options.port;
        const { tls, host = 'localhost' } = this.#options;
        this.#url = `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
        this.#log.info('listening', { server: this.name, url: this.#url });
      });
      onAbort(signal, () => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      });
    });
  }

  async #create(): Promise<Server> {
    const listener = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response);
    const { tls } = this.#options;
    if (tls === undefined) return (await import('node:http')).createServer(listener);
    const { createServer } = await import('node:https');
    try {
      return createServer(tls, listener);
    } catch (error) {
      const wanted = 'cert and key want the texts of a certificate and its key, in PEM';
      throw new Error(`${this.name}: tls: ${wanted}: ${describeError(error)}`, { cause: error });
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#answer(request).catch((error: unknown) => {
      this.#log.error('a request failed', { server: this.name, path: request.url, error });
      return { status: 500, body: 'internal error\n' } as EndpointAnswer;
    });
    response.writeHead(answer.status ?? 200, {
      'content-type': answer.contentType ?? 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      ...(answer.status === 405 && { allow: 'GET, HEAD' }),
    });
    response.end(request.method === 'HEAD' ? undefined : answer.body);
  }

  async #answer(request: IncomingMessage): Promise<EndpointAnswer> {
    const sent = request.url ?? '/';
    // Anybody may send anything: no reason for a line in the log.
    if (!URL.canParse(sent, base)) return { status: 400, body: 'bad request\n' };
    const url = new URL(sent, base);
    const { authorization } = request.headers;
    const refusal = await this.#guard?.({ path: url.pathname, authorization });
    if (refusal !== undefined) return refusal;
    if (request.method !== 'GET' && request.method !== 'HEAD') return { status: 405, body: 'method not allowed\n' };
    for (const [path, route] of this.#routes) {
      if (url.pathname !== path && !url.pathname.startsWith(`${path}/`)) continue;
      const answer = await route({ rest: url.pathname.slice(path.length + 1), query: url.searchParams });
      if (answer !== undefined) return answer;
    }
    return { status: 404, body: 'not found\n' };
  }
}
