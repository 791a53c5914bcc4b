import { isJsonObject } from '../../object/json.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { type DecodeOptions, decodeObject } from '../../object/scan/decode-object.js';
import { textOf } from '../../object/scan/native-bytes.js';
import { skipSpace } from '../../object/scan/object-scanner.js';
import { carryLoss } from '../../object/value/lossy.js';
import type { Warning } from '../chain/warnings.js';
import { ApiError } from '../errors/api-error.js';
import { statusOf } from '../errors/error-body.js';
import { describeRequest } from '../errors/redact.js';

/** The parts of a {@link RestResult}. */
export interface RestResultParts {
  readonly method: string;
  readonly url: string;
  readonly statusCode: number;
  readonly contentType: string;
  readonly warnings: readonly Warning[];
  readonly body: Uint8Array;
  /** Takes secrets out of what the server said. @default nothing is taken out */
  readonly redact?: (text: string) => string;
}

/** The answer to a request that the server accepted (`rest.Result`); what it refused is thrown by `do()`. */
export class RestResult {
  readonly #parts: RestResultParts;

  constructor(parts: RestResultParts) {
    this.#parts = parts;
  }

  /** HTTP status. */
  get statusCode(): number {
    return this.#parts.statusCode;
  }

  /** `Content-Type` of the body, `''` if the server sent none. */
  get contentType(): string {
    return this.#parts.contentType;
  }

  /** Warnings that came with the answer. */
  get warnings(): readonly Warning[] {
    return this.#parts.warnings;
  }

  /** Whether the request made something new (201), as server-side apply may or may not. */
  get wasCreated(): boolean {
    return this.#parts.statusCode === 201;
  }

  /** The body as it came. */
  raw(): Uint8Array {
    return this.#parts.body;
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
    return status && new ApiError(status, this.#parts);
  }

  #parse(): unknown {
    return parseBody(this.#parts);
  }

  #what(): string {
    return describeRequest(this.#parts.method, this.#parts.url);
  }
}

type AnswerParts = Pick<RestResultParts, 'method' | 'url' | 'statusCode' | 'contentType' | 'body' | 'redact'>;

/** As {@link RestResult.json}, for who wants nothing else of an answer. */
export function jsonOf(parts: AnswerParts, options?: DecodeOptions): unknown {
  const value = parseBody(parts, options);
  const status = statusOf(value);
  if (status !== undefined) throw new ApiError(status, parts);
  return value;
}

function parseBody(parts: AnswerParts, options?: DecodeOptions): unknown {
  const { body, contentType } = parts;
  const what = () => describeRequest(parts.method, parts.url);
  if (body.byteLength === 0) {
    throw new SyntaxError(`${what()}: expected JSON, got an empty body with status ${parts.statusCode}`);
  }
  if (contentType !== 'application/json' && contentType !== '' && !isJson(contentType)) {
    throw new SyntaxError(
      `${what()}: expected JSON, got ${contentType}: a proxy may have answered in the server's place; ` +
        'what is not meant to be JSON is read by doRaw() of a RestRequest (client.rest)',
    );
  }
  try {
    // An object is remembered to have lost something when it holds integers past 2^53.
    return isObjectText(body) ? decodeObject(body, options) : JSON.parse(textOf(body, 0, body.length));
  } catch {
    // The parser's own message would quote the body, which may hold a secret.
    throw new SyntaxError(`${what()}: the body is broken JSON (${body.byteLength} bytes)`);
  }
}

function isObjectText(body: Uint8Array): boolean {
  return body[skipSpace(body, 0, body.length)] === 0x7b;
}

function isJson(contentType: string): boolean {
  return /^\s*(application\/([\w.+-]*\+)?json|text\/json)\s*(;|$)/i.test(contentType);
}
