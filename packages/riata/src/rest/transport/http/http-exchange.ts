import { onAbort } from '../../../runtime/signals.js';
import { TransportError } from '../../errors/transport-error.js';
import { copyBytes } from '../copy-bytes.js';
import type { ResponseHeaders, TransportFlow, TransportRequest, TransportSink } from '../transport.js';
import type { Lease } from './connection-pool.js';
import { explainFailure } from './explain-failure.js';
import { GunzipBody } from './gunzip-body.js';
import type { ConnectionUser } from './http-connection.js';
import type { ResponseHead } from './response-head.js';

type Zlib = typeof import('node:zlib');

/** What all exchanges of one transport share. */
export interface ExchangeHost {
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Address of the server, for messages: without query and credentials. */
  readonly url: string;
  /** Loaded with the first answer that needs it: few are so long that servers compress them. */
  zlib(): Zlib;
  /** Sends the request again, if it may be, after a failure before its headers; true if so. */
  sendAgain(exchange: HttpExchange, error: TransportError): boolean;
  /** The headers have come. */
  onAnswered(exchange: HttpExchange): void;
  /** The exchange has ended. `reusable`: with all of its response, so that the connection may serve another. */
  onDone(exchange: HttpExchange, reusable: boolean): void;
}

/** One request and its response: what uses a connection on one side, and the sink's source on the other. */
export class HttpExchange implements ConnectionUser, TransportFlow {
  readonly request: TransportRequest;
  /** Whether we ask for gzip ourselves, so that decoding is ours too. */
  readonly gzip: boolean;
  /** The connection that it was sent over last. */
  lease: Lease | undefined;
  readonly #sink: TransportSink;
  readonly #host: ExchangeHost;
  readonly #abortListener: Disposable;
  #gunzip: GunzipBody | undefined;
  #sent = false;
  #answered = false;
  #received = false;
  #done = false;

  constructor(request: TransportRequest, sink: TransportSink, host: ExchangeHost, gzip: boolean) {
    this.request = request;
    this.#sink = sink;
    this.#host = host;
    this.gzip = gzip;
    this.#abortListener = onAbort(request.signal, () => this.end(request.signal?.reason));
  }

  get done(): boolean {
    return this.#done;
  }

  /** Sends the request over a connection that no other exchange uses. */
  sendOver(lease: Lease): void {
    this.lease = lease;
    lease.connection.send(this);
  }

  /** Ends the exchange with `reason` as it is. Does nothing when it has ended. */
  end(reason: unknown): void {
    if (this.#done) return;
    this.#finish(false);
    try {
      this.#sink.onError(reason);
    } catch (error) {
      throwLater(error);
    }
  }

  /** Ends the exchange with an explanation of `error`. */
  fail(error: unknown): void {
    if (!this.#done) this.end(this.#explain(error));
  }

  onReady(): boolean {
    if (this.#done) return false;
    this.#sent = true;
    this.lease?.connection.deadline.set(this.request.headersTimeoutMs ?? this.#host.headersTimeoutMs);
    return true;
  }

  onHead({ status, headers }: Pick<ResponseHead, 'status' | 'headers'>): void {
    if (this.#done) return;
    this.#answered = true;
    this.#host.onAnswered(this);
    this.lease?.connection.deadline.limitSilence(this.#idleTimeoutMs);
    let shown: ResponseHeaders = headers;
    const zlib = this.gzip && isGzip(headers['content-encoding']) ? this.#host.zlib() : undefined;
    if (zlib) {
      this.#gunzip = this.#decode(zlib);
      const { 'content-encoding': _encoding, 'content-length': _length, ...rest } = headers;
      shown = rest;
    }
    try {
      this.#sink.onHeaders(status, shown, this);
    } catch (error) {
      this.end(error);
    }
  }

  onBody(chunk: Uint8Array): void {
    if (this.#done) return;
    this.lease?.connection.deadline.restart();
    if (this.#gunzip) this.#gunzip.write(copyBytes(chunk));
    else this.#hand(chunk);
  }

  onEnd(): void {
    this.#received = true;
    if (this.#gunzip) this.#gunzip.end();
    else this.#complete();
  }

  onError(error: unknown): void {
    if (this.#done) return;
    const explained = this.#explain(error);
    if (this.#answered || !this.#host.sendAgain(this, explained)) this.end(explained);
  }

  onLate(): void {
    if (this.#answered) {
      const silent = `nothing came for ${this.#idleTimeoutMs} ms in the middle of the response; taken for half-open`;
      this.end(this.#error('idle-timeout', silent));
    } else {
      const limit = this.request.headersTimeoutMs ?? this.#host.headersTimeoutMs;
      this.end(this.#error('headers-timeout', `no response within ${limit} ms after the request was sent`));
    }
  }

  pause(): void {
    if (this.#done) return;
    this.#gunzip?.pause();
    this.#hold();
  }

  resume(): void {
    if (this.#done) return;
    this.#release();
    this.#gunzip?.resume();
  }

  abort(reason?: unknown): void {
    this.end(reason === undefined ? this.#error('aborted', 'aborted') : reason);
  }

  write(bytes: Uint8Array): boolean {
    return this.#done || (this.lease?.connection.write(bytes) ?? false);
  }

  endWriting(): void {
    if (!this.#done) this.lease?.connection.endWriting();
  }

  onDrain(): void {
    if (!this.#done) this.#sink.onDrain?.();
  }

  get #idleTimeoutMs(): number {
    return this.request.idleTimeoutMs ?? this.#host.idleTimeoutMs;
  }

  /** Holds the response back. Silence that is our own doing is not counted. */
  #hold(): void {
    if (this.#received || this.lease === undefined) return;
    this.lease.connection.deadline.set(0);
    this.lease.connection.pause();
  }

  #release(): void {
    if (this.#received || this.lease === undefined) return;
    this.lease.connection.deadline.restart();
    this.lease.connection.resume();
  }

  #decode(zlib: Zlib): GunzipBody {
    return new GunzipBody(zlib, {
      onData: (chunk) => {
        if (!this.#done) this.#hand(chunk);
      },
      onEnd: () => this.#complete(),
      onError: (error) => this.fail(error),
      onFull: () => this.#hold(),
      onDrain: () => this.#release(),
    });
  }

  /** A sink that throws ends its exchange and gets the error. */
  #hand(chunk: Uint8Array): void {
    try {
      this.#sink.onData(chunk);
    } catch (error) {
      this.end(error);
    }
  }

  #complete(): void {
    if (this.#done) return;
    this.#finish(true);
    try {
      this.#sink.onEnd();
    } catch (error) {
      throwLater(error);
    }
  }

  #error(kind: 'headers-timeout' | 'idle-timeout' | 'aborted', what: string): TransportError {
    return new TransportError(`${this.#what()}: ${what}`, { kind, requestSent: this.#sent });
  }

  #explain(error: unknown): TransportError {
    return explainFailure(error, { what: this.#what(), requestSent: this.#sent, answered: this.#answered });
  }

  #what(): string {
    const { method, path } = this.request;
    return `${method} ${this.#host.url}${path.split('?', 1)[0]}`;
  }

  /** From here on nothing more reaches the sink, and nothing of ours is left on signal or clock. */
  #finish(reusable: boolean): void {
    this.#done = true;
    this.#abortListener[Symbol.dispose]();
    this.#gunzip?.destroy();
    this.#host.onDone(this, reusable);
  }
}

function isGzip(encoding: string | readonly string[] | undefined): boolean {
  return typeof encoding === 'string' && /^(x-)?gzip$/i.test(encoding.trim());
}

/** After the last call of all, what a sink throws has nowhere to go but out. */
function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
