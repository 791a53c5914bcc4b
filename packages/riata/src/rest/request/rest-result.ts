import { isJsonObject } from '../../object/json.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { type DecodeOptions, decodeObject } from '../../object/scan/decode-object.js';
import { textOf } from '../../object/scan/native-bytes.js';
import { skipSpace } from '../../object/scan/object-scanner.js';
import { carryLoss } from '../../object/value/lossy.js';
import { parseWarnings, type Warning } from '../chain/warnings.js';
import { ApiError } from '../errors/api-error.js';
import { statusOf } from '../errors/error-body.js';
import { describeRequest } from '../errors/redact.js';
import { copyBytes } from '../transport/copy-bytes.js';
import type { ResponseHeaders } from '../transport/transport.js';
import { headerValue } from './header-values.js';

/** The whole response to a request that the server accepted. */
export interface WholeResponse {
  readonly method: string;
  readonly url: string;
  readonly statusCode: number;
  readonly headers: ResponseHeaders;
  readonly body: Uint8Array;
  /** Takes secrets out of text from the server. */
  readonly redact: (text: string) => string;
}

/** The answer to a request that the server accepted (`rest.Result`); what it refused is thrown by `do()`. */
export class RestResult {
  readonly #response: WholeResponse;

  /** Copies the body. */
  constructor({ method, url, statusCode, headers, body, redact }: WholeResponse) {
    this.#response = { method, url, statusCode, headers, body: copyBytes(body), redact };
  }

  /** HTTP status. */
  get statusCode(): number {
    return this.#response.statusCode;
  }

  /** `Content-Type` of the body, `''` if the server sent none. */
  get contentType(): string {
    return headerValue(this.#response.headers, 'content-type');
  }

  /** Warnings that came with the answer. */
  get warnings(): readonly Warning[] {
    return parseWarnings(this.#response.headers);
  }

  /** Whether the request made something new (201), as server-side apply may or may not. */
  get wasCreated(): boolean {
    return this.#response.statusCode === 201;
  }

  /** The body as it came. */
  raw(): Uint8Array {
    return this.#response.body;
  }

  /** The failure that an answer with a success status nevertheless holds; undefined if none. */
  error(): ApiError | undefined {
    try {
      return this.#failure(this.#parse());
    } catch {
      return undefined;
    }
  }

  /**
   * The body parsed. Throws when it is empty or no JSON (`raw` has the bytes), and when it is a Status that reports a
   * failure.
   */
  json(): unknown {
    const value = this.#parse();
    const failure = this.#failure(value);
    if (failure) throw failure;
    return value;
  }

  /**
   * The body as an object of that kind (`Result.Into`). `apiVersion` and `kind` are filled in where the server left
   * them out; another kind than asked for is an error that names both.
   */
  into<R extends KubeObject>(kind: KindRef<R>): R {
    const value = this.json();
    if (!isJsonObject(value)) {
      throw new TypeError(`${this.#what()}: expected a ${kind.kind}, got JSON that is no object`);
    }
    const { apiVersion = kind.apiVersion, kind: name = kind.kind } = value;
    if (apiVersion !== kind.apiVersion || name !== kind.kind) {
      throw new TypeError(
        `${this.#what()}: expected a ${kind.kind} of ${kind.apiVersion}, got a ${String(name)} of ${String(apiVersion)}`,
      );
    }
    // Where the server names the kind, the value is handed on as it was parsed: key order and identity stay.
    const named = value.apiVersion !== undefined && value.kind !== undefined;
    if (named) return value as unknown as R;
    const filled = { apiVersion, kind: name, ...value };
    carryLoss(value, filled);
    return filled as unknown as R;
  }

  #failure(value: unknown): ApiError | undefined {
    const status = statusOf(value);
    return status && new ApiError(status, this.#response);
  }

  #parse(): unknown {
    return parseBody(this.#response);
  }

  #what(): string {
    return describeRequest(this.#response.method, this.#response.url);
  }
}

/** As {@link RestResult.json}, with options for the decoder. */
export function jsonOf(response: WholeResponse, options?: DecodeOptions): unknown {
  const value = parseBody(response, options);
  const status = statusOf(value);
  if (status !== undefined) throw new ApiError(status, response);
  return value;
}

function parseBody(
  { method, url, statusCode, headers, body, redact }: WholeResponse,
  options?: DecodeOptions,
): unknown {
  if (body.byteLength === 0) {
    throw new SyntaxError(
      `${describeRequest(method, url)}: expected JSON, got an empty body with status ${statusCode}`,
    );
  }
  const contentType = headerValue(headers, 'content-type');
  if (contentType !== 'application/json' && contentType !== '' && !isJson(contentType)) {
    throw new SyntaxError(
      `${describeRequest(method, url)}: expected JSON, got ${redact(contentType)}: a proxy may have answered in the ` +
        "server's place; read what is not JSON by doRaw() of a RestRequest (client.rest)",
    );
  }
  try {
    // Integers past 2^53 mark the object as lossy.
    return isObjectText(body) ? decodeObject(body, options) : JSON.parse(textOf(body, 0, body.length));
  } catch {
    // The parser's own message would quote the body, which may hold a secret.
    throw new SyntaxError(`${describeRequest(method, url)}: the body is malformed JSON (${body.byteLength} bytes)`);
  }
}

function isObjectText(body: Uint8Array): boolean {
  return body[skipSpace(body, 0, body.length)] === 0x7b;
}

function isJson(contentType: string): boolean {
  return /^\s*(application\/([\w.+-]*\+)?json|text\/json)\s*(;|$)/i.test(contentType);
}
