import type { GroupVersion } from '../../object/gvk.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { HeldResponse } from '../chain/held-response.js';
import type { OwnSecrets } from '../chain/own-secrets.js';
import { DiscardSink } from '../chain/response-sinks.js';
import type { ApiRequest, BodySink, RequestSettings, ResponseSink, Send } from '../chain/send.js';
import type { ExchangerOptions } from '../stream/body-reader.js';
import type { NamedExchanger, StreamOrigin } from '../stream/stream-origin.js';
import type { ResponseHeaders, TransportFlow, TransportSink } from '../transport/transport.js';
import { checkSpec, type RequestSpec, requestUriOf, uriBelow } from './request-spec.js';
import type { WholeResponse } from './rest-result.js';
import { WholeSink } from './whole-sink.js';

/** What all requests of one client share. */
export interface SenderOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The server's path prefix, `''` if it has none. */
  readonly basePath: string;
  readonly groupVersion: GroupVersion;
  /** The whole chain; see `requestChain`. */
  readonly send: Send;
  /** Completes the headers of a request. */
  readonly addHeaders: (own: ApiRequest['headers']) => ApiRequest['headers'];
  readonly secrets: OwnSecrets;
  /** For requests that set none of their own. */
  readonly settings: RequestSettings;
  readonly clock: Scheduler;
  /** The largest object, and the largest response that is read as a whole. */
  readonly maxObjectBytes: number;
}

/** Sends the requests of one client: escapes what a {@link RequestSpec} says and passes it through the chain. */
export class RequestSender {
  readonly #options: SenderOptions;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** The server's path prefix, `''` if it has none. */
  get basePath(): string {
    return this.#options.basePath;
  }

  get groupVersion(): GroupVersion {
    return this.#options.groupVersion;
  }

  /** The settings of requests that set none of their own. */
  get settings(): RequestSettings {
    return this.#options.settings;
  }

  get clock(): Scheduler {
    return this.#options.clock;
  }

  /** The largest object, and the largest response that is read as a whole. */
  get maxObjectBytes(): number {
    return this.#options.maxObjectBytes;
  }

  urlOf(spec: RequestSpec): string {
    return this.#options.origin + requestUriOf(spec);
  }

  /** Method and URL, for the errors of streams. */
  originOf(spec: RequestSpec): StreamOrigin {
    return { method: spec.method, url: this.urlOf(spec), redact: this.#options.secrets.redact };
  }

  /**
   * Resolves to what `read` makes of the whole response; rejects with an `ApiError` when the server refuses. The body is
   * valid during the call of `read` only.
   */
  whole<T>(spec: RequestSpec, read: (response: WholeResponse) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const { send, secrets, maxObjectBytes } = this.#options;
      const request = this.#describe(spec, 'whole');
      send(request, new WholeSink(request, secrets.redact, maxObjectBytes, read, resolve, reject));
    });
  }

  /** Resolves when the headers of a success are there; rejects as {@link whole} does. */
  open(spec: RequestSpec): Promise<HeldResponse> {
    return new Promise((resolve, reject) => {
      this.#options.send(this.#describe(spec, 'stream'), new OpenedResponse(resolve, reject, spec.signal));
    });
  }

  /**
   * Hands the response to `sink` without buffering it. Never throws. `onHeaders` is called for a success only; all
   * failures, refusals (`ApiError`) included, go to `onError`.
   */
  exchange(spec: RequestSpec, sink: TransportSink, mode: 'whole' | 'watch'): void {
    let request: ApiRequest;
    try {
      request = this.#describe(spec, mode);
    } catch (error) {
      queueMicrotask(() => sink.onError(error));
      return;
    }
    this.#options.send(request, new GuardSink(sink));
  }

  /** The request of a list or watch stream. */
  exchanger(spec: RequestSpec): NamedExchanger {
    return {
      origin: () => this.originOf(spec),
      exchange: (sink: TransportSink, { watch, ...options }: ExchangerOptions = {}) =>
        this.exchange({ ...spec, ...options }, sink, watch ? 'watch' : 'whole'),
    };
  }

  #describe(spec: RequestSpec, mode: ApiRequest['mode']): ApiRequest {
    checkSpec(spec);
    const { origin, basePath, secrets, addHeaders } = this.#options;
    const { method, resource, name, headers, body, bodyStream, anyStatus, settings, upgrade } = spec;
    const { signal, headersTimeoutMs, idleTimeoutMs, beforeSend, span } = spec;
    const { authorization } = headers;
    if (authorization !== undefined) for (const own of [authorization].flat()) secrets.note(own);
    const uri = requestUriOf(spec);
    return {
      method,
      path: uriBelow(basePath, uri),
      headers: addHeaders(headers),
      body,
      bodyStream,
      anyStatus,
      signal,
      headersTimeoutMs,
      idleTimeoutMs,
      url: origin + uri,
      mode,
      settings,
      resource,
      name,
      span,
      beforeSend,
      upgrade,
    };
  }
}

/** Hands a response to a sink of the caller. Where that throws at the headers, the exchange ends, and it gets its error. */
class GuardSink implements ResponseSink {
  readonly #sink: TransportSink;
  #isRefused = false;

  constructor(sink: TransportSink) {
    this.#sink = sink;
  }

  onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow): BodySink {
    try {
      this.#sink.onHeaders(status, headers, flow);
      return this.#sink;
    } catch (error) {
      this.#isRefused = true;
      flow.abort(error);
      this.#sink.onError(error);
      return new DiscardSink(flow);
    }
  }

  onError(error: unknown): void {
    if (!this.#isRefused) this.#sink.onError(error);
  }
}

/** Resolves with its headers. */
class OpenedResponse extends HeldResponse {
  readonly #resolve: (response: HeldResponse) => void;
  readonly #reject: (error: unknown) => void;

  constructor(resolve: (response: HeldResponse) => void, reject: (error: unknown) => void, signal?: AbortSignal) {
    super(signal);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  override onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow): this {
    super.onHeaders(status, headers, flow);
    this.#resolve(this);
    return this;
  }

  override onError(error: unknown): void {
    this.#reject(error);
    super.onError(error);
  }
}
