import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { systemClock } from '../../runtime/time/system-clock.js';
import type { RestConfig, TlsMaterial } from '../config/rest-config.js';
import { isConnectionReset, isProbableEof, type TransportError } from '../errors/transport-error.js';
import { ConnectFailure } from './http/connect-failure.js';
import { ConnectionPool } from './http/connection-pool.js';
import { type ExchangeHost, HttpExchange } from './http/http-exchange.js';
import { type ProxyServer, parseProxy, proxyAuthorization } from './http/proxy.js';
import { type ProxyEnvironment, proxyFromEnvironment } from './http/proxy-environment.js';
import { RequestHeads } from './http/request-heads.js';
import type { SocketConnector } from './http/socket-connector.js';
import { serverAddress } from './server-address.js';
import type { Transport, TransportRequest, TransportSink } from './transport.js';

/** Limits and seams of {@link httpTransport}; all times in milliseconds, 0 meaning none. */
export interface HttpTransportOptions {
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
   * thousand connections; 0 for any number. Running streams do not count, nor do requests with `headersTimeoutMs` 0.
   * @default 128
   */
  readonly maxPending?: number;
  /** Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are read when the config names no proxy. @default not read: those who load a config have done so */
  readonly proxyEnvironment?: ProxyEnvironment;
}

export const httpTransportOptionNames = optionNames<HttpTransportOptions>({
  clock: true,
  connectTimeoutMs: true,
  headersTimeoutMs: true,
  idleTimeoutMs: true,
  keepAliveMs: true,
  maxPending: true,
  proxyEnvironment: true,
});

/** How many connections there are and what they do, for tests and metrics. */
export interface HttpTransportStats {
  /** Exchanges that have not ended. */
  readonly running: number;
  /** Exchanges that wait in line because of `maxPending`. */
  readonly waiting: number;
  /** Pools of connections: one, and those with former certificates that still serve a stream. */
  readonly pools: number;
}

/** The transport that {@link httpTransport} makes. */
export interface HttpTransport extends Transport {
  /** How many connections and exchanges there are now. */
  stats(): HttpTransportStats;
}

/**
 * The transport over HTTP/1.1 and TLS. Loads what it needs of Node with the first request. Each running stream has a
 * connection of its own; others are kept and used again. Asks for gzip unless the config says otherwise or the request
 * has its own `Accept-Encoding`, and decodes what it asked for.
 *
 * When `config.credentials.tls()` gives another object, new requests connect anew with it; what is running goes on
 * undisturbed. Failures are {@link TransportError}s, except for the reason of an abort and what the credentials threw,
 * which arrive as they are.
 *
 * Throws only for a config that cannot work: a `server` or `proxyUrl` that is no URL, a limit that is none, or a `server` with a
 * user name or password in it.
 */
export function httpTransport(config: RestConfig, options: HttpTransportOptions = {}): HttpTransport {
  refuseUnknownOptions('httpTransport', options, httpTransportOptionNames);
  return new PooledTransport(config, options);
}

const defaults = {
  clock: systemClock,
  connectTimeoutMs: 30_000,
  headersTimeoutMs: 90_000,
  idleTimeoutMs: 300_000,
  keepAliveMs: 30_000,
  maxPending: 128,
} satisfies HttpTransportOptions;

const limits = ['connectTimeoutMs', 'headersTimeoutMs', 'idleTimeoutMs', 'keepAliveMs', 'maxPending'] as const;

function wantLimit(name: string, value: number): void {
  if (!(value >= 0)) throw new RangeError(`httpTransport: ${name} wants a number from 0 up, 0 for none, got ${value}`);
}

/** What is loaded with the first request: TLS takes Node some 15 ms. */
interface Modules {
  readonly sockets: typeof import('./http/socket-connector.js');
}

async function loadModules(): Promise<Modules> {
  return { sockets: await import('./http/socket-connector.js') };
}

interface PoolEntry {
  readonly material: TlsMaterial;
  readonly pool: ConnectionPool;
}

const noMaterial: TlsMaterial = Object.freeze({});

class PooledTransport implements HttpTransport {
  readonly #config: RestConfig;
  readonly #options: HttpTransportOptions & typeof defaults;
  readonly #maxPending: number;
  readonly #server: URL;
  /** Stands before each path: that of the server, and for a plain server behind an HTTP proxy its whole address. */
  readonly #prefix: string;
  readonly #proxy: ProxyServer | undefined;
  readonly #heads: RequestHeads;
  readonly #host: ExchangeHost;
  readonly #running = new Set<HttpExchange>();
  /** Those that have been sent and count against `maxPending`. */
  readonly #pending = new Set<HttpExchange>();
  /** Those that wait for a place, in order. */
  readonly #waiting = new Set<HttpExchange>();
  /** The pool in use, and former ones until their last stream has ended. */
  readonly #pools = new Set<PoolEntry>();
  #current: PoolEntry | undefined;
  #modules: Promise<Modules> | undefined;
  #loaded: Modules | undefined;
  #closed: Promise<void> | undefined;

  constructor(config: RestConfig, options: HttpTransportOptions) {
    this.#config = config;
    this.#options = { ...defaults, ...withoutUndefined(options) };
    for (const name of limits) wantLimit(name, this.#options[name]);
    this.#maxPending = this.#options.maxPending || Number.POSITIVE_INFINITY;
    this.#server = serverAddress(config.server);
    const { proxyEnvironment } = this.#options;
    const proxyUrl = config.proxyUrl || (proxyEnvironment && proxyFromEnvironment(this.#server.href, proxyEnvironment));
    this.#proxy = proxyUrl ? parseProxy(proxyUrl) : undefined;
    const path = this.#server.pathname.replace(/\/+$/, '');
    this.#prefix = this.#isForwarded() ? this.#server.origin + path : path;
    const authorization = this.#proxy && this.#isForwarded() ? proxyAuthorization(this.#proxy) : undefined;
    this.#heads = new RequestHeads(this.#prefix, {
      host: this.#server.host,
      ...(authorization && { 'proxy-authorization': authorization }),
    });
    this.#host = this.#exchangeHost(this.#server.origin + path);
  }

  dispatch(request: TransportRequest, sink: TransportSink): void {
    const { signal } = request;
    if (signal?.aborted) {
      queueMicrotask(() => sink.onError(signal.reason));
      return;
    }
    const exchange = new HttpExchange(request, sink, this.#host, this.#asksForGzip(request.headers));
    this.#running.add(exchange);
    if (this.#pending.size < this.#maxPending || !this.#counts(request)) this.#begin(exchange);
    else this.#waiting.add(exchange);
  }

  stats(): HttpTransportStats {
    return { running: this.#running.size, waiting: this.#waiting.size, pools: this.#pools.size };
  }

  closeIdle(): void {
    for (const { pool } of this.#pools) pool.closeIdle();
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
    for (const exchange of [...this.#running]) exchange.fail(new ConnectFailure('closed', 'the transport was closed'));
    await Promise.all([...this.#pools].map(({ pool }) => pool.destroy()));
    this.#pools.clear();
    this.#current = undefined;
  }

  #counts(request: TransportRequest): boolean {
    return request.headersTimeoutMs !== 0;
  }

  /** Sends now if nothing has to be waited for. */
  #begin(exchange: HttpExchange): void {
    const { credentials } = this.#config;
    const material = credentials === undefined ? noMaterial : credentials.atHand?.()?.tls;
    if (this.#loaded === undefined || material === undefined || this.#closed !== undefined) {
      void this.#start(exchange);
      return;
    }
    if (this.#counts(exchange.request)) this.#pending.add(exchange);
    try {
      this.#send(exchange, this.#poolFor(material, this.#loaded));
    } catch (error) {
      queueMicrotask(() => this.#refuse(exchange, error));
    }
  }

  async #start(exchange: HttpExchange): Promise<void> {
    const { request } = exchange;
    if (this.#counts(request)) this.#pending.add(exchange);
    try {
      // One after the other, and both before anything is decided: material and pool then belong together.
      this.#modules ??= loadModules();
      const modules = this.#loaded ?? (await this.#modules);
      this.#loaded = modules;
      // Who aborts meanwhile is told by the exchange itself.
      const material = (await this.#config.credentials?.tls({ signal: request.signal })) ?? noMaterial;
      if (exchange.done) return;
      if (this.#closed) return exchange.fail(new ConnectFailure('closed', 'the transport was closed'));
      this.#send(exchange, this.#poolFor(material, modules));
    } catch (error) {
      this.#refuse(exchange, error);
    }
  }

  /** What credentials threw arrives as it is. */
  #refuse(exchange: HttpExchange, error: unknown): void {
    if (error instanceof ConnectFailure) exchange.fail(error);
    else exchange.end(error);
  }

  #send(exchange: HttpExchange, { pool }: PoolEntry): void {
    const { path } = exchange.request;
    if (!path.startsWith('/')) {
      const text = `the request cannot be sent: its path wants to start with "/", got "${path.split('?', 1)[0]}"`;
      queueMicrotask(() => exchange.fail(new ConnectFailure('invalid-request', text)));
      return;
    }
    exchange.sendOver(pool.acquire());
  }

  #exchangeHost(url: string): ExchangeHost {
    const { headersTimeoutMs, idleTimeoutMs } = this.#options;
    return {
      url,
      headersTimeoutMs,
      idleTimeoutMs,
      zlib: () => process.getBuiltinModule('node:zlib'),
      sendAgain: (exchange, error) => this.#sendAgain(exchange, error),
      onAnswered: (exchange) => {
        if (this.#pending.delete(exchange)) this.#startNext();
      },
      onDone: (exchange, reusable) => {
        this.#running.delete(exchange);
        this.#waiting.delete(exchange);
        exchange.lease?.release(reusable);
        if (this.#pending.delete(exchange)) this.#startNext();
      },
    };
  }

  /**
   * A read that finds its kept connection dead, before any answer, goes out again on another one, as Go's transport
   * does: the server, or something on the way, has closed it while it was idle.
   */
  #sendAgain(exchange: HttpExchange, error: TransportError): boolean {
    const { method, body } = exchange.request;
    const isRead = (method === 'GET' || method === 'HEAD') && body === undefined;
    if (!exchange.lease?.reused || !isRead || !(isConnectionReset(error) || isProbableEof(error))) return false;
    exchange.lease.release(false);
    void this.#start(exchange);
    return true;
  }

  #asksForGzip(headers: TransportRequest['headers']): boolean {
    return !this.#config.disableCompression && !hasHeader(headers, 'accept-encoding');
  }

  /** An HTTP proxy forwards requests for plain servers itself; for all else it is asked for a tunnel. */
  #isForwarded(): boolean {
    return this.#proxy !== undefined && this.#proxy.kind !== 'socks5' && this.#server.protocol === 'http:';
  }

  #poolFor(material: TlsMaterial, modules: Modules): PoolEntry {
    const current = this.#current;
    if (current?.material === material) return current;
    const connector = this.#connectorFor(material, modules.sockets);
    const { keepAliveMs, clock: scheduler } = this.#options;
    const pool = new ConnectionPool({ heads: this.#heads, scheduler, connector, keepAliveMs });
    this.#current = { material, pool };
    this.#pools.add(this.#current);
    // What runs on the former connections comes to its end there; idle ones go at once.
    current?.pool.retire(() => this.#pools.delete(current));
    return this.#current;
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

  #startNext(): void {
    const [next] = this.#waiting;
    if (!next) return;
    this.#waiting.delete(next);
    void this.#start(next);
  }
}

function hasHeader(headers: TransportRequest['headers'], wanted: string): boolean {
  for (const name in headers) if (name.length === wanted.length && name.toLowerCase() === wanted) return true;
  return false;
}

function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
