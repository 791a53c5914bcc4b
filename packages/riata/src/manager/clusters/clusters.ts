import { Cache } from '../../cache/cache.js';
import { type ConnectedClient, createClient } from '../../client/create-client.js';
import type { Track } from '../../controller/calls/call-memory.js';
import { trackedConnection } from '../../controller/calls/tracked-client.js';
import type { RestConfig } from '../../rest/config/rest-config.js';
import { type Metrics, noMetrics } from '../../runtime/metrics.js';
import type { Runtime } from '../../runtime/runtime.js';
import { Removed } from '../../runtime/stop-reasons.js';
import { EventBroadcaster } from '../events/event-broadcaster.js';
import type { ManagerOptions } from '../manager-options.js';
import { checkInformers } from '../probes/check-informers.js';
import type { Cluster, ClusterSet } from './cluster.js';

interface Member extends Cluster {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** The clusters of a manager. */
export class Clusters implements ClusterSet {
  readonly #members = new Map<string, Member>();
  readonly #runtime: Runtime;
  /** For their caches. */
  readonly #metrics: Metrics;
  readonly #options: Pick<ManagerOptions, 'cache' | 'events'>;
  readonly #track: Track;
  readonly #onAdd: (cluster: Cluster) => void;
  #isClosed = false;

  constructor(parts: {
    readonly runtime: Runtime;
    readonly options: Pick<ManagerOptions, 'cache' | 'events'>;
    /** Makes the calls of clusters' clients. */
    readonly track: Track;
    readonly onAdd: (cluster: Cluster) => void;
  }) {
    this.#runtime = parts.runtime;
    this.#metrics = withoutGauges(parts.runtime.metrics);
    this.#options = parts.options;
    this.#track = parts.track;
    this.#onAdd = parts.onAdd;
  }

  get names(): readonly string[] {
    return [...this.#members.keys()];
  }

  get(name: string): Cluster | undefined {
    return this.#members.get(name);
  }

  add(name: string, config: RestConfig): Cluster {
    if (typeof name !== 'string' || name === '' || name.includes('/')) {
      throw new TypeError(`cluster: name must be a non-empty string without a slash, got ${JSON.stringify(name)}`);
    }
    if (typeof config?.server !== 'string') {
      throw new TypeError(`cluster "${name}": config must have the URL of a server; make one with loadConfig`);
    }
    if (this.#members.has(name)) throw new Error(`cluster "${name}" already exists; remove it first`);
    if (this.#isClosed) throw new Error(`cluster "${name}": the manager has stopped, nothing can be added`);
    const log = this.#runtime.log.child({ cluster: name });
    const runtime = { ...this.#runtime, log };
    const connection = createClient(config, { runtime });
    const client = trackedConnection(connection, this.#track);
    const cache = new Cache(connection, { ...this.#options.cache, runtime: { ...runtime, metrics: this.#metrics } });
    const events = new EventBroadcaster(connection, { ...this.#options.events, runtime });
    const stop = new AbortController();
    const { signal } = stop;
    const ended = this.#run(name, [cache.run({ signal }), events.run({ signal })], connection);
    const eventRecorder = (component: string) => events.recorder(component);
    const check = () => checkInformers(cache);
    const member = { name, config, client, cache, signal, eventRecorder, check, stop, ended };
    this.#members.set(name, member);
    this.#runtime.log.info('cluster added', { cluster: name, server: config.server });
    this.#onAdd(member);
    return member;
  }

  /** Never rejects: a cluster that ends badly is no reason for the others to. */
  async #run(cluster: string, parts: readonly Promise<void>[], client: ConnectedClient): Promise<void> {
    const ends = await Promise.allSettled(parts);
    const [closed] = await Promise.allSettled([client.close()]);
    for (const end of [...ends, closed]) {
      if (end.status === 'rejected')
        this.#runtime.log.error('cluster failed while closing', { cluster, error: end.reason });
    }
  }

  async remove(name: string): Promise<void> {
    const member = this.#members.get(name);
    if (member === undefined) return;
    this.#members.delete(name);
    member.stop.abort(new Removed(`cluster "${name}" was removed`));
    await member.ended;
    this.#runtime.log.info('cluster removed', { cluster: name });
  }

  /** For good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.names.map((name) => this.remove(name)));
  }
}

/** Cache metrics are labelled by kind. Counters of several clusters add up, but one gauge would hide the other. */
function withoutGauges(metrics: Metrics): Metrics {
  return {
    enabled: metrics.enabled,
    counter: (spec) => metrics.counter(spec),
    histogram: (spec) => metrics.histogram(spec),
    gauge: (spec) => noMetrics.gauge(spec),
  };
}
