import { Buffer } from 'node:buffer';
import { apiErrorFrom } from '../../../rest/errors/api-error.js';
import type { ByteStream } from '../../../rest/stream/byte-stream.js';
import type { ResponseHeaders } from '../../../rest/transport/transport.js';
import { ProxyError } from './proxy-error.js';

/** As much of an answer is read to find out whether it is a Status, and kept for an error. */
const maxErrorBytes = 64 * 1024;

/**
 * The answer of a Pod, Service or Node to a proxied request, whatever its status. Its body is an async iterable of
 * bytes, to be read once; a slow reader slows the target down. Leaving the loop and disposal end the exchange.
 */
export class ProxyResponse implements AsyncIterable<Uint8Array>, AsyncDisposable {
  readonly status: number;
  /** Names in lower case; a header that came several times is an array. */
  readonly headers: ResponseHeaders;
  readonly #stream: ByteStream;
  readonly #what: string;
  /** What was read of the body already. */
  readonly #begun: readonly Uint8Array[];

  /** Refusals of the API server itself reject with an `ApiError`. */
  static async from(stream: ByteStream, request: ProxiedRequest): Promise<ProxyResponse> {
    const { statusCode: code, headers, contentType } = stream;
    if (code < 400 || !/^application\/json\b/i.test(contentType)) return new ProxyResponse(stream, request.what, []);
    const begun: Uint8Array[] = [];
    let bytes = 0;
    let isWhole = false;
    while (bytes <= maxErrorBytes && !isWhole) {
      const { value, done } = await stream.next();
      if (done) isWhole = true;
      else {
        begun.push(value);
        bytes += value.length;
      }
    }
    const body = Buffer.concat(begun);
    if (!isWhole || !isStatus(body)) return new ProxyResponse(stream, request.what, begun);
    const { method, url } = request;
    throw apiErrorFrom({ code, headers, method, url, body });
  }

  private constructor(stream: ByteStream, what: string, begun: readonly Uint8Array[]) {
    this.#stream = stream;
    this.#what = what;
    this.#begun = begun;
    this.status = stream.statusCode;
    this.headers = stream.headers;
  }

  /** Whether the status is a success: 200 to 299. */
  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** The whole body. Throws a {@link ProxyError} unless the status is a success. */
  async bytes(): Promise<Uint8Array> {
    if (!this.ok) throw await this.#failure();
    const pieces: Uint8Array[] = [];
    for await (const piece of this) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** The whole body as text, like {@link bytes}. */
  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  /** The whole body as JSON, like {@link bytes}. */
  async json(): Promise<unknown> {
    const text = await this.text();
    try {
      return JSON.parse(text);
    } catch (cause) {
      const type = this.#stream.contentType || 'no content type';
      throw new TypeError(`${this.#what}: the answer is not JSON (${type})`, { cause });
    }
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    yield* this.#begun;
    yield* this.#stream;
  }

  /** Ends the exchange. */
  async close(): Promise<void> {
    this.#stream.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #failure(): Promise<ProxyError> {
    const pieces: Uint8Array[] = [];
    let left = maxErrorBytes;
    for await (const piece of this) {
      pieces.push(piece.subarray(0, left));
      left -= piece.length;
      if (left <= 0) break;
    }
    const body = Buffer.concat(pieces).toString();
    const line = body.trim().split('\n', 1)[0]?.slice(0, 200) ?? '';
    const text = `${this.#what}: the target answered ${this.status}${line === '' ? '' : `: ${line}`}`;
    return new ProxyError(text, { status: this.status, body });
  }
}

/** How errors name a request. */
export interface ProxiedRequest {
  readonly what: string;
  readonly method: string;
  readonly url: string;
}

/** Whether an answer is the API server's own: a target that answers with a Status itself looks the same. */
function isStatus(body: Buffer): boolean {
  try {
    const { kind, apiVersion, status } = JSON.parse(body.toString()) as Record<string, unknown>;
    return kind === 'Status' && apiVersion === 'v1' && status === 'Failure';
  } catch {
    return false;
  }
}
