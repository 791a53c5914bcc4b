import { builtinScheme } from '../kinds/builtin-scheme.js';
import type { Scheme } from '../object/scheme.js';
import type { RestConfig } from '../rest/config.js';
import { RestClient, type RestClientOptions } from '../rest/rest-client.js';
import { type Runtime, resolveRuntime } from '../runtime/runtime.js';
import { Discovery } from './discovery.js';
import { KubeClient } from './kube-client.js';
import { RestMapper } from './rest-mapper.js';
import { runOver } from './run-operation.js';

/** Options of {@link createClient}. */
export interface ClientOptions extends Omit<RestClientOptions, 'apiVersion' | 'basePath'> {
  /** The kinds that need no discovery. @default every built-in kind */
  readonly scheme?: Scheme;
  /** @default one that asks the server, shared by all wrappers of the client */
  readonly mapper?: RestMapper;
  readonly runtime?: Partial<Runtime>;
}

/** A {@link KubeClient} that owns its connection. */
export class ConnectedClient extends KubeClient implements AsyncDisposable {
  readonly #rest: RestClient;
  /** Asks the server what it serves, without remembering. */
  readonly discovery: Discovery;

  constructor(rest: RestClient, discovery: Discovery, parts: ConstructorParameters<typeof KubeClient>[0]) {
    super(parts);
    this.#rest = rest;
    this.discovery = discovery;
  }

  /** For paths that no kind stands for, e.g. `/healthz`. */
  get rest(): RestClient {
    return this.#rest;
  }

  /** Ends what is running and frees the sockets. Wrappers of the client end with it. */
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
  const rest = RestClient.for(config, options);
  const discovery = new Discovery(rest);
  const { clock, random } = resolveRuntime(options.runtime);
  const mapper = options.mapper ?? new RestMapper(discovery);
  const scheme = options.scheme ?? builtinScheme();
  return new ConnectedClient(rest, discovery, { run: runOver(rest, clock), scheme, mapper, clock, random });
}
