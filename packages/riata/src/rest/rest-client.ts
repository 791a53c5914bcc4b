import { type Duration, durationMs } from '../object/duration.js';
import { type GroupVersion, parseApiVersion } from '../object/gvk.js';
import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../runtime/runtime.js';
import { type BackoffManager, noBackoff } from './chain/backoff-manager.js';
import { defaultHeaders, defaultUserAgent } from './chain/default-headers.js';
import { notingCredentials, OwnSecrets } from './chain/own-secrets.js';
import { type RateLimiter, tokenBucketRateLimiter } from './chain/rate-limiter.js';
import { requestChain } from './chain/request-chain.js';
import { ServerContact, serverContact } from './chain/server-contact.js';
import { type WarningHandler, warningLogger } from './chain/warnings.js';
import type { RestConfig } from './config/rest-config.js';
import { TransportError } from './errors/transport-error.js';
import { joinPath } from './request/request-path.js';
import { RequestSender } from './request/request-sender.js';
import { RestRequest } from './request/rest-request.js';
import { DEFAULT_MAX_OBJECT_BYTES } from './stream/list-decoder.js';
import { defaultTransport } from './transport/default-transport.js';
import { serverAddress } from './transport/server-address.js';
import type { Transport } from './transport/transport.js';

/** Patch types (`types.PatchType`), by their content types. */
export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** A short name of a patch type, or its content type. */
export type PatchType = keyof typeof patchTypes | (typeof patchTypes)[keyof typeof patchTypes];

/** Options of {@link RestClient.for}. */
export interface RestClientOptions {
  /** Group and version that paths start with: `apps/v1`, or `v1` for the core group. @default none: use `absPath` */
  readonly apiVersion?: string | GroupVersion;
  /** Where group and version are. @default `/api` for the core group, `/apis` for others, `/` without `apiVersion` */
  readonly basePath?: string;
  /** Clock, log, metrics and tracer. */
  readonly runtime?: Partial<Runtime>;
  /** Sends the bytes; stays open when the client is closed. @default the config's, else one over HTTP of its own */
  readonly transport?: Transport;
  /** Shared by all requests. @default made from `qps` and `burst` of the config, if `qps` is above 0 */
  readonly rateLimiter?: RateLimiter;
  /** @default none: waits only when the server asks for it */
  readonly backoff?: BackoffManager;
  /** @default to the log */
  readonly warningHandler?: WarningHandler;
  /** For every request that does not set its own. @default 'never' */
  readonly timeout?: Duration | 'never';
  /**
   * The largest object that is read, and the largest answer that is read as a whole, both decompressed: a larger one
   * ends the request with an error. A list as a whole may be larger, as it is read item by item.
   * @default 67108864 (64 MiB)
   */
  readonly maxObjectBytes?: number;
}

export const restClientOptionNames = optionNames<RestClientOptions>({
  maxObjectBytes: true,
  apiVersion: true,
  basePath: true,
  runtime: true,
  transport: true,
  rateLimiter: true,
  backoff: true,
  warningHandler: true,
  timeout: true,
});

/** Where a {@link RestClient} has its {@link RequestSender}. */
export const requestSender: unique symbol = Symbol('riata.requestSender');

/** How often a request is sent again unless it says otherwise. */
const defaultMaxRetries = 10;

const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** Requests at once where the config gives `qps` without `burst`. */
const defaultBurst = 10;

/**
 * Sends requests to one API server, usually for one group and version (`rest.RESTClient`): each verb starts a
 * {@link RestRequest}. It knows no kinds; `Client` is built on it. To use one connection for several, hand them the same
 * transport.
 */
export class RestClient implements AsyncDisposable {
  readonly #sender: RequestSender;
  /** Path of group and version, the server's own prefix included. */
  readonly #apiPath: string;
  readonly #contact: ServerContact;
  /** Set if the client has to close it. */
  readonly #ownTransport: Transport | undefined;
  readonly #closing: AbortController;

  private constructor(
    sender: RequestSender,
    apiPath: string,
    contact: ServerContact,
    ownTransport: Transport | undefined,
    closing: AbortController,
  ) {
    this.#sender = sender;
    this.#apiPath = apiPath;
    this.#contact = contact;
    this.#ownTransport = ownTransport;
    this.#closing = closing;
  }

  /**
   * Makes a client (`rest.RESTClientFor`). Nothing is sent or loaded before the first request. Throws a `TypeError` on
   * a config that cannot work.
   */
  static for(config: RestConfig, options: RestClientOptions = {}): RestClient {
    refuseUnknownOptions('RestClient.for', options, restClientOptionNames);
    const server = serverAddress(config.server);
    const runtime = resolveRuntime(options.runtime);
    const { clock, log } = runtime;
    const given = options.transport ?? config.transport;
    const secrets = new OwnSecrets();
    const credentials = config.credentials && notingCredentials(config.credentials, secrets);
    const transport = given ?? defaultTransport({ ...config, credentials }, { clock });
    const { host, origin } = server;
    const basePath = server.pathname.replace(/\/+$/, '');
    const groupVersion = groupVersionOf(options.apiVersion);
    const { group, version } = groupVersion;
    const apiPath = joinPath('/', basePath, options.basePath ?? defaultBasePath(groupVersion), group, version);
    const closing = new AbortController();
    const contact = new ServerContact();
    const send = requestChain({
      transport,
      credentials,
      group,
      secrets,
      contact,
      runtime,
      host,
      basePath,
      closing: closing.signal,
    });
    const settings = {
      maxRetries: defaultMaxRetries,
      timeoutMs: durationMs(options.timeout ?? 'never', 'timeout'),
      rateLimiter: options.rateLimiter ?? limiterFor(config, runtime),
      backoff: options.backoff ?? noBackoff(clock),
      warningHandler: options.warningHandler ?? warningLogger(log),
    };
    const maxObjectBytes = byteLimit(options.maxObjectBytes);
    const sender = new RequestSender({
      origin,
      basePath,
      groupVersion,
      send,
      addHeaders: defaultHeaders(config.userAgent || defaultUserAgent(), config.impersonate),
      secrets,
      settings,
      clock,
      maxObjectBytes,
    });
    return new RestClient(sender, apiPath, contact, given ? undefined : transport, closing);
  }

  /** The group and version that requests are about; both `''` without one (`APIVersion`). */
  apiVersion(): GroupVersion {
    return this.#sender.groupVersion;
  }

  /** The limiter that requests wait for; undefined if none (`GetRateLimiter`). */
  getRateLimiter(): RateLimiter | undefined {
    return this.#sender.settings.rateLimiter;
  }

  /** Begins a request of any HTTP method (`Verb`). */
  verb(verb: string): RestRequest {
    return new RestRequest(this.#sender, this.#apiPath, methods.has(verb) ? verb : 'GET').verb(verb);
  }

  /** Begins a read (`Get`). */
  get(): RestRequest {
    return this.verb('GET');
  }

  /** Begins a creation (`Post`). */
  post(): RestRequest {
    return this.verb('POST');
  }

  /** Begins a replacement (`Put`). */
  put(): RestRequest {
    return this.verb('PUT');
  }

  /** Begins a patch; `type` is the format of the body (`Patch`). */
  patch(type: PatchType): RestRequest {
    const contentType = Object.hasOwn(patchTypes, type) ? patchTypes[type as keyof typeof patchTypes] : type;
    return this.verb('PATCH').setHeader('Content-Type', contentType);
  }

  /** Begins a deletion (`Delete`). */
  delete(): RestRequest {
    return this.verb('DELETE');
  }

  /** The largest object that is read; see {@link RestClientOptions.maxObjectBytes}. */
  get maxObjectBytes(): number {
    return this.#sender.maxObjectBytes;
  }

  /** For clients that describe their requests as plain data. */
  get [requestSender](): RequestSender {
    return this.#sender;
  }

  /** For callers that retry for as long as it takes. */
  get [serverContact](): ServerContact {
    return this.#contact;
  }

  /** Aborts when the client is closed, and its own transport with it: ends waits between two requests. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Closes the connections of the client's own transport that no request uses now; the next request opens another. */
  closeIdle(): void {
    this.#ownTransport?.closeIdle?.();
  }

  /**
   * Frees the client's own transport and ends what runs on it, waits for a turn or another try too; one that was given to it stays
   * open.
   */
  async close(): Promise<void> {
    if (!this.#ownTransport) return;
    this.#closing.abort(new TransportError('the transport was closed', { kind: 'closed', requestSent: true }));
    await this.#ownTransport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function byteLimit(bytes: number = DEFAULT_MAX_OBJECT_BYTES): number {
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw new TypeError(`maxObjectBytes must be an integer ≥ 1, got ${bytes}`);
}

function groupVersionOf(apiVersion: string | GroupVersion | undefined): GroupVersion {
  if (apiVersion === undefined) return { group: '', version: '' };
  return typeof apiVersion === 'string' ? parseApiVersion(apiVersion) : apiVersion;
}

function defaultBasePath({ group, version }: GroupVersion): string {
  if (version === '') return '/';
  return group === '' ? '/api' : '/apis';
}

function limiterFor({ qps = 0, burst = 0 }: RestConfig, { clock }: Runtime): RateLimiter | undefined {
  return qps > 0 ? tokenBucketRateLimiter(qps, burst > 0 ? burst : defaultBurst, clock) : undefined;
}
