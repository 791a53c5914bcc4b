import type { Client } from 'undici';
import type { Scheduler } from '../runtime/clock.js';
import { abortable } from '../runtime/signals.js';
import { systemClock } from '../runtime/system-clock.js';
import type { RestConfig, TlsMaterial } from './config.js';
import type { Transport, TransportRequest, TransportSink } from './transport.js';
import { isConnectionReset, isProbableEof, type TransportError } from './transport-error.js';
import { ClientPool, type Lease } from './undici/client-pool.js';
import { ConnectFailure } from './undici/connect-failure.js';
import { toHeaderText } from './undici/header-text.js';
import { hostPort, type ProxyServer, parseProxy, proxyAuthorization } from './undici/proxy.js';
import { type ProxyEnvironment, proxyFromEnvironment } from './undici/proxy-environment.js';
import type { SocketConnector } from './undici/socket-connector.js';
import { UndiciExchange } from './undici/undici-exchange.js';

/** Limits and seams of {@link undiciTransport}; all times in milliseconds, 0 meaning none. */
export interface UndiciTransportOptions {
  /** @default systemClock */
  readonly clock?: Scheduler;
  /** Limit for setting up a connection: dialling, proxy and TLS together. @default 30_000 */
  readonly connectTimeoutMs?: number;
  /**
   * Longest wait for the headers of a response, counted from sending the request. Longer than the minute after which
   * an API server gives up by itself. @default 90_000
   */
  readonly headersTimeoutMs?: number;
  /** Longest silence within a body. A watch that may rightly be quiet for longer sets its own. @default 300_000 */
  readonly idleTimeoutMs?: number;
  /** How long an unused connection is kept for the next request. @default 30_000 */
  readonly keepAliveMs?: number;
  /**
   * Requests that may wait for their headers at once; more wait in line, so that a burst of writes does not open a
   * thousand connections. Running streams do not count, nor do requests with `headersTimeoutMs` 0. @default 128
   */
  readonly maxPending?: number;
  /** Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are read when the config names no proxy. @default not read */
  readonly proxyEnvironment?: ProxyEnvironment;
}

/** How many connections there are and what they do, for tests and metrics. */
export interface UndiciTransportStats {
  /** Exchanges that have not ended. */
  readonly running: number;
  /** Exchanges that wait in line because of `maxPending`. */
  readonly waiting: number;
  /** Pools of connections: one, and those with former certificates that still serve a stream. */
  readonly pools: number;
}

/** The transport that {@link undiciTransport} makes. */
export interface UndiciTransport extends Transport {
  /** How many connections and exchanges there are now. */
  stats(): UndiciTransportStats;
}

/**
 * The transport over HTTP/1.1 and TLS, by undici. Loads undici with the first request. Each running stream has a
 * connection of its own; others are kept and used again. Asks for gzip unless the config says otherwise or the request
 * has its own `Accept-Encoding`, and decodes what it asked for.
 *
 * When `config.credentials.tls()` gives another object, new requests connect anew with it; what is running goes on
 * undisturbed. Failures are {@link TransportError}s, except for the reason of an abort and what the credentials threw,
 * which arrive as they are.
 *
 * Throws only for a config that cannot work: a `server` or `proxyUrl` that is no URL.
 */
export function undiciTransport(config: RestConfig, options: UndiciTransportOptions = {}): UndiciTransport {
  return new HttpTransport(config, options);
}

const defaults = {
  clock: systemClock,
  connectTimeoutMs: 30_000,
  headersTimeoutMs: 90_000,
  idleTimeoutMs: 300_000,
  keepAliveMs: 30_000,
  maxPending: 128,
} satisfies UndiciTransportOptions;

/** What is loaded with the first request. */
interface Modules {
  readonly Client: typeof Client;
  readonly sockets: typeof import('./undici/socket-connector.js');
  readonly zlib: typeof import('node:zlib');
}

async function loadModules(): Promise<Modules> {
  const [Client, sockets, zlib] = await Promise.all([
    loadClient(),
    import('./undici/socket-connector.js'),
    import('node:zlib'),
  ]);
  return { Client, sockets, zlib };
}

/**
 * Only what a connection needs: about 30 ms to load instead of the 95 ms and more of undici with fetch, WebSocket, caches and
 * mocks, and 9 MB less memory. undici 7 has no `exports`, so its files can be named; should a version of it hide or move
 * this one, the whole does as well.
 */
async function loadClient(): Promise<typeof Client> {
  try {
    return (await import('undici/lib/dispatcher/client.js')).default;
  } catch {
    return (await import('undici')).Client;
  }
}

interface PoolEntry {
  readonly material: TlsMaterial;
  readonly pool: ClientPool;
}

const noMaterial: TlsMaterial = Object.freeze({});

class HttpTransport implements UndiciTransport {
  readonly #config: RestConfig;
  readonly #options: UndiciTransportOptions & typeof defaults;
  readonly #server: URL;
  /** Stands before each path: that of the server, and for a plain server behind an HTTP proxy its whole address. */
  readonly #prefix: string;
  readonly #proxy: ProxyServer | undefined;
  /** Each with the connection that it runs on, once it has one. */
  readonly #running = new Map<UndiciExchange, { readonly lease: Lease; readonly pool: ClientPool } | undefined>();
  /** Those that have been sent and count against `maxPending`. */
  readonly #pending = new Set<UndiciExchange>();
  /** Those that wait for a place, in order. */
  readonly #waiting = new Set<UndiciExchange>();
  /** The pool in use, and former ones until their last stream has ended. */
  readonly #pools = new Set<PoolEntry>();
  #current: PoolEntry | undefined;
  #modules: Promise<Modules> | undefined;
  #loaded: Modules | undefined;
  #closed: Promise<void> | undefined;

  constructor(config: RestConfig, options: UndiciTransportOptions) {
    this.#config = config;
    this.#options = { ...defaults, ...withoutUndefined(options) };
    this.#server = parseServer(config.server);
    const { proxyEnvironment } = this.#options;
    const proxyUrl = config.proxyUrl || (proxyEnvironment && proxyFromEnvironment(this.#server.href, proxyEnvironment));
    this.#proxy = proxyUrl ? parseProxy(proxyUrl) : undefined;
    const path = this.#server.pathname.replace(/\/+$/, '');
    this.#prefix = this.#isForwarded() ? this.#server.origin + path : path;
  }

  dispatch(request: TransportRequest, sink: TransportSink): void {
    const { signal } = request;
    if (signal?.aborted) {
      queueMicrotask(() => sink.onError(signal.reason));
      return;
    }
    const { clock, headersTimeoutMs, idleTimeoutMs } = this.#options;
    const decodes = !this.#config.disableCompression && !hasHeader(request.headers, 'accept-encoding');
    const exchange = new UndiciExchange(request, sink, {
      scheduler: clock,
      url: this.#describe(request.path),
      headersTimeoutMs: request.headersTimeoutMs ?? headersTimeoutMs,
      idleTimeoutMs: request.idleTimeoutMs ?? idleTimeoutMs,
      zlib: decodes ? () => this.#loaded?.zlib : undefined,
      sendAgain: this.#sendAgain,
      onAnswered: this.#onAnswered,
      onDone: this.#onDone,
    });
    this.#running.set(exchange, undefined);
    if (this.#pending.size < this.#options.maxPending || !this.#counts(request)) void this.#start(exchange);
    else this.#waiting.add(exchange);
  }

  stats(): UndiciTransportStats {
    return { running: this.#running.size, waiting: this.#waiting.size, pools: this.#pools.size };
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    // Asynchronous like every other failure: who closes within a callback is not called back within it.
    await undefined;
    for (const exchange of [...this.#running.keys()])
      exchange.fail(new ConnectFailure('closed', 'the transport was closed'));
    await Promise.all([...this.#pools].map(({ pool }) => pool.destroy()));
    this.#pools.clear();
    this.#current = undefined;
  }

  #counts(request: TransportRequest): boolean {
    return request.headersTimeoutMs !== 0;
  }

  async #start(exchange: UndiciExchange): Promise<void> {
    const { request } = exchange;
    if (this.#counts(request)) this.#pending.add(exchange);
    try {
      const { credentials } = this.#config;
      // One after the other, and both before anything is decided: material and pool then belong together.
      this.#modules ??= loadModules();
      this.#loaded = await this.#modules;
      const asked = credentials?.tls({ signal: request.signal });
      const material = asked ? await abortable(asked, request.signal) : noMaterial;
      if (exchange.done) return;
      if (this.#closed) return exchange.fail(new ConnectFailure('closed', 'the transport was closed'));
      this.#send(exchange, this.#poolFor(material, this.#loaded));
    } catch (error) {
      if (error instanceof ConnectFailure) exchange.fail(error);
      else exchange.end(error);
    }
  }

  #send(exchange: UndiciExchange, { pool }: PoolEntry): void {
    const { method, path, headers, body } = exchange.request;
    if (!path.startsWith('/')) {
      const text = `the request cannot be sent: its path wants to start with "/", got "${path.split('?', 1)[0]}"`;
      exchange.fail(new ConnectFailure('invalid-request', text));
      return;
    }
    const lease = pool.acquire();
    this.#running.set(exchange, { lease, pool });
    lease.client.dispatch({ method, path: this.#prefix + path, headers: this.#headersFor(headers), body }, exchange);
  }

  /**
   * A read that finds its kept connection dead, before any answer, goes out again on another one, as Go's transport
   * does: the server, or something on the way, has closed it while it was idle.
   */
  readonly #sendAgain = (exchange: UndiciExchange, error: TransportError): boolean => {
    const used = this.#running.get(exchange);
    const { method, body } = exchange.request;
    const isRead = (method === 'GET' || method === 'HEAD') && body === undefined;
    if (!used?.lease.reused || !isRead || !(isConnectionReset(error) || isProbableEof(error))) return false;
    used.pool.release(used.lease, false);
    this.#running.set(exchange, undefined);
    void this.#start(exchange);
    return true;
  };

  #headersFor(given: TransportRequest['headers']): Record<string, string | string[]> {
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(given)) {
      headers[name] = typeof value === 'string' ? toHeaderText(value) : value.map(toHeaderText);
    }
    if (!this.#config.disableCompression && !hasHeader(given, 'accept-encoding')) headers['accept-encoding'] = 'gzip';
    if (this.#proxy && this.#isForwarded()) {
      headers.host = this.#server.host;
      const authorization = proxyAuthorization(this.#proxy);
      if (authorization) headers['proxy-authorization'] = authorization;
    }
    return headers;
  }

  /** An HTTP proxy forwards requests for plain servers itself; for all else it is asked for a tunnel. */
  #isForwarded(): boolean {
    return this.#proxy !== undefined && this.#proxy.kind !== 'socks5' && this.#server.protocol === 'http:';
  }

  #poolFor(material: TlsMaterial, modules: Modules): PoolEntry {
    const current = this.#current;
    if (current?.material === material) return current;
    const connector = this.#connectorFor(material, modules.sockets);
    const { keepAliveMs } = this.#options;
    const pool = new ClientPool({ Client: modules.Client, origin: this.#origin(), connector, keepAliveMs });
    this.#current = { material, pool };
    this.#pools.add(this.#current);
    // What runs on the former connections comes to its end there; idle ones go at once.
    current?.pool.retire(() => this.#pools.delete(current));
    return this.#current;
  }

  #origin(): string {
    if (!this.#proxy || !this.#isForwarded()) return this.#server.origin;
    return `http://${hostPort(this.#proxy.host, this.#proxy.port)}`;
  }

  #connectorFor(material: TlsMaterial, sockets: Modules['sockets']): SocketConnector {
    const { clock: scheduler, connectTimeoutMs: timeoutMs } = this.#options;
    const { tlsServerName, insecureSkipTlsVerify = false } = this.#config;
    const secure = this.#server.protocol === 'https:';
    const host = this.#server.hostname.replace(/^\[|\]$/g, '');
    const port = Number(this.#server.port) || (secure ? 443 : 80);
    return new sockets.SocketConnector({
      host,
      port,
      scheduler,
      timeoutMs,
      forwarded: this.#isForwarded(),
      ...(this.#proxy ? { proxy: this.#proxy } : {}),
      ...(secure
        ? {
            tls: {
              context: sockets.createTlsContext(material),
              insecure: insecureSkipTlsVerify,
              ...(tlsServerName ? { serverName: tlsServerName } : {}),
            },
          }
        : {}),
    });
  }

  readonly #onAnswered = (exchange: UndiciExchange): void => {
    this.#running.get(exchange)?.lease.lend(true);
    if (this.#pending.delete(exchange)) this.#startNext();
  };

  readonly #onDone = (exchange: UndiciExchange, reusable: boolean): void => {
    const used = this.#running.get(exchange);
    this.#running.delete(exchange);
    this.#waiting.delete(exchange);
    used?.lease.lend(false);
    used?.pool.release(used.lease, reusable);
    if (this.#pending.delete(exchange)) this.#startNext();
  };

  #startNext(): void {
    const [next] = this.#waiting;
    if (!next) return;
    this.#waiting.delete(next);
    void this.#start(next);
  }

  #describe(path: string): string {
    return this.#server.origin + this.#server.pathname.replace(/\/+$/, '') + path.split('?', 1)[0];
  }
}

function parseServer(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url && (url.protocol === 'https:' || url.protocol === 'http:') && url.hostname !== '') return url;
  // Cut where a password could be.
  throw new TypeError(`server wants a URL such as https://host:6443, got "${server.replace(/^.*@/, '…@')}"`);
}

function hasHeader(headers: TransportRequest['headers'], name: string): boolean {
  return Object.keys(headers).some((key) => key.toLowerCase() === name);
}

function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
