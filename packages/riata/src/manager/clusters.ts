import { Cache } from '../cache/cache.js';
import type { CacheOptions } from '../cache/cache-options.js';
import { type ConnectedClient, createClient } from '../client/create-client.js';
import type { RestConfig } from '../rest/config.js';
import type { Runtime } from '../runtime/runtime.js';
import { Removed } from '../runtime/stop-reasons.js';

/** A cluster beside the manager's own: what it is reached by, and what is cached of it. */
export interface Cluster {
  readonly name: string;
  readonly client: ConnectedClient;
  readonly cache: Cache;
  /** Aborts when it is removed, or the manager stops. */
  readonly signal: AbortSignal;
}

/** Adds and removes clusters while a manager runs. */
export interface ClusterSet {
  /** Controllers that are for added clusters work on it from now on. Throws if the name is taken. */
  add(name: string, config: RestConfig): Cluster;
  /** Ends all work on it; resolves when its watches have ended. Does nothing for a name that is not there. */
  remove(name: string): Promise<void>;
  /** Undefined if it is not there. */
  get(name: string): Cluster | undefined;
  readonly names: readonly string[];
}

/** Finds clusters, e.g. by Secrets or a cloud's list, and keeps the set up to date until the signal aborts. */
export interface ClusterProvider {
  readonly name: string;
  run(options: { readonly clusters: ClusterSet; readonly signal: AbortSignal }): Promise<void>;
}

interface Member extends Cluster {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** The clusters of a manager. */
export class Clusters implements ClusterSet {
  readonly #members = new Map<string, Member>();
  readonly #runtime: Runtime;
  readonly #cacheOptions: Omit<CacheOptions, 'runtime'> | undefined;
  readonly #onAdd: (cluster: Cluster) => void;

  constructor(parts: {
    readonly runtime: Runtime;
    readonly cache: Omit<CacheOptions, 'runtime'> | undefined;
    readonly onAdd: (cluster: Cluster) => void;
  }) {
    this.#runtime = parts.runtime;
    this.#cacheOptions = parts.cache;
    this.#onAdd = parts.onAdd;
  }

  get names(): readonly string[] {
    return [...this.#members.keys()];
  }

  get(name: string): Cluster | undefined {
    return this.#members.get(name);
  }

  add(name: string, config: RestConfig): Cluster {
    if (name === '' || name.includes('/')) {
      throw new TypeError(`cluster: a name wants some text without a slash, got ${JSON.stringify(name)}`);
    }
    if (this.#members.has(name)) throw new Error(`there already is a cluster named "${name}": remove it first`);
    const client = createClient(config, { runtime: this.#runtime });
    const cache = new Cache(client, { ...this.#cacheOptions, runtime: this.#runtime });
    const stop = new AbortController();
    const ended = cache.run({ signal: stop.signal }).then(() => client.close());
    const member = { name, client, cache, signal: stop.signal, stop, ended };
    this.#members.set(name, member);
    this.#runtime.log.info('a cluster was added', { cluster: name, server: config.server });
    this.#onAdd(member);
    return member;
  }

  async remove(name: string): Promise<void> {
    const member = this.#members.get(name);
    if (member === undefined) return;
    this.#members.delete(name);
    member.stop.abort(new Removed(`cluster "${name}" was removed`));
    await member.ended;
    this.#runtime.log.info('a cluster was removed', { cluster: name });
  }

  async removeAll(): Promise<void> {
    await Promise.all(this.names.map((name) => this.remove(name)));
  }
}
