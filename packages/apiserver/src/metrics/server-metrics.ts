import type { CounterSeries, HistogramSeries, Scheduler } from 'riata/runtime';
import { FlowMetrics } from '../flow-control/flow-metrics.js';
import { isLongRunning, type RequestInfo } from '../http/request-info.js';
import type { Route } from '../http/route.js';
import type { ServerRequest } from '../http/server-request.js';
import type { Resource } from '../resource/resource.js';
import type { Storage } from '../storage/storage.js';
import { InFlight } from './in-flight.js';
import { droppedLabels, longRunningLabels, pathLabels, type RequestLabels, resourceLabels } from './request-labels.js';
import { TextMetrics } from './text-metrics.js';

/** What {@link ServerMetrics} count. */
export interface ServerMetricsParts {
  readonly clock: Pick<Scheduler, 'monotonic'>;
  readonly storage: Pick<Storage, 'count'>;
  /** What is stored: one resource for each table. */
  readonly resources: () => Iterable<Resource>;
}

const placeLabels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
const labels = [...placeLabels, 'dry_run'] as const;
const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

/** The metrics of a server, by upstream's names. Requests only increment counters; the text is created on read. */
export class ServerMetrics {
  readonly inFlight: InFlight;
  readonly #parts: ServerMetricsParts;
  readonly #registry = new TextMetrics();
  readonly #requests = this.#registry.counter({
    name: 'apiserver_request_total',
    help: '[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
    labels: [...labels, 'code'],
  });
  readonly #durations = this.#registry.histogram({
    name: 'apiserver_request_duration_seconds',
    help: '[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
    labels,
    buckets: durationBuckets,
  });
  readonly #sizes = this.#registry.histogram({
    name: 'apiserver_response_sizes',
    help: '[STABLE] Response size distribution in bytes for each group, version, verb, resource, subresource, scope and component.',
    labels: placeLabels,
    buckets: [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9],
  });
  readonly #longRunning = this.#registry.gauge({
    name: 'apiserver_longrunning_requests',
    help: '[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.',
    labels: placeLabels,
  });
  readonly #current = this.#registry.gauge({
    name: 'apiserver_current_inflight_requests',
    help: '[STABLE] Maximal number of currently used inflight request limit of this apiserver per request kind in last second.',
    labels: ['request_kind'],
  });
  /** Counts what flow control decides. */
  readonly flow = new FlowMetrics(this.#registry);
  readonly #terminations = this.#registry.counter({
    name: 'apiserver_request_terminations_total',
    help: '[ALPHA] Number of requests which apiserver terminated in self-defense.',
    labels: [...placeLabels, 'code'],
  });
  readonly #events = this.#registry.counter({
    name: 'apiserver_watch_events_total',
    help: '[ALPHA] Number of events sent in watch clients',
    labels: ['group', 'version', 'resource'],
  });
  readonly #eventSizes = this.#registry.histogram({
    name: 'apiserver_watch_events_sizes',
    help: '[ALPHA] Watch event size distribution in bytes',
    labels: ['group', 'version', 'resource'],
    buckets: [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072],
  });
  readonly #objects = this.#registry.gauge({
    name: 'apiserver_resource_objects',
    help: '[ALPHA] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.',
    labels: ['group', 'resource'],
  });
  readonly #storageObjects = this.#registry.gauge({
    name: 'apiserver_storage_objects',
    help: '[STABLE] (Deprecated since 1.34.0) [DEPRECATED, consider using apiserver_resource_objects instead] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.',
    labels: ['resource'],
  });
  /** The series of requests that have been counted before: to find one by its labels costs more than the request may. */
  readonly #known = new Map<string, RequestSeries>();
  #counted: readonly Resource[] = [];

  constructor(parts: ServerMetricsParts) {
    this.#parts = parts;
    this.inFlight = new InFlight(parts.clock);
  }

  /** Begins to measure a request that has just come in. */
  measure(request: ServerRequest): Measured {
    return new Measured(this, request, this.#parts.clock.monotonic());
  }

  /** Everything, in Prometheus' text format. */
  text(): string {
    for (const kind of ['readOnly', 'mutating'] as const) {
      this.#current.with({ request_kind: kind }).set(this.inFlight.peak(kind));
    }
    this.flow.collect();
    for (const { group, plural } of this.#counted) {
      this.#objects.remove({ group, resource: plural });
      this.#storageObjects.remove({ resource: groupResource(group, plural) });
    }
    this.#counted = [...this.#parts.resources()].filter(
      ({ verbs }) => verbs.includes('create') && verbs.includes('list'),
    );
    for (const { group, plural, table } of this.#counted) {
      const count = this.#parts.storage.count(table);
      this.#objects.with({ group, resource: plural }).set(count);
      this.#storageObjects.with({ resource: groupResource(group, plural) }).set(count);
    }
    return this.#registry.text();
  }

  /** Counts from zero again, as a DELETE of `/metrics` asks for. */
  reset(): void {
    this.#known.clear();
    this.flow.reset();
    this.#registry.reset();
  }

  /** Counts a request that is over. */
  count(of: RequestLabels, code: number, startedAt: number, bytes: number | undefined): void {
    const { verb, dry_run, group, version, resource, subresource, scope, component } = of;
    const key = `${code} ${verb} ${dry_run} ${group} ${version} ${resource} ${subresource} ${scope} ${component}`;
    let series = this.#known.get(key);
    if (series === undefined) {
      const [total, seconds] = [this.#requests.with({ ...of, code: String(code) }), this.#durations.with(of)];
      series = { total, seconds, sizes: undefined };
      this.#known.set(key, series);
    }
    series.total.inc();
    series.seconds.observe((this.#parts.clock.monotonic() - startedAt) / 1000);
    if (bytes === undefined) return;
    series.sizes ??= this.#sizes.with(of);
    series.sizes.observe(bytes);
  }

  /** Counts a request that is not executed (`RecordDroppedRequest`). */
  drop(request: ServerRequest, info: RequestInfo): void {
    const code = '429';
    const { dry_run, ...place } = droppedLabels(request, info);
    this.#requests.with({ ...place, dry_run, code }).inc();
    const { subresource } = place;
    this.#terminations.with({ ...place, subresource: info.isResource ? subresource : info.path, code }).inc();
  }

  /** Counts a request that lasts while it does. */
  lasting(request: ServerRequest, info: RequestInfo): Disposable {
    const series = this.#longRunning.with(longRunningLabels(request, info));
    series.inc();
    return { [Symbol.dispose]: () => series.inc(-1) };
  }

  /** Counts the events of a watch, by the sizes of what is written. */
  events({ group, version, plural }: Resource): (bytes: number) => void {
    const of = { group, version, resource: plural };
    const [total, sizes] = [this.#events.with(of), this.#eventSizes.with(of)];
    return (bytes) => {
      total.inc();
      sizes.observe(bytes);
    };
  }
}

interface RequestSeries {
  readonly total: CounterSeries;
  readonly seconds: HistogramSeries;
  sizes: HistogramSeries | undefined;
}

/** One request as it is measured. Upstream counts what reaches a handler: neither 401 and 403 nor unknown paths. */
export class Measured {
  readonly #metrics: ServerMetrics;
  readonly #request: ServerRequest;
  readonly #startedAt: number;
  #labels: RequestLabels | undefined;
  #sized = false;
  #refusesType = false;
  #running: Disposable | undefined;

  constructor(metrics: ServerMetrics, request: ServerRequest, startedAt: number) {
    this.#metrics = metrics;
    this.#request = request;
    this.#startedAt = startedAt;
  }

  /** Counts the request as in flight from here on, unless it lasts. */
  run(info: RequestInfo): void {
    if (!isLongRunning(info)) this.#running = this.#metrics.inFlight.enter(this.#startedAt, this.#request.method);
  }

  /** It is not executed: too many others are. */
  drop(info: RequestInfo): void {
    this.#metrics.drop(this.#request, info);
  }

  /** It goes to a resource. */
  resource(info: RequestInfo, route: Route): void {
    this.#labels = resourceLabels(this.#request, info, route);
    if (isLongRunning(info)) this.#running = this.#metrics.lasting(this.#request, info);
    const { verb, custom } = route;
    const isList = verb === 'list' || (verb === 'watch' && !custom && !info.watchPath);
    this.#sized = isList || (verb === 'get' && this.#labels.verb !== 'CONNECT');
    // The routes of built-in kinds refuse a patch of an unknown type, before it is counted.
    this.#refusesType = verb === 'patch' && !custom;
  }

  /** It goes to a path of its own that upstream counts. */
  path(info: RequestInfo, component: string): void {
    this.#labels = pathLabels(this.#request, info, component);
    this.#sized = true;
  }

  /** Counts the events of a watch. */
  events(resource: Resource): (bytes: number) => void {
    return this.#metrics.events(resource);
  }

  /** The answer is complete. */
  end(status: number, bytes: number): void {
    this.#running?.[Symbol.dispose]();
    if (this.#labels === undefined || (this.#refusesType && status === 415)) return;
    this.#metrics.count(this.#labels, status, this.#startedAt, this.#sized ? bytes : undefined);
  }
}

function groupResource(group: string, plural: string): string {
  return group === '' ? plural : `${plural}.${group}`;
}
