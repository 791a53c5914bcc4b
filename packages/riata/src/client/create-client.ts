import { builtinScheme } from '../kinds/builtin-scheme.js';
import type { Scheme } from '../object/scheme.js';
import { serverContact } from '../rest/chain/server-contact.js';
import { type RestConfig, restConfigOptionNames } from '../rest/config/rest-config.js';
import { RestClient, type RestClientOptions } from '../rest/rest-client.js';
import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../runtime/runtime.js';
import { Discovery } from './discovery/discovery.js';
import { RestMapper } from './discovery/rest-mapper.js';
import { KubeClient, type KubeClientParts, partsOf } from './kube-client.js';
import { runOver } from './operation/run-over.js';
import { type GetListener, type OnWriteOptions, WriteHook, type WriteListener } from './operation/write-hook.js';

/** Options of {@link createClient}. */
export interface ClientOptions extends Omit<RestClientOptions, 'apiVersion' | 'basePath'> {
  /** The kinds that need no discovery. @default every built-in kind */
  readonly scheme?: Scheme;
  /** @default one that asks the server, shared by all wrappers of the client */
  readonly mapper?: RestMapper;
  /** Hears of every write, as with {@link ConnectedClient.onWrite}. */
  readonly onWrite?: WriteListener;
  readonly runtime?: Partial<Runtime>;
}

export const clientOptionNames = optionNames<ClientOptions>({
  maxObjectBytes: true,
  scheme: true,
  mapper: true,
  onWrite: true,
  runtime: true,
  transport: true,
  rateLimiter: true,
  backoff: true,
  warningHandler: true,
  timeout: true,
});

/** The parts of a client, for one of another class over the same connection. */
export const connectionParts: unique symbol = Symbol('riata.connectionParts');

/** The method of a client that reports each object that was read by its name, also by wrappers of the client. */
export const onGet: unique symbol = Symbol('riata.onGet');

/** A {@link KubeClient} that owns its connection. */
export class ConnectedClient extends KubeClient implements AsyncDisposable {
  readonly #rest: RestClient;
  readonly #writes: WriteHook;
  /** Asks the server what it serves, without remembering. */
  readonly discovery: Discovery;

  constructor(rest: RestClient, discovery: Discovery, writes: WriteHook, parts: KubeClientParts) {
    super(parts);
    this.#rest = rest;
    this.#writes = writes;
    this.discovery = discovery;
  }

  get [connectionParts](): ConstructorParameters<typeof ConnectedClient> {
    return [this.#rest, this.discovery, this.#writes, this[partsOf]];
  }

  /** For paths without a kind, e.g. `/healthz`. */
  get rest(): RestClient {
    return this.#rest;
  }

  /**
   * Calls `listener` with every write of this client and of all its wrappers that the server has accepted, before the
   * call resolves, so that a cache can show it at once. Also with every uncertain write: the connection broke after it
   * was sent, or the server ran out of time. Not called for dry runs, refused writes and no-op applies. Errors of the
   * listener are logged. Dispose the result to stop.
   *
   * With `under`, only writes are reported that were made with that signal, or with one linked to it.
   */
  onWrite(listener: WriteListener, options?: OnWriteOptions): Disposable {
    return this.#writes.add(listener, options);
  }

  /** For as long as the client lives; the listener must not throw. */
  [onGet](listener: GetListener): void {
    this.#writes.addGet(listener);
  }

  /**
   * Ends what is running and frees the sockets. Wrappers of the client end with it. A transport that was given to it, as by
   * the config of a server in this process, stays open, and so does what runs on that: end it by its signal, or with the
   * server.
   */
  close(): Promise<void> {
    return this.#rest.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * A client for every kind of one API server (`client.New`). Nothing is sent before the first call.
 *
 * ```ts
 * await using client = createClient(await loadConfig());
 * const pods = await client.list(Pod, { namespace: 'shop', labelSelector: 'app=web' });
 * ```
 */
export function createClient(config: RestConfig, options: ClientOptions = {}): ConnectedClient {
  refuseUnknownOptions('createClient', options, clientOptionNames);
  refuseUnknownOptions('createClient: config', config, restConfigOptionNames);
  const { scheme = builtinScheme(), mapper: given, onWrite, ...transport } = options;
  const rest = RestClient.for(config, transport);
  const discovery = new Discovery(rest);
  const { clock, random, log } = resolveRuntime(options.runtime);
  const writes = new WriteHook(log);
  if (onWrite !== undefined) writes.add(onWrite);
  const run = runOver(rest, writes);
  const mapper = given ?? new RestMapper(discovery);
  const parts = { run, scheme, mapper, clock, random, closing: rest.closing, contact: rest[serverContact] };
  return new ConnectedClient(rest, discovery, writes, parts);
}
