import { type Duration, durationMs } from '../../object/duration.js';
import { encodeJson } from '../../object/encode-json.js';
import type { GroupVersion } from '../../object/gvk.js';
import type { KubeObject } from '../../object/meta.js';
import type { Span } from '../../runtime/tracing.js';
import { type BackoffManager, noBackoff } from '../chain/backoff-manager.js';
import { measured, measuredStream } from '../chain/measured.js';
import type { RateLimiter } from '../chain/rate-limiter.js';
import type { ApiResponse } from '../chain/send.js';
import { parseWarnings, type WarningHandler } from '../chain/warnings.js';
import { ByteStream } from '../stream/byte-stream.js';
import type { StreamOrigin } from '../stream/stream-origin.js';
import { type WatchStream, type WatchStreamOptions, watchStream } from '../stream/watch-stream.js';
import { copyBytes } from '../transport/copy-bytes.js';
import type { TransportSink } from '../transport/transport.js';
import { defaultMaxRetries } from './direct-requests.js';
import { headerValue } from './header-values.js';
import { defaultParameterCodec, type ParameterCodec } from './parameter-codec.js';
import { type PerformMode, perform, performWhole, type RequestContext, type RequestPlan } from './perform.js';
import { joinPath, parseRequestUri } from './request-path.js';
import { checkSegment, pathOf, type RequestTarget, requestUriOf, targetProblem, uriBelow } from './request-target.js';
import { RestResult } from './rest-result.js';

/** How a request is sent. */
export interface SendOptions {
  /** Aborting ends the request, its waits and its body; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** What the request is part of, for tracing. */
  readonly span?: Span;
  /** Longest wait for the response's headers. 0 = none. @default the transport's own */
  readonly headersTimeoutMs?: number;
  /** Longest silence between two pieces of the body. 0 = none. @default the transport's own */
  readonly idleTimeoutMs?: number;
  /**
   * Called right before each sending, repetitions too, when all waits are over (rate limit, credentials, backoff). What
   * it throws is the outcome, and nothing is sent.
   */
  readonly beforeSend?: () => void;
}

/** How an exchange is made. */
export interface ExchangeOptions extends SendOptions {
  /**
   * For an answer without end: it does not wait for the rate limiter, has no deadline here (the `timeout` is only told
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
  readonly #context: RequestContext;
  readonly #target: RequestTarget;
  /** By lower-case name. */
  readonly #headers = new Map<string, readonly string[]>([['accept', ['application/json, */*']]]);
  #verb: string;
  #body: Uint8Array | string | undefined;
  #maxRetries = defaultMaxRetries;
  #rateLimiter: RateLimiter | undefined;
  #backoff: BackoffManager;
  #warningHandler: WarningHandler;
  #error: unknown;

  constructor(context: RequestContext, verb: string) {
    this.#context = context;
    this.#verb = verb;
    this.#rateLimiter = context.rateLimiter;
    this.#backoff = context.backoff;
    this.#warningHandler = context.warningHandler;
    this.#target = {
      prefix: context.basePath === '' ? context.apiPath : joinPath('/', context.basePath, context.apiPath),
      resource: '',
      name: '',
      subresource: '',
      suffix: '',
      params: new Map(),
      timeoutMs: context.timeoutMs,
    };
  }

  /** Runs one step of the building, unless one before it has failed. */
  #step(step: (target: RequestTarget) => void): this {
    if (this.#error !== undefined) return this;
    try {
      step(this.#target);
    } catch (error) {
      this.#error = error;
    }
    return this;
  }

  #setOnce(what: 'resource' | 'name' | 'subresource', value: string): void {
    const target = this.#target;
    if (target[what] !== '') {
      throw new TypeError(`${what} is already set to "${target[what]}", it cannot be changed to "${value}"`);
    }
    target[what] = value;
  }

  /** Sets the HTTP method (`Verb`). */
  verb(verb: string): this {
    if (verb === this.#verb) return this;
    return this.#step(() => {
      if (!/^[A-Za-z]+$/.test(verb)) throw new TypeError(`verb wants an HTTP method, got ${JSON.stringify(verb)}`);
      this.#verb = verb.toUpperCase();
    });
  }

  /** Appends to the path before namespace, resource and name (`Prefix`). `absPath` drops it again. */
  prefix(...segments: readonly string[]): this {
    return this.#step((target) => {
      target.prefix = joinPath(target.prefix, ...segments);
    });
  }

  /** Appends to the end of the path (`Suffix`). */
  suffix(...segments: readonly string[]): this {
    return this.#step((target) => {
      target.suffix = joinPath(target.suffix, ...segments);
    });
  }

  /** Sets the path as a whole, below the server's own prefix (`AbsPath`). A slash at the end of a single one stays. */
  absPath(...segments: readonly string[]): this {
    return this.#step((target) => {
      const { basePath } = this.#context;
      const [first = ''] = segments;
      const slash = segments.length === 1 && first.endsWith('/') && (basePath !== '' || first.length > 1) ? '/' : '';
      // What is below the root as it is needs no slash before it, which would have to be tidied away again.
      const isRooted = first.startsWith('/') && basePath === '';
      target.prefix = (isRooted ? joinPath(...segments) : joinPath('/', basePath, ...segments)) + slash;
    });
  }

  /** Sets path and query parameters from a server-relative URI, and drops those set so far (`RequestURI`). */
  requestURI(uri: string): this {
    let path = '';
    return this.#step((target) => {
      const parsed = parseRequestUri(uri);
      path = parsed.path;
      target.params = parsed.params;
    }).absPath(path);
  }

  /** Sets the namespace (`Namespace`); `''` asks for all of them. */
  namespace(namespace: string): this {
    return this.#step((target) => {
      if (target.namespace !== undefined) {
        throw new TypeError(
          `namespace is already set to "${target.namespace}", it cannot be changed to "${namespace}"`,
        );
      }
      checkSegment('namespace', namespace);
      target.namespace = namespace;
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
    return this.specificallyVersionedParams(options, codec, this.#context.groupVersion);
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
   * Limits the whole request, retries included, and tells the server as the `timeout` parameter (`Timeout`). A wait for
   * the client's own rate limiter does not count.
   */
  timeout(duration: Duration | 'never'): this {
    return this.#step((target) => {
      const ms = durationMs(duration, 'timeout');
      target.timeoutMs = ms === 0 ? Number.POSITIVE_INFINITY : ms;
    });
  }

  /** How often the request may be sent again; 0 for never (`MaxRetries`). @default 10 */
  maxRetries(maxRetries: number): this {
    return this.#step(() => {
      if (Number.isNaN(maxRetries)) throw new TypeError('maxRetries wants a number, got NaN');
      this.#maxRetries = Math.max(0, Math.floor(maxRetries));
    });
  }

  /** Uses another rate limiter than the client's (`Throttle`); undefined for none. */
  throttle(limiter: RateLimiter | undefined): this {
    this.#rateLimiter = limiter;
    return this;
  }

  /** Uses another backoff manager than the client's (`BackOff`); undefined for none. */
  backOff(manager: BackoffManager | undefined): this {
    this.#backoff = manager ?? noBackoff(this.#context.runtime.clock);
    return this;
  }

  /** Uses another handler than the client's (`WarningHandler`); undefined for the client's. */
  warningHandler(handler: WarningHandler | undefined): this {
    this.#warningHandler = handler ?? this.#context.warningHandler;
    return this;
  }

  /**
   * Sets the body (`Body`): an object or array is sent as JSON; a string or bytes as they are (a string is never taken
   * for the name of a file); undefined and null change nothing. The content type is `application/json` unless the verb
   * or `setHeader` says otherwise. An object is written out at once: what changes in it later is not sent.
   */
  body(body: object | Uint8Array | string | undefined | null): this {
    return this.#step(() => {
      if (body === undefined || body === null) return;
      if (typeof body === 'string' || body instanceof Uint8Array) this.#body = body;
      else if (typeof body === 'object') this.#body = encodeJson(body);
      else throw new TypeError(`body wants an object, a string or bytes, got a ${typeof body}`);
    });
  }

  /** The first mistake made while building, if any (`Request.Error`). */
  error(): unknown {
    return this.#error;
  }

  /** The URL as it stands, parameters sorted by name (`URL`). It may hold what the caller put into it as a parameter. */
  url(): string {
    return this.#context.origin + requestUriOf(this.#target);
  }

  /** Method and URL, for the errors of streams. */
  origin(): StreamOrigin {
    return { method: this.#verb, url: this.url(), redact: this.#context.secrets.redact };
  }

  /** Sends and resolves to the answer (`Do`). Rejects with an `ApiError` when the server refuses. */
  async do(options: SendOptions = {}): Promise<RestResult> {
    return measured(this.#context, { verb: this.#verb, path: () => pathOf(this.#target), parent: options.span }, () => {
      const plan = this.#plan(options, this.#target);
      return performWhole(this.#context, plan, ({ status, headers, body, borrowed }) => {
        return new RestResult({
          method: plan.request.method,
          url: plan.request.url,
          statusCode: status,
          contentType: headerValue(headers, 'content-type'),
          warnings: parseWarnings(headers),
          body: borrowed ? copyBytes(body) : body,
          redact: this.#context.secrets.redact,
        });
      });
    });
  }

  /** Sends and resolves to the body's bytes (`DoRaw`). Rejects as {@link do} does. */
  async doRaw(options: SendOptions = {}): Promise<Uint8Array> {
    return (await this.do(options)).raw();
  }

  /** Sends and resolves as soon as the answer begins, to its bytes as they come (`Stream`). */
  async stream(options: SendOptions = {}): Promise<ByteStream> {
    return new ByteStream(await this.#open('stream', options));
  }

  /**
   * Sends through the whole chain (credentials, rate limit, retries until the headers come) and hands the answer to
   * `sink` without holding it: the ground of list and watch streams. Never throws. `onHeaders` comes for a success
   * only; everything else, mistakes of the building and refusals (`ApiError`) too, comes by `onError`.
   */
  exchange(sink: TransportSink, options: ExchangeOptions = {}): void {
    this.#exchange(sink, options, this.#target);
  }

  /**
   * Sends and resolves as soon as the server begins to answer, to its events as they come (`Watch`). `watch=true` is
   * added to the parameters where it is missing. A lost connection ends the stream; `Client` has a watch that goes on.
   */
  watch<T = KubeObject>(options: WatchStreamOptions<T> = {}): Promise<WatchStream<T>> {
    const { params } = this.#target;
    const target = params.has('watch')
      ? this.#target
      : { ...this.#target, params: new Map(params).set('watch', ['true']) };
    const exchanger = {
      origin: () => ({ ...this.origin(), url: this.#context.origin + requestUriOf(target) }),
      exchange: (sink: TransportSink, sendOptions?: ExchangeOptions) =>
        this.#exchange(sink, { ...sendOptions, watch: true }, target),
    };
    const { maxObjectBytes, runtime } = this.#context;
    return watchStream<T>(exchanger, { clock: runtime.clock, maxObjectBytes, ...options }).open();
  }

  #exchange(sink: TransportSink, options: ExchangeOptions, target: RequestTarget): void {
    this.#open(options.watch ? 'watch' : 'whole', options, target).then(
      (response) => {
        try {
          sink.onHeaders(response.status, response.headers, response);
        } catch (error) {
          response.discard();
          response.abort(error);
          sink.onError(error);
          return;
        }
        response.deliver(sink);
      },
      (error) => sink.onError(error),
    );
  }

  #open(mode: PerformMode, options: SendOptions, target = this.#target): Promise<ApiResponse> {
    const about = { verb: this.#verb, path: () => pathOf(target), parent: options.span };
    return measuredStream(this.#context, about, mode === 'whole', async () =>
      perform(this.#context, this.#plan(options, target), mode),
    );
  }

  #plan({ signal, headersTimeoutMs, idleTimeoutMs, beforeSend }: SendOptions, target: RequestTarget): RequestPlan {
    if (this.#error !== undefined) throw this.#error;
    const problem = targetProblem(target, this.#verb);
    if (problem) throw new TypeError(`${this.#verb} ${target.resource || pathOf(target)}: ${problem}`);
    const { resource, name, timeoutMs } = target;
    const { origin, basePath, groupVersion, secrets } = this.#context;
    for (const own of this.#headers.get('authorization') ?? []) secrets.note(own);
    const uri = requestUriOf(target);
    return {
      request: {
        method: this.#verb,
        url: origin + uri,
        path: uriBelow(basePath, uri),
        headers: this.#sentHeaders(),
        ...(this.#body !== undefined && { body: this.#body }),
        ...(signal && { signal }),
        ...(headersTimeoutMs !== undefined && { headersTimeoutMs }),
        ...(idleTimeoutMs !== undefined && { idleTimeoutMs }),
        ...(beforeSend && { beforeSend }),
      },
      maxRetries: this.#maxRetries,
      timeoutMs,
      rateLimiter: this.#rateLimiter,
      backoff: this.#backoff,
      warningHandler: this.#warningHandler,
      details: resource === '' ? {} : { group: groupVersion.group, kind: resource, ...(name && { name }) },
    };
  }

  #sentHeaders(): Record<string, string | readonly string[]> {
    const headers: Record<string, string | readonly string[]> = {};
    for (const [name, values] of this.#headers) {
      const value = values.length === 1 ? (values[0] as string) : values;
      // No name of a header means anything but itself.
      if (name === '__proto__') Object.defineProperty(headers, name, { value, enumerable: true });
      else headers[name] = value;
    }
    if (this.#body !== undefined) headers['content-type'] ??= 'application/json';
    return headers;
  }
}
