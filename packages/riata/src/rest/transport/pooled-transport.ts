import type { RestConfig, TlsMaterial } from '../config/rest-config.js';
import { isConnectionReset, isProbableEof, type TransportError } from '../errors/transport-error.js';
import { ConnectFailure } from './http/connect-failure.js';
import type { Pool } from './http/connection-pool.js';
import { type ExchangeHost, HttpExchange } from './http/http-exchange.js';
import { ServerTarget } from './http/server-target.js';
import type { SocketConnector } from './http/socket-connector.js';
import type { HttpTransport, HttpTransportStats, ResolvedHttpOptions } from './http-transport-options.js';
import type { TransportRequest, TransportSink } from './transport.js';

/** What is loaded with the first request: TLS takes Node some 15 ms. */
interface Modules {
  readonly sockets: typeof import('./http/socket-connector.js');
}

async function loadModules(): Promise<Modules> {
  return { sockets: await import('./http/socket-connector.js') };
}

interface PoolEntry {
  readonly material: TlsMaterial;
  readonly pool: Pool;
}

const noMaterial: TlsMaterial = Object.freeze({});

/** Opens a pool whose connections the connector dials. */
export type CreatePool = (connector: SocketConnector, target: ServerTarget) => Pool;

/**
 * An HTTP transport without the HTTP: credentials, `maxPending`, rotation of certificates, second attempts and limits.
 * `createPool` says by which client requests are sent.
 */
export class PooledTransport implements HttpTransport {
  readonly #config: RestConfig;
  readonly #maxPending: number;
  readonly #target: ServerTarget;
  readonly #createPool: CreatePool;
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

  constructor(config: RestConfig, options: ResolvedHttpOptions, createPool: CreatePool) {
    this.#config = config;
    this.#createPool = createPool;
    this.#maxPending = options.maxPending || Number.POSITIVE_INFINITY;
    this.#target = new ServerTarget(config, options);
    this.#host = this.#exchangeHost(this.#target.url, options);
  }

  dispatch(request: TransportRequest, sink: TransportSink): void {
    const { signal } = request;
    if (signal?.aborted) {
      queueMicrotask(() => sink.onError(signal.reason));
      return;
    }
    const exchange = new HttpExchange(request, sink, this.#host, this.#asksForGzip(request));
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
    // Asynchronous like every other failure: a caller that closes within a callback is not called back within it.
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
    const material = credentials === undefined ? noMaterial : credentials.tryCached?.()?.tls;
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
      // The exchange itself reports an abort meanwhile.
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
      const text = `the request cannot be sent: its path must start with "/", got "${path.split('?', 1)[0]}"`;
      queueMicrotask(() => exchange.fail(new ConnectFailure('invalid-request', text)));
      return;
    }
    // Sent over a connection that the server has closed meanwhile, a command could be lost without a second attempt.
    exchange.sendOver(pool.acquire(exchange.request.upgrade !== undefined));
  }

  #exchangeHost(url: string, { headersTimeoutMs, idleTimeoutMs }: ResolvedHttpOptions): ExchangeHost {
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
    const { method, body, bodyStream } = exchange.request;
    const isRead = (method === 'GET' || method === 'HEAD') && body === undefined && bodyStream === undefined;
    if (!exchange.lease?.connection.reused || !isRead || !(isConnectionReset(error) || isProbableEof(error)))
      return false;
    exchange.lease.release(false);
    void this.#start(exchange);
    return true;
  }

  #asksForGzip({ headers, upgrade }: TransportRequest): boolean {
    return upgrade === undefined && !this.#config.disableCompression && !hasHeader(headers, 'accept-encoding');
  }

  #poolFor(material: TlsMaterial, modules: Modules): PoolEntry {
    const current = this.#current;
    if (current?.material === material) return current;
    const connector = this.#target.connector(material, modules.sockets);
    const pool = this.#createPool(connector, this.#target);
    this.#current = { material, pool };
    this.#pools.add(this.#current);
    // What runs on the former connections comes to its end there; idle ones go at once.
    current?.pool.retire(() => this.#pools.delete(current));
    return this.#current;
  }

  #startNext(): void {
    const [next] = this.#waiting;
    if (!next) return;
    this.#waiting.delete(next);
    void this.#start(next);
  }
}

function hasHeader(headers: TransportRequest['headers'], expected: string): boolean {
  for (const name in headers) if (name.length === expected.length && name.toLowerCase() === expected) return true;
  return false;
}
