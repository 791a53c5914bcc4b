import type { Cache } from '../../cache/cache.js';
import type { ConnectedClient } from '../../client/create-client.js';
import type { RestConfig } from '../../rest/config/rest-config.js';
import type { EventRecorder } from '../events/event-recorder.js';

/** A cluster beside the manager's own: its clients and its cache. */
export interface Cluster {
  readonly name: string;
  /** The config that it was added with (`GetConfig`). */
  readonly config: RestConfig;
  readonly client: ConnectedClient;
  readonly cache: Cache;
  /** Aborts when it is removed, or the manager stops. */
  readonly signal: AbortSignal;
  /** Emits events about its objects, in that cluster, in the name of a component. */
  eventRecorder(name: string): EventRecorder;
  /**
   * Throws, with the reason, while an informer of the cluster isn't synced, or its server has not answered for long.
   *
   * `/readyz?verbose` shows it as `informers/<name>`, `/readyz/informers/<name>` serves it alone, and the metric
   * `riata_cluster_healthy` counts it; `riata_informer_…` have the name as label `cluster`. All of them end with the
   * cluster. It does not fail `/readyz` as a whole, nor `/healthz`: a remote cluster that is down, or was just added, is no
   * reason to take an operator down that works on all the others. If yours depends on it, add a check:
   * `manager.addReadyzCheck('north', () => manager.clusters.get('north')?.check())`.
   */
  check(): void;
}

/** Adds and removes clusters while a manager runs. */
export interface ClusterSet {
  /**
   * Controllers that are for added clusters work on it from now on. Throws if the name is taken, and once the manager has
   * stopped.
   */
  add(name: string, config: RestConfig): Cluster;
  /**
   * Ends all work on it: reconciles are aborted, events that wait are written. Resolves when its watches have ended. Does
   * nothing for a name that is not there.
   */
  remove(name: string): Promise<void>;
  /** Undefined if it is not there. */
  get(name: string): Cluster | undefined;
  readonly names: readonly string[];
}

/**
 * Finds clusters, e.g. by Secrets or a cloud's list, and keeps the set up to date until the signal aborts. It runs on every
 * replica, whichever leads, so that the next leader knows them.
 */
export interface ClusterProvider {
  readonly name: string;
  /**
   * Begins when the manager's own caches are synced. May resolve early: the clusters that it has added stay. If it
   * throws, the manager stops, as with everything that a manager runs: catch errors that may pass, such as a list that
   * fails for a moment.
   */
  run(options: { readonly clusters: ClusterSet; readonly signal: AbortSignal }): Promise<void>;
}
