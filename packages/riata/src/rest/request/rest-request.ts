import { type Duration, durationMs } from '../../object/duration.js';
import { encodeJson } from '../../object/encode-json.js';
import type { GroupVersion } from '../../object/gvk.js';
import type { KubeObject } from '../../object/meta.js';
import { type BackoffManager, noBackoff } from '../chain/backoff-manager.js';
import type { RateLimiter } from '../chain/rate-limiter.js';
import type { RequestSettings } from '../chain/send.js';
import type { WarningHandler } from '../chain/warnings.js';
import { ByteStream } from '../stream/byte-stream.js';
import type { StreamOrigin } from '../stream/stream-origin.js';
import { type WatchStream, type WatchStreamOptions, watchStream } from '../stream/watch-stream.js';
import type { TransportSink } from '../transport/transport.js';
import { defaultParameterCodec, type ParameterCodec } from './parameter-codec.js';
import { joinPath, parseRequestUri } from './request-path.js';
import type { RequestSender } from './request-sender.js';
import { checkSegment, defaultAccept, type RequestSpec, type SendOptions } from './request-spec.js';
import { RestResult } from './rest-result.js';

type Mutable<T> = { -readonly [P in keyof T]: T[P] };

/** The parts of a {@link RequestSpec} that are set step by step. */
type RequestParts = Mutable<Omit<RequestSpec, 'headers' | 'params' | keyof SendOptions>> & {
  params: Map<string, string[]>;
};

/** How an exchange is made. */
export interface ExchangeOptions extends SendOptions {
  /**
   * For an answer without end: it does not wait for the rate limiter, has no deadline here (the `timeout` is only sent
   * to the server), and is tried again after a timeout too. @default false
   */
  readonly watch?: boolean;
}

/**
 * Builds one request to an API server, step by step, and sends it (`rest.Request`). Made by the verbs of `RestClient`.
 * A mistake on the way (a name with a slash, a second namespace, …) is kept and thrown when the request is sent; what
 * is set after it is ignored. A request can be sent again.
 *
 * ```ts
 * const pod = (await rest.get().namespace('shop').resource('pods').name('cart').do()).into(Pod);
 * ```
 */
export class RestRequest {
  readonly #sender: RequestSender;
  readonly #parts: RequestParts;
  /** By lower-case name. */
  readonly #headers = new Map<string, readonly string[]>([['accept', [defaultAccept]]]);
  #error: unknown;

  /** `apiPath` is the path of group and version, the server's own prefix included. */
  constructor(sender: RequestSender, apiPath: string, method: string) {
    this.#sender = sender;
    this.#parts = {
      method,
      prefix: apiPath,
      resource: '',
      name: '',
      subresource: '',
      suffix: '',
      params: new Map(),
      settings: sender.settings,
    };
  }

  /** Runs one step of the building, unless one before it has failed. */
  #step(step: (parts: RequestParts) => void): this {
    if (this.#error !== undefined) return this;
    try {
      step(this.#parts);
    } catch (error) {
      this.#error = error;
    }
    return this;
  }

  #setOnce(what: 'resource' | 'name' | 'subresource', value: string): void {
    const parts = this.#parts;
    if (parts[what] !== '') {
      throw new TypeError(`${what} is already set to "${parts[what]}", it cannot be changed to "${value}"`);
    }
    parts[what] = value;
  }

  #set(settings: Partial<RequestSettings>): void {
    this.#parts.settings = { ...this.#parts.settings, ...settings };
  }

  /** Sets the HTTP method (`Verb`). */
  verb(verb: string): this {
    if (verb === this.#parts.method) return this;
    return this.#step((parts) => {
      if (!/^[A-Za-z]+$/.test(verb)) throw new TypeError(`verb must be an HTTP method, got ${JSON.stringify(verb)}`);
      parts.method = verb.toUpperCase();
    });
  }

  /** Appends to the path before namespace, resource and name (`Prefix`). `absPath` drops it again. */
  prefix(...segments: readonly string[]): this {
    return this.#step((parts) => {
      parts.prefix = joinPath(parts.prefix, ...segments);
    });
  }

  /** Appends to the end of the path (`Suffix`). */
  suffix(...segments: readonly string[]): this {
    return this.#step((parts) => {
      parts.suffix = joinPath(parts.suffix ?? '', ...segments);
    });
  }

  /** Sets the path as a whole, below the server's own prefix (`AbsPath`). A slash at the end of a single one stays. */
  absPath(...segments: readonly string[]): this {
    return this.#step((parts) => {
      const { basePath } = this.#sender;
      const [first = ''] = segments;
      const slash = segments.length === 1 && first.endsWith('/') && (basePath !== '' || first.length > 1) ? '/' : '';
      // What is below the root as it is needs no slash before it, which would have to be tidied away again.
      const isRooted = first.startsWith('/') && basePath === '';
      parts.prefix = (isRooted ? joinPath(...segments) : joinPath('/', basePath, ...segments)) + slash;
    });
  }

  /** Sets path and query parameters from a server-relative URI, and drops those set so far (`RequestURI`). */
  requestURI(uri: string): this {
    let path = '';
    return this.#step((parts) => {
      const parsed = parseRequestUri(uri);
      path = parsed.path;
      parts.params = parsed.params;
    }).absPath(path);
  }

  /** Sets the namespace (`Namespace`); `''` asks for all of them. */
  namespace(namespace: string): this {
    return this.#step((parts) => {
      if (parts.namespace !== undefined) {
        throw new TypeError(`namespace is already set to "${parts.namespace}", it cannot be changed to "${namespace}"`);
      }
      checkSegment('namespace', namespace);
      parts.namespace = namespace;
    });
  }

  /** Sets the namespace if `scoped` (`NamespaceIfScoped`). */
  namespaceIfScoped(namespace: string, scoped: boolean): this {
    return scoped ? this.namespace(namespace) : this;
  }

  /** Sets the resource, e.g. `pods` (`Resource`). */
  resource(resource: string): this {
    return this.#step(() => {
      checkSegment('resource', resource);
      this.#setOnce('resource', resource);
    });
  }

  /** Sets the name of the object (`Name`). */
  name(name: string): this {
    return this.#step(() => {
      if (name === '') throw new TypeError('name may not be empty: without a name the request is about all objects');
      checkSegment('name', name);
      this.#setOnce('name', name);
    });
  }

  /** Sets the subresource, in one or more segments (`SubResource`). */
  subResource(...segments: readonly string[]): this {
    return this.#step(() => {
      for (const segment of segments) checkSegment('subresource', segment);
      this.#setOnce('subresource', joinPath(...segments));
    });
  }

  /** Adds a query parameter; several values under one name stay in order (`Param`). */
  param(name: string, value: string): this {
    return this.#step(({ params }) => {
      params.set(name, [...(params.get(name) ?? []), value]);
    });
  }

  /** Adds each field of an options object as a query parameter (`VersionedParams`). */
  versionedParams(options: object, codec: ParameterCodec = defaultParameterCodec): this {
    return this.specificallyVersionedParams(options, codec, this.#sender.groupVersion);
  }

  /** As {@link versionedParams}, in the form that another API version has (`SpecificallyVersionedParams`). */
  specificallyVersionedParams(options: object, codec: ParameterCodec, version: GroupVersion): this {
    return this.#step(({ params }) => {
      for (const [name, values] of codec(options, version)) params.set(name, [...(params.get(name) ?? []), ...values]);
    });
  }

  /** Sets a header, in place of what it had; no value takes it away (`SetHeader`). */
  setHeader(name: string, ...values: readonly string[]): this {
    return this.#step(() => {
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
        throw new TypeError(`setHeader: ${JSON.stringify(name)} cannot be the name of a header`);
      }
      // The value stays out of the message: it may be a secret.
      if (values.some((value) => /(?!\t)\p{Cc}/u.test(value))) {
        throw new TypeError(`setHeader: the value for "${name}" holds a line break or another control character`);
      }
      if (values.length === 0) this.#headers.delete(name.toLowerCase());
      else this.#headers.set(name.toLowerCase(), values);
    });
  }

  /**
   * Limits the whole request, retries included, and sends the limit as the `timeout` parameter (`Timeout`). A wait for
   * the client's own rate limiter does not count.
   */
  timeout(duration: Duration | 'never'): this {
    return this.#step(() => {
      const ms = durationMs(duration, 'timeout');
      this.#set({ timeoutMs: ms === 0 ? Number.POSITIVE_INFINITY : ms });
    });
  }

  /** How often the request may be sent again; 0 for never (`MaxRetries`). @default 10 */
  maxRetries(maxRetries: number): this {
    return this.#step(() => {
      if (Number.isNaN(maxRetries)) throw new TypeError('maxRetries must be a number, got NaN');
      this.#set({ maxRetries: Math.max(0, Math.floor(maxRetries)) });
    });
  }

  /** Uses another rate limiter than the client's (`Throttle`); undefined for none. */
  throttle(limiter: RateLimiter | undefined): this {
    this.#set({ rateLimiter: limiter });
    return this;
  }

  /** Uses another backoff manager than the client's (`BackOff`); undefined for none. */
  backOff(manager: BackoffManager | undefined): this {
    this.#set({ backoff: manager ?? noBackoff(this.#sender.clock) });
    return this;
  }

  /** Uses another handler than the client's (`WarningHandler`); undefined for the client's. */
  warningHandler(handler: WarningHandler | undefined): this {
    this.#set({ warningHandler: handler ?? this.#sender.settings.warningHandler });
    return this;
  }

  /**
   * Sets the body (`Body`): an object or array is sent as JSON; a string or bytes as they are (a string is never taken
   * for the name of a file); undefined and null change nothing. The content type is `application/json` unless the verb
   * or `setHeader` says otherwise. An object is written out at once: what changes in it later is not sent.
   */
  body(body: object | Uint8Array | string | undefined | null): this {
    return this.#step((parts) => {
      if (body === undefined || body === null) return;
      if (typeof body === 'string' || body instanceof Uint8Array) parts.body = body;
      else if (typeof body === 'object') parts.body = encodeJson(body);
      else throw new TypeError(`body must be an object, a string or bytes, got a ${typeof body}`);
    });
  }

  /** The first mistake made while building, if any (`Request.Error`). */
  error(): unknown {
    return this.#error;
  }

  /** The URL as it stands, parameters sorted by name (`URL`). It may hold what the caller put into it as a parameter. */
  url(): string {
    return this.#sender.urlOf(this.#spec());
  }

  /** Method and URL, for the errors of streams. */
  origin(): StreamOrigin {
    return this.#sender.originOf(this.#spec());
  }

  /** Sends and resolves to the response (`Do`). Rejects with an `ApiError` when the server refuses. */
  async do(options: SendOptions = {}): Promise<RestResult> {
    return this.#sender.whole(this.#checkedSpec(options), (response) => new RestResult(response));
  }

  /** Sends and resolves to the body's bytes (`DoRaw`). Rejects as {@link do} does. */
  async doRaw(options: SendOptions = {}): Promise<Uint8Array> {
    return (await this.do(options)).raw();
  }

  /** Sends and resolves as soon as the response starts, to its bytes as they come (`Stream`). */
  async stream(options: SendOptions = {}): Promise<ByteStream> {
    return new ByteStream(await this.#sender.open(this.#checkedSpec(options)));
  }

  /**
   * Sends through the whole chain (credentials, rate limit, retries until the headers come) and hands the response to
   * `sink` without buffering it; list and watch streams are built on this. Never throws. `onHeaders` is called for a
   * success only; all failures, mistakes of the builder and refusals (`ApiError`) included, go to `onError`.
   */
  exchange(sink: TransportSink, { watch, ...options }: ExchangeOptions = {}): void {
    if (this.#error === undefined) this.#sender.exchange(this.#spec(options), sink, watch ? 'watch' : 'whole');
    else queueMicrotask(() => sink.onError(this.#error));
  }

  /**
   * Sends and resolves as soon as the server starts to answer, to its events as they come (`Watch`). `watch=true` is
   * added to the parameters where it is missing. A lost connection ends the stream; `Client` has a watch that reconnects.
   */
  async watch<T = KubeObject>(options: WatchStreamOptions<T> = {}): Promise<WatchStream<T>> {
    const spec = this.#checkedSpec();
    const params = new Map(this.#parts.params);
    if (!params.has('watch')) params.set('watch', ['true']);
    const { clock, maxObjectBytes } = this.#sender;
    return watchStream<T>(this.#sender.exchanger({ ...spec, params }), { clock, maxObjectBytes, ...options }).open();
  }

  #checkedSpec(options?: SendOptions): RequestSpec {
    if (this.#error !== undefined) throw this.#error;
    return this.#spec(options);
  }

  #spec(options?: SendOptions): RequestSpec {
    const headers: Record<string, string | readonly string[]> = {};
    for (const [name, values] of this.#headers) {
      const value = values.length === 1 ? (values[0] as string) : values;
      // No name of a header means anything but itself.
      if (name === '__proto__') Object.defineProperty(headers, name, { value, enumerable: true });
      else headers[name] = value;
    }
    if (this.#parts.body !== undefined) headers['content-type'] ??= 'application/json';
    return { ...options, ...this.#parts, headers };
  }
}
