import type { ApiRequest, BodySink, ResponseSink } from '../chain/send.js';
import { describeRequest } from '../errors/redact.js';
import { TransportError } from '../errors/transport-error.js';
import { copyBytes } from '../transport/copy-bytes.js';
import type { ResponseHeaders, TransportFlow } from '../transport/transport.js';
import type { WholeResponse } from './rest-result.js';

/** Reads a response as a whole. A body that comes in one piece, as most do, is read in place, without a copy. */
export class WholeSink<T> implements ResponseSink, BodySink, WholeResponse {
  readonly #request: ApiRequest;
  readonly #maxBytes: number;
  readonly #read: (response: WholeResponse) => T;
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: unknown) => void;
  readonly redact: (text: string) => string;
  #flow: TransportFlow | undefined;
  #chunks: Uint8Array[] | undefined;
  #size = 0;
  #outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  statusCode = 0;
  headers: ResponseHeaders = noHeaders;
  body: Uint8Array = noBytes;

  constructor(
    request: ApiRequest,
    redact: (text: string) => string,
    maxBytes: number,
    read: (response: WholeResponse) => T,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.redact = redact;
    this.#maxBytes = maxBytes;
    this.#read = read;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get method(): string {
    return this.#request.method;
  }

  get url(): string {
    return this.#request.url;
  }

  onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow): this {
    this.statusCode = status;
    this.headers = headers;
    this.#flow = flow;
    return this;
  }

  onData(chunk: Uint8Array): void {
    this.#size += chunk.byteLength;
    if (this.#outcome !== undefined) return;
    if (this.#size > this.#maxBytes) this.#refuse();
    else if (this.#chunks === undefined && Number(this.headers['content-length']) === chunk.byteLength) {
      this.#readAll(chunk);
    } else {
      this.#chunks ??= [];
      this.#chunks.push(copyBytes(chunk));
    }
  }

  onEnd(): void {
    if (this.#outcome === undefined) this.#readAll(Buffer.concat(this.#chunks ?? [], this.#size));
    const outcome = this.#outcome as { readonly value: T } | { readonly error: unknown } | undefined;
    if (outcome !== undefined && 'value' in outcome) this.#resolve(outcome.value);
    else this.#reject(outcome?.error);
  }

  onError(error: unknown): void {
    this.#reject(this.#outcome !== undefined && 'error' in this.#outcome ? this.#outcome.error : error);
  }

  #readAll(body: Uint8Array): void {
    this.body = body;
    try {
      this.#outcome = { value: this.#read(this) };
    } catch (error) {
      this.#outcome = { error };
    }
    this.body = noBytes;
  }

  #refuse(): void {
    const { method, url } = this.#request;
    const error = new TransportError(
      `${describeRequest(method, url)}: the response has more than ${this.#maxBytes} bytes, decompressed; raise ` +
        'maxObjectBytes of the client, or read it in pieces: a list by its items, anything else by stream()',
      { kind: 'too-large', requestSent: true },
    );
    this.#chunks = undefined;
    this.#outcome = { error };
    this.#flow?.abort(error);
  }
}

const noHeaders: ResponseHeaders = Object.freeze({});
const noBytes = new Uint8Array(0);
