import { control, isApiError, isNoMatch, isNotFound, type ReconcileContext } from 'riata';
import { allOf, changed, intervalSource } from 'riata/controller';
import { HorizontalPodAutoscaler, Pod } from 'riata/kinds';
import type { Scale } from 'riata/kinds/autoscaling/v1';
import { formatTime, type KindRef, keyId, parseApiVersion, parseSelector } from 'riata/object';
import { describeError } from 'riata/runtime';
import { LastEvents } from '../workloads/last-events.js';
import { says } from '../workloads/says.js';
import { MetricError, type Proposal, proposalOf } from './metric-proposal.js';
import { annotatedMetrics, type MetricsOptions } from './metrics.js';
import { ScalingHistory } from './scaling-history.js';

type Context = ReconcileContext<HorizontalPodAutoscaler>;
type Condition = NonNullable<HorizontalPodAutoscaler['status']['conditions']>[number];

const tolerated = 0.1;

/**
 * Scales whatever has a scale subresource by metrics of its Pods, every 15 seconds and whenever an autoscaler changes
 * (`horizontal-pod-autoscaler-controller`).
 */
export const horizontalPodAutoscalers = ({ metrics }: MetricsOptions = {}) => {
  const histories = new Map<string, ScalingHistory>();
  const events = new LastEvents();
  // A change of its own status does not trigger a reconcile: there is a minimum time between two changes.
  const matters = changed(({ metadata, spec }: HorizontalPodAutoscaler) => [spec, metadata.annotations]);
  return control(HorizontalPodAutoscaler, { predicates: [matters] })
    .reads(Pod)
    .source(({ reader }) => intervalSource('15s', allOf(reader, HorizontalPodAutoscaler), { jitter: 0 }))
    .evenWhenGone()
    .reconcile(async (context) => {
      const { object: autoscaler, key } = context;
      if (autoscaler === undefined || autoscaler.metadata.deletionTimestamp !== undefined) {
        histories.delete(keyId(key));
        events.forget(key);
        return;
      }
      const history = histories.get(keyId(key)) ?? new ScalingHistory();
      histories.set(keyId(key), history);
      const own = { ...context, object: autoscaler };
      await new Autoscaling(own, history, events, { ...(metrics && { metrics }) }).run();
    });
};

/** One look at one autoscaler. */
class Autoscaling {
  readonly #context: Context;
  readonly #history: ScalingHistory;
  readonly #events: LastEvents;
  readonly #metrics: MetricsOptions;
  readonly #conditions: Map<string, Condition>;
  readonly #nowMs: number;

  constructor(context: Context, history: ScalingHistory, events: LastEvents, metrics: MetricsOptions) {
    this.#context = context;
    this.#history = history;
    this.#events = events;
    this.#metrics = metrics;
    this.#conditions = new Map(
      (context.object.status.conditions ?? []).map((condition) => [condition.type, condition]),
    );
    this.#nowMs = context.clock.now();
  }

  async run(): Promise<void> {
    const { object: autoscaler, client } = this.#context;
    const { scaleTargetRef, minReplicas: min = 1, maxReplicas: max } = autoscaler.spec;
    const key = { namespace: autoscaler.metadata.namespace, name: scaleTargetRef.name };
    let kind: KindRef;
    let scale: Scale;
    try {
      const { group } = parseApiVersion(scaleTargetRef.apiVersion ?? 'v1');
      kind = await client.mapper.kindForGvk({ group, kind: scaleTargetRef.kind });
      scale = await client.subresource('scale').get<Scale>(kind, key);
    } catch (error) {
      if (!isNotFound(error) && !isNoMatch(error)) throw error;
      const why = isApiError(error) ? (error.status.message ?? '') : describeError(error);
      const message = `the HPA controller was unable to get the target's current scale: ${why}`;
      this.#set('AbleToScale', 'False', 'FailedGetScale', message);
      this.#warn('FailedGetScale', why);
      return this.#write(autoscaler.status);
    }
    const got = "the HPA controller was able to get the target's current scale";
    this.#set('AbleToScale', 'True', 'SucceededGetScale', got);
    const current = scale.spec?.replicas ?? 0;
    this.#history.begin(current, this.#nowMs);
    if (current === 0 && min !== 0) {
      const message = 'scaling is disabled since the replica count of the target is zero';
      this.#set('ScalingActive', 'False', 'ScalingDisabled', message);
      return this.#write({ currentReplicas: 0, desiredReplicas: 0 });
    }
    if (current > max) return this.#rescale(kind, scale, max, 'Current number of replicas above Spec.MaxReplicas');
    if (current < min) return this.#rescale(kind, scale, min, 'Current number of replicas below Spec.MinReplicas');
    const best = await this.#propose(scale);
    const { currentMetrics } = best;
    if (best.proposal === undefined) {
      const { desiredReplicas = 0 } = autoscaler.status;
      return this.#write({ currentReplicas: current, desiredReplicas, currentMetrics });
    }
    const { replicas: asked, name } = best.proposal;
    const decided = this.#decide(current, asked, min, max);
    const why = asked > current ? `${name} above target` : 'All metrics below target';
    if (decided !== current) return this.#rescale(kind, scale, decided, why, currentMetrics);
    this.#events.forget(this.#context.key);
    return this.#write({ currentReplicas: current, desiredReplicas: current, currentMetrics });
  }

  /** The metric that asks for the most replicas. */
  async #propose(scale: Scale) {
    const { object: autoscaler, client, clock } = this.#context;
    const { metrics: specs = [], behavior } = autoscaler.spec;
    const { items } = await client.list(Pod, { namespace: autoscaler.metadata.namespace });
    const selector = parseSelector(scale.status?.selector ?? '');
    const parts = {
      autoscaler,
      pods: items.filter(({ metadata }) => selector.matches(metadata.labels ?? {})),
      specReplicas: scale.spec?.replicas ?? 0,
      statusReplicas: scale.status?.replicas ?? 0,
      metricsOf: (pod: Pod) => this.#metrics.metrics?.(pod) ?? annotatedMetrics(pod),
      tolerance: {
        up: Number(behavior?.scaleUp?.tolerance ?? tolerated),
        down: Number(behavior?.scaleDown?.tolerance ?? tolerated),
      },
      clock,
    };
    const proposals: Proposal[] = [];
    const errors: MetricError[] = [];
    for (const spec of specs) {
      try {
        proposals.push(proposalOf(spec, parts));
      } catch (error) {
        if (!(error instanceof MetricError)) throw error;
        errors.push(error);
      }
    }
    const [first] = errors;
    const proposal = proposals.reduce<Proposal | undefined>(
      (best, one) => (best === undefined || one.replicas > best.replicas ? one : best),
      undefined,
    );
    const currentMetrics = proposals.map(({ status }) => status);
    // With a metric that says nothing, there may be more, but not fewer.
    if (first !== undefined && (proposal === undefined || proposal.replicas < parts.specReplicas)) {
      const message = `the HPA was unable to compute the replica count: ${first.message}`;
      this.#set('ScalingActive', 'False', first.reason, message);
      const counted = `invalid metrics (${errors.length} invalid out of ${specs.length}), first error is`;
      this.#warn(first.reason, first.message);
      this.#warn('FailedComputeMetricsReplicas', `${counted}: ${first.message}`);
      return { proposal: undefined, currentMetrics };
    }
    const message = `the HPA was able to successfully calculate a replica count from ${proposal?.name}`;
    this.#set('ScalingActive', 'True', 'ValidMetricFound', message);
    return { proposal, currentMetrics };
  }

  #decide(current: number, asked: number, min: number, max: number): number {
    const { behavior } = this.#context.object.spec;
    const about = { current, min, max, behavior, nowMs: this.#nowMs };
    const stable = this.#history.stabilize({ ...about, desired: asked });
    this.#set('AbleToScale', 'True', stable.reason, stable.message);
    const { replicas, reason, message } = this.#history.limit({ ...about, desired: stable.replicas });
    this.#set('ScalingLimited', replicas === stable.replicas ? 'False' : 'True', reason, message);
    return replicas;
  }

  async #rescale(
    kind: KindRef,
    scale: Scale,
    replicas: number,
    why: string,
    currentMetrics?: HorizontalPodAutoscaler['status']['currentMetrics'],
  ): Promise<void> {
    const { object: autoscaler, client, event } = this.#context;
    const current = scale.spec?.replicas ?? 0;
    const key = { namespace: autoscaler.metadata.namespace, name: autoscaler.spec.scaleTargetRef.name };
    await client.subresource('scale').replace(kind, key, { ...scale, spec: { ...scale.spec, replicas } });
    const message = `the HPA controller was able to update the target scale to ${replicas}`;
    this.#set('AbleToScale', 'True', 'SucceededRescale', message);
    event({ type: 'Normal', reason: 'SuccessfulRescale', message: `New size: ${replicas}; reason: ${why}` });
    this.#events.forget(this.#context.key);
    this.#history.note(replicas - current, this.#nowMs);
    const lastScaleTime = formatTime(this.#nowMs);
    await this.#write({ currentReplicas: current, desiredReplicas: replicas, currentMetrics, lastScaleTime });
  }

  #warn(reason: string, message: string): void {
    this.#events.emit(this.#context, { type: 'Warning', reason, message });
  }

  #set(type: string, status: 'True' | 'False', reason: string, message: string): void {
    const before = this.#conditions.get(type);
    const now = formatTime(this.#nowMs);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
    this.#conditions.set(type, { type, status, reason, message, ...(lastTransitionTime && { lastTransitionTime }) });
  }

  async #write({
    currentReplicas = 0,
    desiredReplicas,
    currentMetrics,
    lastScaleTime = this.#context.object.status.lastScaleTime,
  }: {
    readonly [K in keyof HorizontalPodAutoscaler['status']]?: HorizontalPodAutoscaler['status'][K] | undefined;
  }): Promise<void> {
    const { object: autoscaler, client } = this.#context;
    const { metadata, status: before } = autoscaler;
    const said = {
      ...{ currentReplicas, desiredReplicas: desiredReplicas ?? 0, conditions: [...this.#conditions.values()] },
      ...(currentMetrics && { currentMetrics }),
      ...(lastScaleTime && { lastScaleTime }),
    };
    const isStale = currentMetrics === undefined && before.currentMetrics !== undefined;
    if (!isStale && says(before, said)) return;
    const status = isStale ? { ...said, currentMetrics: null } : said;
    await client.status.patch(HorizontalPodAutoscaler, metadata, { type: 'merge', body: { status } });
  }
}
