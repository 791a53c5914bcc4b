import type { HorizontalPodAutoscaler, MetricSpec, MetricStatus, MetricTarget, Pod } from 'riata/kinds';
import { type LabelSelector, parseQuantity, Quantity } from 'riata/object';
import type { Clock } from 'riata/runtime';
import { isReady } from '../workloads/pods.js';
import { annotatedMetrics, type MetricValues, milliValue } from './metrics.js';
import { isTolerated, replicasFor, type Tolerance } from './replica-count.js';

/** The proposal of one metric. */
export interface Proposal {
  readonly replicas: number;
  /** The metric, in the words of events and conditions. */
  readonly name: string;
  readonly status: MetricStatus;
}

/** The context for evaluating metrics. */
export interface MetricParts {
  readonly autoscaler: HorizontalPodAutoscaler;
  /** The Pods that the selector of the scaled object matches. */
  readonly pods: readonly Pod[];
  /** As many as the scaled object should have, and has. */
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly metricsOf: (pod: Pod) => MetricValues | undefined;
  readonly tolerance: Tolerance;
  readonly clock: Clock;
}

/** Why a metric says nothing; `reason` as conditions and events have it. */
export class MetricError extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

const quantity = (milli: number, resource = '') =>
  Quantity.of(Math.ceil(milli), resource === 'memory' ? 'BinarySI' : 'DecimalSI', -3).toString();
const milliOf = (text: string | undefined) => Number(parseQuantity(text ?? 0).milliValue());

/** How many replicas a metric asks for. Throws a {@link MetricError}. */
export function proposalOf(spec: MetricSpec, parts: MetricParts): Proposal {
  const { resource, containerResource, pods, object, external } = spec;
  if (resource !== undefined) return ofResource(resource, undefined, parts);
  if (containerResource !== undefined) return ofResource(containerResource, containerResource.container, parts);
  if (pods !== undefined) {
    const { metric, target } = pods;
    const { replicas, average } = plain(target, metric.name, (pod) => milliValue(parts.metricsOf(pod), metric.name), {
      ...{ parts, reason: 'FailedGetPodsMetric', prefix: `unable to get metric ${metric.name}: ` },
    });
    const status = { type: 'Pods', pods: { metric, current: { averageValue: quantity(average) } } };
    return { replicas, name: `pods metric ${metric.name}`, status };
  }
  if (object !== undefined) {
    const { metric, target, describedObject } = object;
    const { kind, name } = describedObject;
    const { namespace } = parts.autoscaler.metadata;
    const where = `on ${kind} ${namespace}/${name}`;
    const { replicas, current } = ofObject(target, metric.name, parts, {
      ...{ reason: 'FailedGetObjectMetric', prefix: `unable to get metric ${metric.name}: ${where}` },
    });
    const isAverage = target.averageValue !== undefined;
    const named = isAverage
      ? `external metric ${metric.name}(${shown(metric.selector)})`
      : `${kind} metric ${metric.name}`;
    return { replicas, name: named, status: { type: 'Object', object: { metric, describedObject, current } } };
  }
  const { metric, target } = external as NonNullable<typeof external>;
  const { namespace } = parts.autoscaler.metadata;
  const { replicas, current } = ofObject(target, metric.name, parts, {
    reason: 'FailedGetExternalMetric',
    prefix: `unable to get external metric ${namespace}/${metric.name}/${shown(metric.selector)}`,
  });
  const name = `external metric ${metric.name}(${shown(metric.selector)})`;
  return { replicas, name, status: { type: 'External', external: { metric, current } } };
}

function ofResource(
  { name, target }: { readonly name: string; readonly target: MetricTarget },
  container: string | undefined,
  parts: MetricParts,
): Proposal {
  const usageOf = (pod: Pod) => {
    const values = parts.metricsOf(pod);
    if (container === undefined) return milliValue(values, name);
    const isOnly = pod.spec.containers.length === 1;
    return milliValue(values, `${container}/${name}`) ?? (isOnly ? milliValue(values, name) : undefined);
  };
  const reason = container === undefined ? 'FailedGetResourceMetric' : 'FailedGetContainerResourceMetric';
  const prefix = `failed to get ${name} utilization: `;
  const unknown = `${prefix}unable to get metrics for resource ${name}: no metrics returned from resource metrics API`;
  if (!parts.pods.some((pod) => usageOf(pod) !== undefined)) throw new MetricError(reason, unknown);
  const statusOf = (current: object) =>
    container === undefined
      ? ({ type: 'Resource', resource: { name, current } } as const)
      : ({ type: 'ContainerResource', containerResource: { name, container, current } } as const);
  const what = container === undefined ? `${name} resource` : `${name} container resource`;
  if (target.averageValue !== undefined) {
    const { replicas, average } = plain(target, name, usageOf, { parts, reason, prefix });
    return { replicas, name: what, status: statusOf({ averageValue: quantity(average, name) }) };
  }
  const requests = requestsOf(parts.pods, name, container, (message) => new MetricError(reason, `${prefix}${message}`));
  const goal = target.averageUtilization ?? 0;
  const utilization = (usage: ReadonlyMap<string, number>) => {
    const asked = [...usage.keys()].reduce((total, pod) => total + (requests.get(pod) ?? 0), 0);
    if (asked === 0) throw new MetricError(reason, `${prefix}no metrics returned matched known pods`);
    return Math.trunc((sumOf(usage) * 100) / asked);
  };
  const { replicas, usage } = attempt(reason, prefix, () =>
    replicasFor({
      ...{ pods: parts.pods, current: parts.specReplicas, usageOf, isCpu: name === 'cpu' },
      assumed: (pod) => requests.get(pod.metadata.name) ?? 0,
      ratioOf: (own) => utilization(own) / goal,
      ...{ tolerance: parts.tolerance, clock: parts.clock },
    }),
  );
  const averageValue = quantity(Math.trunc(sumOf(usage) / usage.size), name);
  const status = statusOf({ averageUtilization: utilization(usage), averageValue });
  return { replicas, name: `${what} utilization (percentage of request)`, status };
}

/** Of each Pod, or of one of its containers; all of them must request some. */
function requestsOf(
  pods: readonly Pod[],
  resource: string,
  only: string | undefined,
  fail: (message: string) => Error,
): ReadonlyMap<string, number> {
  return new Map(
    pods.map((pod) => {
      const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
      const containers = [...pod.spec.containers, ...sidecars].filter(
        ({ name }) => only === undefined || name === only,
      );
      const amounts = containers.map(({ name, resources }) => {
        const request = resources?.requests?.[resource];
        const problem = `missing request for ${resource} in container ${name} of Pod ${pod.metadata.name}`;
        if (request === undefined) throw fail(problem);
        return milliOf(request);
      });
      return [pod.metadata.name, amounts.reduce((a, b) => a + b, 0)] as const;
    }),
  );
}

/** By an average over Pods that is given as an amount. */
function plain(
  { averageValue }: MetricTarget,
  metric: string,
  usageOf: (pod: Pod) => number | undefined,
  { parts, reason, prefix }: { readonly parts: MetricParts; readonly reason: string; readonly prefix: string },
) {
  const target = milliOf(averageValue);
  const average = (usage: ReadonlyMap<string, number>) => Math.trunc(sumOf(usage) / usage.size);
  const { replicas, usage } = attempt(reason, prefix, () =>
    replicasFor({
      ...{ pods: parts.pods, current: parts.specReplicas, usageOf, isCpu: metric === 'cpu' },
      assumed: () => target,
      ratioOf: (own) => average(own) / target,
      ...{ tolerance: parts.tolerance, clock: parts.clock },
    }),
  );
  return { replicas, average: average(usage) };
}

/** By one value: as it is, or shared by all Pods. */
function ofObject(
  target: MetricTarget,
  metric: string,
  { autoscaler, pods, specReplicas, statusReplicas, tolerance }: MetricParts,
  { reason, prefix }: { readonly reason: string; readonly prefix: string },
) {
  const value = milliValue(annotatedMetrics(autoscaler), metric);
  if (value === undefined) throw new MetricError(reason, `${prefix}: no metrics returned from metrics API`);
  if (target.averageValue !== undefined) {
    const each = milliOf(target.averageValue);
    const isFine = isTolerated(value / (each * statusReplicas), tolerance);
    const current = { averageValue: quantity(value / statusReplicas) };
    return { replicas: isFine ? statusReplicas : Math.ceil(value / each), current };
  }
  const ratio = value / milliOf(target.value);
  const current = { value: quantity(value) };
  if (specReplicas === 0) return { replicas: Math.ceil(ratio), current };
  const ready = pods.filter((pod) => pod.status.phase === 'Running' && isReady(pod)).length;
  return { replicas: isTolerated(ratio, tolerance) ? specReplicas : Math.ceil(ratio * ready), current };
}

function attempt<T>(reason: string, prefix: string, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (error instanceof MetricError || !(error instanceof Error)) throw error;
    throw new MetricError(reason, `${prefix}${error.message}`);
  }
}

function sumOf(usage: ReadonlyMap<string, number>): number {
  return [...usage.values()].reduce((a, b) => a + b, 0);
}

/** As Go prints a selector. */
function shown(selector: LabelSelector | undefined): string {
  if (selector === undefined) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}: ${value},`);
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{},}`;
}
