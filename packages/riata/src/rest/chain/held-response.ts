import { copyBytes } from '../transport/copy-bytes.js';
import type { ResponseHeaders, TransportFlow } from '../transport/transport.js';
import { DiscardSink } from './response-sinks.js';
import type { BodySink, ResponseNotes, ResponseSink } from './send.js';

/** Bytes that are buffered until the response has a reader. */
const maxWaitingBytes = 65_536;

/** Holds a response until it is known who reads it: exactly one of `deliver` and `discard` must follow. */
export class HeldResponse implements ResponseSink, BodySink, TransportFlow {
  #flow: TransportFlow | undefined;
  #sink: BodySink | undefined;
  /** Bytes that came before there was a reader, or in spite of a pause; later ones queue behind them. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #outcome: { readonly error?: unknown } | undefined;
  /** Whether the reader asked to pause; without a reader everything waits anyhow. */
  #isPaused = false;
  /** Whether the reader got the end or the error. */
  #isDelivered = false;
  readonly #signal: AbortSignal | undefined;
  status = 0;
  headers: ResponseHeaders = {};
  notes: ResponseNotes | undefined;

  /** After an abort of `signal` the rest is not needed. */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow, notes?: ResponseNotes): this {
    this.status = status;
    this.headers = headers;
    this.notes = notes;
    // No pause until there is a reader: a short body mostly comes with its headers, and the transport would parse it twice.
    this.#flow = flow;
    return this;
  }

  onData(chunk: Uint8Array): void {
    if (this.#sink && !this.#isPaused && this.#waiting.length === 0) {
      this.#sink.onData(chunk);
      return;
    }
    this.#waiting.push(copyBytes(chunk));
    this.#waitingBytes += chunk.byteLength;
    if (!this.#sink && this.#waitingBytes > maxWaitingBytes) this.#flow?.pause();
  }

  onEnd(): void {
    this.#outcome = {};
    this.#pump();
  }

  onError(error: unknown): void {
    // After any other failure the bytes before it are still good.
    if (this.#signal?.aborted) this.#waiting = [];
    this.#outcome = { error };
    this.#pump();
  }

  /** Hands the body to `sink`, starting at once. */
  deliver(sink: BodySink): void {
    this.#sink = sink;
    this.#pump();
  }

  /** Hands headers and body to `sink`. */
  passOn(sink: ResponseSink, notes = this.notes): void {
    let body: BodySink;
    try {
      body = sink.onHeaders(this.status, this.headers, this, notes);
    } catch (error) {
      this.discard();
      this.abort(error);
      sink.onError(error);
      return;
    }
    this.deliver(body);
  }

  /** Drops the body. */
  discard(): void {
    this.deliver(new DiscardSink(this));
  }

  #pump(): void {
    if (!this.#sink) return;
    try {
      while (!this.#isPaused && this.#waiting.length > 0) this.#sink.onData(this.#waiting.shift() as Uint8Array);
    } catch (error) {
      // As with a transport: a sink that throws ends the exchange, and gets its own error.
      if (this.#outcome) this.#outcome = { error };
      this.abort(error);
    }
    if (this.#waiting.length > 0 || this.#isDelivered) return;
    if (!this.#outcome) {
      if (!this.#isPaused) this.#flow?.resume();
      return;
    }
    // The end may come during a pause: there is nothing left to hold back.
    this.#isDelivered = true;
    if ('error' in this.#outcome) this.#sink.onError(this.#outcome.error);
    else this.#sink.onEnd();
  }

  pause(): void {
    this.#isPaused = true;
    this.#flow?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#pump();
  }

  write(bytes: Uint8Array): boolean {
    return this.#flow?.write?.(bytes) ?? false;
  }

  endWriting(): void {
    this.#flow?.endWriting?.();
  }

  onDrain(): void {
    this.#sink?.onDrain?.();
  }

  abort(reason?: unknown): void {
    this.#waiting = [];
    this.#flow?.abort(reason);
  }
}
