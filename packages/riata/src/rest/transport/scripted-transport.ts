import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Random } from '../../runtime/random.js';
import { onAbort } from '../../runtime/signals.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { systemClock } from '../../runtime/time/system-clock.js';
import { TransportError, type TransportErrorKind } from '../errors/transport-error.js';
import { LazyDeadline } from './lazy-deadline.js';
import type { ResponseHeaders, Transport, TransportFlow, TransportRequest, TransportSink } from './transport.js';

/** A request as the script of a {@link scriptedTransport} sees it. */
export interface ScriptedRequest {
  /** Counts the requests of this transport, from 1. */
  readonly number: number;
  readonly method: string;
  /** Path and query as given. */
  readonly path: string;
  /** The same, taken apart. */
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** A copy of the body's bytes; empty without one. */
  readonly body: Uint8Array;
  /** The body as UTF-8. */
  text(): string;
  /** The body as JSON; throws a `SyntaxError` if it is malformed. */
  json(): unknown;
  /** Aborts when the exchange has ended on the client's side. */
  readonly signal: AbortSignal;
}

/** A piece of a body. */
export type ScriptedChunk = string | Uint8Array;

/** What a script answers. */
export interface ScriptedAnswer {
  /** @default 200 */
  readonly status?: number;
  readonly headers?: ResponseHeaders;
  /**
   * Text, bytes, anything else as JSON (with the content type, unless given), or an iterable of pieces: an async one
   * may wait as a watch does, and an error it throws breaks the body off. @default no body
   */
  readonly body?: ScriptedChunk | Iterable<ScriptedChunk> | AsyncIterable<ScriptedChunk> | object;
}

/** Answers a request. What it throws comes as the exchange's error, as it is: see {@link scriptedFailure}. */
export type Script = (request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** How a {@link scriptedTransport} hands bytes over. */
export interface ScriptedTransportOptions {
  /**
   * How pieces of a body are cut up: not at all, at random positions, or every so many bytes. @default 'whole'
   */
  readonly chunks?: 'whole' | 'random' | number;
  /** Where random cuts come from; required with `chunks: 'random'`, so that a run can be repeated. */
  readonly random?: Random;
  /** For the limits of time that requests carry. @default systemClock */
  readonly clock?: Scheduler;
}

export const scriptedTransportOptionNames = optionNames<ScriptedTransportOptions>({
  chunks: true,
  random: true,
  clock: true,
});

/** A transport that is answered by a function, and what it was asked. */
export interface ScriptedTransport extends Transport {
  /** All that was asked so far, in order. */
  readonly requests: readonly ScriptedRequest[];
  /** Exchanges that have not ended. */
  readonly running: number;
}

/**
 * A transport without a network, for tests: a function answers. Bytes cross over and nothing else, so that neither side
 * can see what the other does with its objects; pause, abort and the limits of time work as over HTTP.
 *
 * @example
 * const transport = scriptedTransport(({ url }) =>
 *   url.pathname === '/version' ? { body: { gitVersion: 'v1.36.0' } } : { status: 404 });
 */
export function scriptedTransport(script: Script, options: ScriptedTransportOptions = {}): ScriptedTransport {
  refuseUnknownOptions('scriptedTransport', options, scriptedTransportOptionNames);
  const { chunks = 'whole', random, clock = systemClock } = options;
  if (chunks === 'random' && !random) {
    throw new TypeError("scriptedTransport: chunks 'random' requires { random }, such as seededRandom(1)");
  }
  const requests: ScriptedRequest[] = [];
  const running = new Set<ScriptedExchange>();
  let closed = false;
  const transport: ScriptedTransport = {
    requests,
    get running() {
      return running.size;
    },
    dispatch(request, sink) {
      const exchange = new ScriptedExchange(request, sink, clock, () => running.delete(exchange));
      running.add(exchange);
      const seen = describeRequest(request, requests.length + 1, exchange.signal);
      requests.push(seen);
      void exchange.run(
        async () => {
          if (closed) throw failure(request, 'closed', 'the transport was closed');
          return script(seen);
        },
        (bytes) => cut(bytes, chunks, random),
      );
    },
    async close() {
      closed = true;
      await undefined;
      for (const exchange of [...running]) exchange.fail('closed', 'the transport was closed');
    },
    [Symbol.asyncDispose]: () => transport.close(),
  };
  return transport;
}

/** A failure as a transport would report it, for scripts to throw: `throw scriptedFailure('reset')`. */
export function scriptedFailure(
  kind: TransportErrorKind,
  options: { readonly requestSent?: boolean } = {},
): TransportError {
  return new TransportError(`scripted failure: ${kind}`, { kind, requestSent: options.requestSent ?? true });
}

class ScriptedExchange {
  readonly #request: TransportRequest;
  readonly #sink: TransportSink;
  readonly #onDone: () => void;
  readonly #ended = new AbortController();
  /** For the headers, then for silence. */
  readonly #deadline: LazyDeadline;
  #abortListener: Disposable | undefined;
  #answered = false;
  #done = false;
  /** There while paused. */
  #resumed: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(request: TransportRequest, sink: TransportSink, clock: Scheduler, onDone: () => void) {
    this.#request = request;
    this.#sink = sink;
    this.#onDone = onDone;
    this.#deadline = new LazyDeadline(clock, () => {
      if (this.#answered) this.fail('idle-timeout', `nothing came for ${this.#idleTimeoutMs} ms`);
      else this.fail('headers-timeout', `no response within ${request.headersTimeoutMs} ms`);
    });
  }

  get #idleTimeoutMs(): number {
    return this.#request.idleTimeoutMs ?? 0;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  fail(kind: TransportErrorKind, what: string): void {
    this.#end(failure(this.#request, kind, what));
  }

  async run(script: () => Promise<ScriptedAnswer>, cutUp: (bytes: Uint8Array) => Iterable<Uint8Array>): Promise<void> {
    // Nothing comes before dispatch has returned.
    await undefined;
    const { signal, headersTimeoutMs = 0 } = this.#request;
    this.#abortListener = onAbort(signal, () => this.#end(signal?.reason));
    if (this.#done) return;
    this.#deadline.set(headersTimeoutMs);
    try {
      const { status = 200, headers = {}, body } = await script();
      if (this.#done) return;
      this.#answered = true;
      this.#deadline.cancel();
      this.#deadline.limitSilence(this.#idleTimeoutMs);
      const shown = isJson(body) ? { 'content-type': 'application/json', ...headers } : headers;
      this.#sink.onHeaders(status, structuredClone(shown), this.#flow);
      for await (const piece of pieces(body)) {
        // A copy of its own for the sink: nothing is shared.
        for (const chunk of cutUp(Buffer.from(piece as Uint8Array))) {
          if (await this.#isOver()) return;
          this.#deadline.restart();
          this.#sink.onData(chunk);
        }
        if (this.#done) return;
      }
      if (await this.#isOver()) return;
      this.#finish();
      this.#sink.onEnd();
    } catch (error) {
      this.#end(error);
    }
  }

  /** Waits while paused; true when the exchange has ended. */
  async #isOver(): Promise<boolean> {
    while (this.#resumed && !this.#done) await this.#resumed.promise;
    return this.#done;
  }

  readonly #flow: TransportFlow = {
    pause: () => {
      if (this.#done || this.#resumed) return;
      let resolve: () => void = () => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#resumed = { promise, resolve };
      this.#deadline.cancel();
    },
    resume: () => {
      if (!this.#resumed) return;
      this.#resumed.resolve();
      this.#resumed = undefined;
      if (!this.#done) this.#deadline.restart();
    },
    abort: (reason) => this.#end(reason === undefined ? failure(this.#request, 'aborted', 'aborted') : reason),
  };

  #end(error: unknown): void {
    if (this.#done) return;
    this.#finish();
    this.#sink.onError(error);
  }

  #finish(): void {
    this.#done = true;
    this.#deadline.cancel();
    this.#abortListener?.[Symbol.dispose]();
    this.#resumed?.resolve();
    this.#onDone();
    this.#ended.abort();
  }
}

function describeRequest(request: TransportRequest, number: number, signal: AbortSignal): ScriptedRequest {
  const { method, path, headers, body = '' } = request;
  const bytes = Uint8Array.from(Buffer.from(body as Uint8Array));
  const text = () => Buffer.from(bytes).toString('utf8');
  return {
    number,
    method,
    path,
    url: new URL(path, 'http://scripted'),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), structuredClone(value)]),
    ),
    body: bytes,
    text,
    json: () => JSON.parse(text()) as unknown,
    signal,
  };
}

function failure({ method, path }: TransportRequest, kind: TransportErrorKind, what: string): TransportError {
  return new TransportError(`${method} ${path.split('?', 1)[0]}: ${what}`, { kind, requestSent: kind !== 'closed' });
}

type Body = ScriptedAnswer['body'];

function isIterable(body: object): body is Iterable<ScriptedChunk> | AsyncIterable<ScriptedChunk> {
  return Symbol.iterator in body || Symbol.asyncIterator in body;
}

function isJson(body: Body): boolean {
  return typeof body === 'object' && !isIterable(body);
}

function pieces(body: Body): Iterable<ScriptedChunk> | AsyncIterable<ScriptedChunk> {
  if (body === undefined) return [];
  if (typeof body === 'string' || body instanceof Uint8Array) return [body];
  return isIterable(body) ? body : [JSON.stringify(body)];
}

function* cut(bytes: Uint8Array, how: 'whole' | 'random' | number, random: Random | undefined): Iterable<Uint8Array> {
  for (let from = 0; from < bytes.length; ) {
    const rest = bytes.length - from;
    // Short pieces are as likely as long ones: half of the cuts fall within the next few bytes.
    const drawn = random ? random.int(1, random.next() < 0.5 ? Math.min(rest, 8) : rest) : rest;
    const length = how === 'whole' ? rest : how === 'random' ? drawn : how;
    yield bytes.slice(from, from + length);
    from += length;
  }
}
