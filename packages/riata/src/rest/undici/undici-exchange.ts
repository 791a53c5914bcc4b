import type { Dispatcher } from 'undici';
import type { Scheduler, Timer } from '../../runtime/clock.js';
import { onAbort } from '../../runtime/signals.js';
import { copyBytes } from '../copy-bytes.js';
import { IdleLimit } from '../idle-limit.js';
import type { ResponseHeaders, TransportFlow, TransportRequest, TransportSink } from '../transport.js';
import { TransportError } from '../transport-error.js';
import { explainFailure } from './explain-failure.js';
import { GunzipBody } from './gunzip-body.js';
import { readHeaders } from './header-text.js';

type Zlib = typeof import('node:zlib');
type Controller = Dispatcher.DispatchController;

export interface ExchangeOptions {
  readonly scheduler: Scheduler;
  /** For messages: without query and credentials. */
  readonly url: string;
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** There when we asked for gzip ourselves, so decoding is ours too. Loaded with the first request. */
  readonly zlib?: () => Zlib | undefined;
  /** Sends the request again, if it may be, after a failure before its headers; true if so. */
  readonly sendAgain: (exchange: UndiciExchange, error: TransportError) => boolean;
  /** The headers have come. */
  readonly onAnswered: (exchange: UndiciExchange) => void;
  /** The exchange has ended. `reusable`: with all of its response, so that the connection may serve another. */
  readonly onDone: (exchange: UndiciExchange, reusable: boolean) => void;
}

/** One request and its response, as undici's handler on one side and the sink's source on the other. */
export class UndiciExchange implements Dispatcher.DispatchHandler {
  readonly request: TransportRequest;
  readonly #sink: TransportSink;
  readonly #options: ExchangeOptions;
  readonly #idle: IdleLimit;
  readonly #abortListener: Disposable;
  #headersTimer: Timer | undefined;
  #controller: Controller | undefined;
  #gunzip: GunzipBody | undefined;
  #sent = false;
  #answered = false;
  #done = false;
  #paused = false;
  /** A chunk, and the end, that came after a pause: undici notices a pause only with the next piece. */
  #held: Uint8Array | undefined;
  #heldEnd = false;

  constructor(request: TransportRequest, sink: TransportSink, options: ExchangeOptions) {
    this.request = request;
    this.#sink = sink;
    this.#options = options;
    this.#idle = new IdleLimit(options.scheduler, options.idleTimeoutMs, () => this.#onIdle());
    this.#abortListener = onAbort(request.signal, () => this.end(request.signal?.reason));
  }

  get done(): boolean {
    return this.#done;
  }

  /** Ends the exchange with `reason` as it is. Does nothing when it has ended. */
  end(reason: unknown): void {
    if (this.#done) return;
    this.#finish(false);
    this.#call(() => this.#sink.onError(reason));
  }

  /** Ends the exchange with an explanation of `error`. */
  fail(error: unknown): void {
    if (!this.#done) this.end(this.#explain(error));
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#done) {
      // Ended in the moment the connection was there; nothing is written then.
      controller.abort(new Error('aborted'));
      return;
    }
    this.#sent = true;
    const { scheduler, headersTimeoutMs } = this.#options;
    if (headersTimeoutMs <= 0) return;
    this.#headersTimer?.cancel();
    this.#headersTimer = scheduler.after(headersTimeoutMs, () => this.#onHeadersTimeout(), { background: true });
  }

  onResponseStart(_: Controller, status: number, headers: ResponseHeaders): void {
    // 1xx come before the real ones.
    if (this.#done || status < 200) return;
    this.#answer();
    this.#idle.start();
    const zlib = this.#options.zlib?.();
    let shown = readHeaders(headers);
    if (zlib && isGzip(headers['content-encoding'])) {
      this.#gunzip = this.#decode(zlib);
      const { 'content-encoding': _encoding, 'content-length': _length, ...rest } = shown;
      shown = rest;
    }
    this.#guard(() => this.#sink.onHeaders(status, shown, this.#flow));
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    if (this.#done) return;
    this.#idle.touch();
    // The chunk is valid during this call only: see LentReads.
    if (this.#gunzip) this.#gunzip.write(copyBytes(chunk));
    else if (this.#paused) this.#held = copyBytes(chunk);
    else this.#guard(() => this.#sink.onData(chunk));
  }

  onResponseEnd(): void {
    if (this.#done) return;
    if (this.#gunzip) this.#gunzip.end();
    else if (this.#paused) this.#heldEnd = true;
    else this.#complete();
  }

  onResponseError(_: Controller, error: Error): void {
    if (this.#done) return;
    const explained = this.#explain(error);
    this.#headersTimer?.cancel();
    if (this.#answered || !this.#options.sendAgain(this, explained)) this.end(explained);
  }

  readonly #flow: TransportFlow = {
    pause: () => {
      if (this.#done || this.#paused) return;
      this.#paused = true;
      this.#idle.stop();
      if (this.#gunzip) this.#gunzip.pause();
      else this.#controller?.pause();
    },
    resume: () => {
      if (this.#done || !this.#paused) return;
      this.#paused = false;
      this.#idle.start();
      if (this.#gunzip) this.#gunzip.resume();
      else this.#releaseHeld();
    },
    abort: (reason) => this.end(reason === undefined ? this.#error('aborted', 'aborted') : reason),
  };

  #releaseHeld(): void {
    const chunk = this.#held;
    this.#held = undefined;
    if (chunk) this.#guard(() => this.#sink.onData(chunk));
    if (this.#done || this.#paused) return;
    if (this.#heldEnd) this.#complete();
    else this.#controller?.resume();
  }

  #decode(zlib: Zlib): GunzipBody {
    return new GunzipBody(zlib, {
      onData: (chunk) => {
        if (!this.#done) this.#guard(() => this.#sink.onData(chunk));
      },
      onEnd: () => this.#complete(),
      onError: (error) => this.fail(error),
      onFull: () => this.#controller?.pause(),
      onDrain: () => this.#controller?.resume(),
    });
  }

  #complete(): void {
    if (this.#done) return;
    this.#finish(true);
    this.#call(() => this.#sink.onEnd());
  }

  #onHeadersTimeout(): void {
    const what = `no response within ${this.#options.headersTimeoutMs} ms after the request was sent`;
    this.end(this.#error('headers-timeout', what));
  }

  #onIdle(): void {
    const what = `nothing came for ${this.#options.idleTimeoutMs} ms in the middle of the response; taken for half-open`;
    this.end(this.#error('idle-timeout', what));
  }

  #error(kind: 'headers-timeout' | 'idle-timeout' | 'aborted', what: string): TransportError {
    const message = `${this.request.method} ${this.#options.url}: ${what}`;
    return new TransportError(message, { kind, requestSent: this.#sent });
  }

  #explain(error: unknown): TransportError {
    const { method } = this.request;
    const { url } = this.#options;
    return explainFailure(error, { method, url, requestSent: this.#sent, answered: this.#answered });
  }

  #answer(): void {
    if (this.#answered) return;
    this.#answered = true;
    this.#headersTimer?.cancel();
    this.#options.onAnswered(this);
  }

  /** From here on nothing more reaches the sink, and nothing of ours is left on signal or clock. */
  #finish(reusable: boolean): void {
    this.#done = true;
    this.#held = undefined;
    this.#headersTimer?.cancel();
    this.#idle.stop();
    this.#abortListener[Symbol.dispose]();
    this.#gunzip?.destroy();
    this.#options.onDone(this, reusable);
  }

  /** A sink that throws ends its exchange, and hears so. */
  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.end(error);
    }
  }

  /** The last call of all: what it throws has nowhere to go but out, and never into undici. */
  #call(call: () => void): void {
    try {
      call();
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

function isGzip(encoding: string | readonly string[] | undefined): boolean {
  return typeof encoding === 'string' && /^(x-)?gzip$/i.test(encoding.trim());
}
