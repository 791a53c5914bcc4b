import { type ApiRequest, type ApiResponse, Relay } from '../chain/send.js';
import { copyBytes } from '../transport/copy-bytes.js';
import type { ResponseHeaders, TransportFlow, TransportSink } from '../transport/transport.js';

/** The whole answer to a request that the server accepted. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Uint8Array;
  /** The bytes are valid during the call alone. */
  readonly borrowed: boolean;
}

/** Makes of an answer what it is wanted for. */
export type ReadAnswer<T> = (answer: WholeAnswer) => T;

/** An attempt that was begun before those who retry, refresh credentials and warn were asked: theirs to be taken once. */
export interface BegunAttempt {
  /** From here on, what is sent is another attempt. */
  readonly isTaken: boolean;
  /** What it was sent with: credentials may be others by now. */
  readonly authorization: string | undefined;
  /** The response, or why there is none; undefined from the second time on. */
  take(): Promise<ApiResponse> | undefined;
}

/** What a {@link WholeExchange} needs of whoever sends the request. */
export interface WholeSender<T> {
  readonly request: ApiRequest;
  readonly read: ReadAnswer<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
  /** A longer body ends the exchange, with the error that `tooLarge` gives. */
  readonly maxBytes: number;
  tooLarge(): unknown;
  /** The headers of a plain success have come. */
  accepted(status: number): void;
  /** It is no plain success: the answer of the attempt goes the way of all the others. */
  handOver(begun: Promise<ApiResponse>): void;
}

/**
 * Takes a plain success in one go, from the transport to what it is read as: nearly every request ends like this, and all
 * that may come between (retries, warnings, a refusal) would cost it a dozen promises on the way.
 */
export class WholeExchange<T> implements TransportSink, WholeAnswer {
  readonly #sender: WholeSender<T>;
  #relay: Relay | undefined;
  #chunks: Uint8Array[] | undefined;
  #bytes = 0;
  #flow: TransportFlow | undefined;
  #isRead = false;
  #value: T | undefined;
  #failure: { readonly error: unknown } | undefined;
  status = 0;
  headers: ResponseHeaders = noHeaders;
  body: Uint8Array = noBytes;
  borrowed = false;

  constructor(sender: WholeSender<T>) {
    this.#sender = sender;
  }

  onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow): void {
    if (status < 200 || status > 206 || headers.warning !== undefined) {
      this.#handOver().onHeaders(status, headers, flow);
      return;
    }
    this.status = status;
    this.headers = headers;
    this.#flow = flow;
    this.#sender.accepted(status);
  }

  onData(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#relay !== undefined) this.#relay.onData(chunk);
    else if (this.#bytes > this.#sender.maxBytes) this.#giveUp();
    else if (this.#chunks === undefined && Number(this.headers['content-length']) === chunk.byteLength) {
      this.#readAll(chunk, true);
    } else {
      this.#chunks ??= [];
      this.#chunks.push(copyBytes(chunk));
    }
  }

  onEnd(): void {
    if (this.#relay !== undefined) {
      this.#relay.onEnd();
      return;
    }
    if (!this.#isRead) {
      const chunks = this.#chunks ?? [];
      this.#readAll(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks), false);
    }
    if (this.#failure !== undefined) this.#sender.reject(this.#failure.error);
    else this.#sender.resolve(this.#value as T);
  }

  onError(error: unknown): void {
    if (this.#relay === undefined && this.status > 0) this.#sender.reject(error);
    else (this.#relay ?? this.#handOver()).onError(error);
  }

  #giveUp(): void {
    if (this.#failure !== undefined) return;
    this.#chunks = undefined;
    this.#failure = { error: this.#sender.tooLarge() };
    this.#flow?.abort(this.#failure.error);
  }

  #readAll(body: Uint8Array, borrowed: boolean): void {
    this.#isRead = true;
    this.body = body;
    this.borrowed = borrowed;
    try {
      this.#value = this.#sender.read(this);
    } catch (error) {
      this.#failure = { error };
    }
  }

  #handOver(): Relay {
    const begun = new Promise<ApiResponse>((resolve, reject) => {
      this.#relay = new Relay(this.#sender.request, resolve, reject);
    });
    this.#sender.handOver(begun);
    return this.#relay as unknown as Relay;
  }
}

const noHeaders: ResponseHeaders = Object.freeze({});
const noBytes = new Uint8Array(0);
