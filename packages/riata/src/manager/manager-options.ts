import type { CacheOptions } from '../cache/cache-options.js';
import type { ClientOptions, ConnectedClient } from '../client/create-client.js';
import { type ControllerOptions, controllerOptionNames } from '../controller/loop/controller-options.js';
import type { Duration } from '../object/duration.js';
import type { KindRef } from '../object/kind.js';
import type { RestConfig } from '../rest/config/rest-config.js';
import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';
import type { Runtime } from '../runtime/runtime.js';
import type { ClusterProvider } from './clusters/cluster.js';
import { type DashboardOptions, dashboardOptionNames } from './debug/dashboard-options.js';
import type { LeaderElectorOptions } from './election/leader-elector-options.js';
import type { LeaseLockOptions } from './election/lease-lock.js';
import type { EventBroadcasterOptions } from './events/event-broadcaster.js';
import { type HttpEndpointOptions, httpEndpointOptionNames } from './probes/http-endpoint.js';
import { type ShardingOptions, shardingOptionNames } from './sharding/manager-shards.js';
import { checkWebhookOptions, type WebhookServerOptions, webhookServerOptionNames } from './webhook-options.js';

/** How replicas elect a leader, with a Lease. */
export interface LeaderElectionOptions
  extends Omit<LeaseLockOptions, 'random'>,
    Pick<LeaderElectorOptions, 'leaseDuration' | 'renewDeadline' | 'retryPeriod' | 'releaseOnStop'> {}

/** Options of a `Manager` (`manager.Options`). */
export interface ManagerOptions {
  /** The server; mostly from `loadConfig()`. Or give a `client`. */
  readonly config?: RestConfig;
  /** An existing client; it is not closed with the manager. @default one made from `config` */
  readonly client?: ConnectedClient;
  /** For the client that is made from `config`. */
  readonly clientOptions?: Omit<ClientOptions, 'runtime'>;
  /** What is cached, and how (`NewCache`, `Cache`). */
  readonly cache?: Omit<CacheOptions, 'runtime'>;
  /** Kinds that `client` always reads from the server (`ClientDisableCacheFor`). @default none */
  readonly uncached?: readonly KindRef[];
  /** Defaults for the options of controllers (`Controller`). */
  readonly controllers?: Omit<ControllerOptions, 'runtime'>;
  /** Given, controllers run on one replica at a time. @default none: they run at once */
  readonly leaderElection?: LeaderElectionOptions;
  /** Given, replicas share the work of controllers that are `sharded`, beside leader election. @default none */
  readonly sharding?: ShardingOptions;
  /** Where `/healthz` and `/readyz` are served (`HealthProbeBindAddress`). @default nowhere */
  readonly health?: HttpEndpointOptions;
  /** Where `/metrics` is served; needs the package `prom-client` (`Metrics`). @default nowhere */
  readonly metrics?: MetricsServerOptions;
  /**
   * A web page that shows why reconciles ran, what they wrote and what is stuck; needs the package `@riata/dashboard`. True:
   * on port 8082 of this machine alone. @default nowhere
   */
  readonly dashboard?: boolean | DashboardOptions;
  /** How webhooks are served, once one is added; on every replica (`WebhookServer`). */
  readonly webhooks?: WebhookServerOptions;
  /** Finds clusters beside the manager's own, which come and go. @default none; `manager.clusters.add` works as well */
  readonly clusterProvider?: ClusterProvider;
  /** How Events are written. */
  readonly events?: Omit<EventBroadcasterOptions, 'runtime'>;
  /**
   * How long what runs may take to end, before `run` resolves without it (`GracefulShutdownTimeout`). After two thirds of
   * it the signals of reconciles abort, if their `drain` has not had them do so before. @default '30s'
   */
  readonly gracefulTimeout?: Duration | 'never';
  /**
   * Measures ten times a second how late the event loop is, for a metric, and logs when it is blocked. Has no effect on a
   * virtual clock. @default true
   */
  readonly loopMonitor?: boolean;
  readonly runtime?: Partial<Runtime>;
}

export const leaderElectionOptionNames = optionNames<LeaderElectionOptions>({
  namespace: true,
  name: true,
  identity: true,
  labels: true,
  leaseDuration: true,
  renewDeadline: true,
  retryPeriod: true,
  releaseOnStop: true,
});

export const managerOptionNames = optionNames<ManagerOptions>({
  config: true,
  client: true,
  clientOptions: true,
  cache: true,
  uncached: true,
  controllers: true,
  leaderElection: true,
  sharding: true,
  health: true,
  metrics: true,
  dashboard: true,
  webhooks: true,
  clusterProvider: true,
  events: true,
  gracefulTimeout: true,
  loopMonitor: true,
  runtime: true,
});

/** Where metrics are served, and to whom. */
export interface MetricsServerOptions extends HttpEndpointOptions {
  /**
   * Asks the API server who a caller is and whether it may `get` the path (TokenReview, SubjectAccessReview); those
   * without a token get 401, those without the right 403 (`FilterProvider`). @default false
   */
  readonly protected?: boolean;
  /**
   * Serves `/debug/reconciles`, `/debug/webhooks`, `/debug/controllers`, `/debug/informers`, `/debug/process`, `/debug/object`,
   * `/debug/objects`, `/debug/actions` and `/debug/stream` beside the metrics. Requires
   * `protected`, or a `host` that is loopback: they show names of objects and texts of errors. @default false
   */
  readonly debug?: boolean;
  /** Serves `/debug/profile`: a CPU profile of the process (`PprofBindAddress`). Requires the same. @default false */
  readonly profiling?: boolean;
}

export const metricsServerOptionNames = optionNames<MetricsServerOptions>({
  host: true,
  port: true,
  tls: true,
  protected: true,
  debug: true,
  profiling: true,
});

/** Throws a `TypeError` for an unknown option, also in nested options that are used later. */
export function checkManagerOptions(options: ManagerOptions): void {
  refuseUnknownOptions('Manager', options, managerOptionNames);
  refuseUnknownOptions('Manager: controllers', options.controllers, controllerOptionNames);
  refuseUnknownOptions('Manager: leaderElection', options.leaderElection, leaderElectionOptionNames);
  refuseUnknownOptions('Manager: sharding', options.sharding, shardingOptionNames);
  refuseUnknownOptions('Manager: health', options.health, httpEndpointOptionNames);
  refuseUnknownOptions('Manager: metrics', options.metrics, metricsServerOptionNames);
  if (typeof options.dashboard === 'object') {
    refuseUnknownOptions('Manager: dashboard', options.dashboard, dashboardOptionNames);
  }
  refuseUnknownOptions('Manager: webhooks', options.webhooks, webhookServerOptionNames);
  checkWebhookOptions('Manager: webhooks', options.webhooks);
}
