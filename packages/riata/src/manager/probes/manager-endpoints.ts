import type { Cache, CacheHealth } from '../../cache/cache.js';
import type { ConnectedClient } from '../../client/create-client.js';
import { formatKey, keyId } from '../../object/key.js';
import type { Runtime } from '../../runtime/runtime.js';
import { version } from '../../version.js';
import type { WebhookRecord } from '../../webhook/webhook-route.js';
import type { Cluster, ClusterSet } from '../clusters/cluster.js';
import { dashboardEndpoint } from '../debug/dashboard-endpoint.js';
import { isLoopback, resolveDashboard } from '../debug/dashboard-options.js';
import { type DebugParts, debugRoutes as streamRoutes } from '../debug/debug-routes.js';
import { DebugStream } from '../debug/debug-stream.js';
import { localGuard } from '../debug/local-guard.js';
import { maskedCall } from '../debug/masking/masked-call.js';
import type { WriteLog } from '../debug/write-log.js';
import type { ManagerOptions, MetricsServerOptions } from '../manager-options.js';
import { cpuProfileRoute } from './cpu-profile-route.js';
import type { HealthChecks } from './health-checks.js';
import { healthRoute } from './health-route.js';
import { type EndpointGuard, type EndpointRoute, HttpEndpoint } from './http-endpoint.js';
import { informerMetrics } from './informer-metrics.js';
import type { PromRegistry } from './prom-metrics.js';
import { reviewGuard } from './review-guard.js';

/** The parts of a manager that the endpoints show. */
export interface EndpointParts {
  readonly healthz: HealthChecks;
  readonly readyz: HealthChecks;
  readonly client: ConnectedClient;
  readonly runtime: Runtime;
  readonly registry: PromRegistry | undefined;
  /** Undefined if neither a dashboard nor debug endpoints are asked for. */
  readonly writes: WriteLog | undefined;
  /** What the stream and the dashboard show. */
  readonly source: DebugParts['source'];
  readonly manager: {
    readonly webhookCalls: readonly WebhookRecord[];
    readonly cache: Cache;
    readonly clusters: ClusterSet;
  };
}

/** The servers that the options ask for. */
export async function endpointsFor(
  { health, metrics, dashboard: given }: ManagerOptions,
  parts: EndpointParts,
): Promise<readonly HttpEndpoint[]> {
  const { runtime } = parts;
  const { clock } = runtime;
  const endpoints: HttpEndpoint[] = [];
  const { source, writes, client } = parts;
  const stream = new DebugStream(source, clock);
  const streamed = (isProtected: boolean) => streamRoutes({ source, stream, writes, client, runtime, isProtected });
  if (health !== undefined) {
    const routes = new Map([
      ['/healthz', healthRoute(parts.healthz, clock)],
      ['/readyz', healthRoute(parts.readyz, clock)],
    ]);
    endpoints.push(new HttpEndpoint('health probes', health, { routes, runtime }));
  }
  if (metrics !== undefined) {
    const routes = new Map<string, EndpointRoute>();
    const { registry } = parts;
    if (registry !== undefined) {
      const look = informerMetrics(parts.runtime.metrics, {
        cache: parts.manager.cache,
        clusters: () => allOf(parts.manager.clusters),
      });
      routes.set('/metrics', async () => {
        look();
        return { contentType: registry.contentType, body: await registry.metrics() };
      });
    }
    const posts = new Map<string, EndpointRoute>();
    if (metrics.debug) {
      const live = streamed(metrics.protected ?? false);
      for (const [path, route] of [...debugRoutes(parts), ...live.routes]) routes.set(path, route);
      for (const [path, route] of live.posts) posts.set(path, route);
    }
    if (metrics.profiling) routes.set('/debug/profile', cpuProfileRoute(clock));
    const guard = metrics.protected ? reviewGuard(parts.client, clock) : debugGuard;
    endpoints.push(new HttpEndpoint('metrics', metrics, { routes, posts, guard, runtime }));
  }
  const dashboard = resolveDashboard(given);
  if (dashboard !== undefined) {
    const live = streamed(dashboard.protected);
    const routes = [...debugRoutes(parts), ...live.routes];
    endpoints.push(await dashboardEndpoint(dashboard, parts, { ...live, routes }));
  }
  return endpoints;
}

/** Pages that need no token are for this machine alone, also in the browser; scrapers use any name. */
const debugGuard: EndpointGuard = async (request) =>
  request.path === '/debug' || request.path.startsWith('/debug/') ? localGuard(request) : undefined;

/**
 * Throws for an endpoint that would show every client what only operators may see: names of objects, error messages,
 * and a profile that takes CPU.
 */
export function assertDebugGuarded({ debug, profiling, protected: isProtected, host }: MetricsServerOptions): void {
  const asked = [debug && 'debug', profiling && 'profiling'].filter(Boolean);
  if (asked.length === 0 || isProtected || isLoopback(host)) return;
  throw new TypeError(
    `Manager: metrics.${asked.join(' and metrics.')} would serve /debug/* to anyone who can reach ` +
      `${host === undefined ? 'the port on any interface' : `"${host}"`}; set metrics.protected, or metrics.host to ` +
      '"127.0.0.1" and use kubectl port-forward',
  );
}

/** For people and dashboards: the current state, as JSON. */
function debugRoutes({
  manager,
  source,
  runtime: { clock },
}: EndpointParts): readonly (readonly [string, EndpointRoute])[] {
  const startedMs = clock.monotonic();
  const maskErrors = (name: string, value: unknown): unknown => {
    if (value instanceof Error) return source.mask(value.message);
    return typeof value === 'string' && errorNames.has(name) ? source.mask(value) : value;
  };
  const json = (value: unknown) => ({
    contentType: 'application/json',
    body: `${JSON.stringify(value, maskErrors, 2)}\n`,
  });
  return [
    [
      '/debug/reconciles',
      ({ query }) => {
        const [controller, key] = [query.get('controller'), query.get('key')];
        const since = Number(query.get('since') ?? 0);
        const expected = source.explain.filter(
          (record) =>
            record.startedAt + record.durationMs >= since &&
            (controller === null || record.controller === controller) &&
            (key === null || formatKey(record.key) === key || keyId(record.key) === key),
        );
        return json(expected);
      },
    ],
    [
      '/debug/webhooks',
      ({ query }) => {
        const webhook = query.get('webhook');
        const calls = manager.webhookCalls.filter((call) => webhook === null || call.webhook === webhook);
        return json(calls.map((call) => maskedCall(call, source.mask)));
      },
    ],
    [
      '/debug/controllers',
      () => {
        const kinds = new Map([...source.kinds()].map(({ name, kind }) => [name, kind.gvk]));
        return json(source.controllers.map((health) => ({ ...health, kind: kinds.get(health.name) })));
      },
    ],
    [
      '/debug/process',
      () => {
        const { rss, heapUsed } = process.memoryUsage();
        const memory = { rssBytes: rss, heapUsedBytes: heapUsed };
        return json({
          riata: version,
          node: process.versions.node,
          now: clock.now(),
          upMs: clock.monotonic() - startedMs,
          memory,
          leader: source.leader(),
        });
      },
    ],
    [
      '/debug/informers',
      () => {
        const shown = (health: CacheHealth, cluster?: string) => ({ cluster, ...health, kind: health.kind.gvk });
        const added = allOf(manager.clusters).flatMap(({ name, cache }) =>
          cache.health.map((health) => shown(health, name)),
        );
        return json([...manager.cache.health.map((health) => shown(health)), ...added]);
      },
    ],
  ];
}

function allOf(clusters: ClusterSet): readonly Cluster[] {
  return clusters.names.flatMap((name) => clusters.get(name) ?? []);
}

/** Members of records and health that are texts of errors. */
const errorNames: ReadonlySet<string> = new Set(['error', 'lastError']);
