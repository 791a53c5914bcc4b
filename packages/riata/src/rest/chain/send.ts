import type { BegunAttempt } from '../request/whole-exchange.js';
import { copyBytes } from '../transport/copy-bytes.js';
import type {
  ResponseHeaders,
  Transport,
  TransportFlow,
  TransportRequest,
  TransportSink,
} from '../transport/transport.js';

/** A request on its way through the chain of wrappers. */
export interface ApiRequest extends TransportRequest {
  /** Whole URL, for messages and whoever goes by the host; what is sent is `path`. */
  readonly url: string;
  /** Called right before each sending, when all waits are over; what it throws is the outcome, and nothing is sent. */
  readonly beforeSend?: () => void;
  /** An attempt that is under way already: what is sent first is this. */
  readonly begun?: BegunAttempt;
}

/** Takes the body of a response: a {@link TransportSink} after its headers. */
export type BodySink = Omit<TransportSink, 'onHeaders'>;

/**
 * A response whose headers are there. The body waits until somebody asks: each must be ended by exactly one of
 * `deliver` and `discard`.
 */
export interface ApiResponse extends TransportFlow {
  readonly status: number;
  /** Set by whoever takes secrets out of them. */
  headers: ResponseHeaders;
  /** How often the request was sent until this came; set by whoever retries. */
  attempts: number;
  /** Why it may have come to this refusal, as far as it is known on this side. */
  problem?: string;
  /** Hands the body to `sink`, starting at once. */
  deliver(sink: BodySink): void;
  /** Lets go of the body: a short one is read to its end so that the connection can be used again. */
  discard(): void;
  /** Calls `fn` when nothing more can come: after the end, an error, which it is told of, or an abort. */
  whenClosed(fn: (failure?: { readonly error: unknown }) => void): void;
}

/**
 * Sends a request and resolves when the response's headers are there, whatever its status; rejects when none came.
 * Each concern of a request (credentials, retries, …) is a wrapper of this one type.
 */
export type Send = (request: ApiRequest) => Promise<ApiResponse>;

/** The innermost {@link Send}: over a transport. */
export function sendOver(transport: Transport): Send {
  return (request) =>
    request.begun?.take() ??
    new Promise((resolve, reject) => {
      request.beforeSend?.();
      transport.dispatch(request, new Relay(request, resolve, reject));
    });
}

/** As much as is taken in while it is not known yet who takes the body. */
const maxWaitingBytes = 65_536;

/** What a body may have at most to be worth reading only for the sake of the connection. */
const maxDiscardBytes = 2048;

/** Bridges the transport's calls, which come when they come, and a sink that is found out later. */
export class Relay implements TransportSink, ApiResponse {
  readonly #request: ApiRequest;
  readonly #resolve: (response: ApiResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onClosed: ((failure?: { readonly error: unknown }) => void)[] = [];
  #flow: TransportFlow | undefined;
  #sink: BodySink | undefined;
  /** What came before there was a sink, or in spite of a pause. While this holds anything, new chunks go behind it. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #outcome: { readonly error?: unknown } | undefined;
  /** Whether the taker asked to wait; without a sink everything waits anyhow. */
  #paused = false;
  #told = false;
  #aborted = false;
  status = 0;
  headers: ResponseHeaders = {};
  attempts = 1;

  constructor(request: ApiRequest, resolve: (response: ApiResponse) => void, reject: (error: unknown) => void) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow): void {
    this.status = status;
    this.headers = headers;
    this.#flow = flow;
    // A short body mostly comes with its headers: to stop the transport for the moment until somebody takes it would make
    // it go over the same bytes twice.
    this.#resolve(this);
  }

  onData(chunk: Uint8Array): void {
    if (this.#sink && !this.#paused && this.#waiting.length === 0) {
      this.#sink.onData(chunk);
      return;
    }
    this.#waiting.push(copyBytes(chunk));
    this.#waitingBytes += chunk.byteLength;
    if (!this.#sink && this.#waitingBytes > maxWaitingBytes) this.#flow?.pause();
  }

  onEnd(): void {
    this.#close({});
  }

  onError(error: unknown): void {
    this.#reject(error);
    // Whoever aborts does not care for the rest; after any other failure what had arrived is still good.
    if (this.#request.signal?.aborted) this.#waiting = [];
    this.#close({ error });
  }

  #close(outcome: { readonly error?: unknown }): void {
    this.#outcome = outcome;
    for (const fn of this.#onClosed.splice(0)) fn(this.#failure());
    this.#pump();
  }

  #pump(): void {
    if (!this.#sink) return;
    try {
      while (!this.#paused && this.#waiting.length > 0) this.#sink.onData(this.#waiting.shift() as Uint8Array);
    } catch (error) {
      // As with a transport: a sink that throws ends the exchange, and hears so.
      if (this.#outcome) this.#outcome = { error };
      this.abort(error);
    }
    if (this.#waiting.length > 0 || this.#told) return;
    if (!this.#outcome) {
      if (!this.#paused) this.#flow?.resume();
      return;
    }
    // An end while paused can be told: there is nothing left to hold back.
    this.#told = true;
    if ('error' in this.#outcome) this.#sink.onError(this.#outcome.error);
    else this.#sink.onEnd();
  }

  deliver(sink: BodySink): void {
    this.#sink = sink;
    this.#pump();
  }

  discard(): void {
    let read = 0;
    this.deliver({
      onData: (chunk) => {
        read += chunk.byteLength;
        if (read > maxDiscardBytes) this.abort(new Error('the rest of the response is not wanted'));
      },
      onEnd: () => {},
      onError: () => {},
    });
  }

  whenClosed(fn: (failure?: { readonly error: unknown }) => void): void {
    if (this.#outcome) fn(this.#failure());
    else this.#onClosed.push(fn);
  }

  /** What went wrong; that whoever takes the body wanted no more of it did not. */
  #failure(): { readonly error: unknown } | undefined {
    const outcome = this.#outcome;
    return outcome && 'error' in outcome && !this.#aborted ? { error: outcome.error } : undefined;
  }

  pause(): void {
    this.#paused = true;
    this.#flow?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#pump();
  }

  abort(reason?: unknown): void {
    this.#aborted = true;
    this.#waiting = [];
    this.#flow?.abort(reason);
  }
}

/** Reads a whole body of `limit` bytes at most: a longer one ends the exchange, and rejects with `tooLarge`. */
export function readBody(response: ApiResponse, limit: number, tooLarge: () => unknown): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    response.deliver({
      onData(chunk) {
        size += chunk.byteLength;
        if (size > limit) {
          chunks.length = 0;
          reject(tooLarge());
          response.abort(new Error('the response is too large'));
        } else chunks.push(copyBytes(chunk));
      },
      onEnd: () => resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, size)),
      onError: reject,
    });
  });
}

/** Reads the beginning of a body: what comes after `limit` bytes is cut off, and the exchange ended. */
export function readBeginning(response: ApiResponse, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    response.deliver({
      onData(chunk) {
        chunks.push(copyBytes(chunk));
        size += chunk.byteLength;
        if (size >= limit) {
          resolve(Buffer.concat(chunks, limit));
          response.abort(new Error(`the response is longer than ${limit} bytes`));
        }
      },
      onEnd: () => resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, size)),
      onError: reject,
    });
  });
}
