import type { HorizontalPodAutoscaler } from 'riata/kinds';

type Rules = NonNullable<NonNullable<NonNullable<HorizontalPodAutoscaler['spec']>['behavior']>['scaleUp']>;

/** A decision and its reason, in the words of an autoscaler's conditions. */
export interface Decision {
  readonly replicas: number;
  readonly reason: string;
  readonly message: string;
}

/** The inputs of a decision. */
export interface Scaling {
  readonly current: number;
  readonly desired: number;
  readonly min: number;
  readonly max: number;
  readonly behavior: NonNullable<HorizontalPodAutoscaler['spec']>['behavior'];
  readonly nowMs: number;
}

const downStabilizationSeconds = 300;
const within = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' };
const limits = {
  ScaleUpLimit: 'the desired replica count is increasing faster than the maximum scale rate',
  TooManyReplicas: 'the desired replica count is more than the maximum replica count',
  ScaleDownLimit: 'the desired replica count is decreasing faster than the maximum scale rate',
  TooFewReplicas: 'the desired replica count is less than the minimum replica count',
} as const;

/** Recent recommendations and changes of one autoscaler. */
export class ScalingHistory {
  #recommendations: { readonly replicas: number; readonly atMs: number }[] = [];
  #changes: { readonly by: number; readonly atMs: number }[] = [];

  /** The first recommendation is the number of replicas that an autoscaler finds. */
  begin(replicas: number, atMs: number): void {
    if (this.#recommendations.length === 0) this.#recommendations.push({ replicas, atMs });
  }

  /** Notes that the number of replicas was changed. */
  note(by: number, atMs: number): void {
    const longest = 1800_000;
    this.#changes = [...this.#changes.filter((change) => change.atMs > atMs - longest), { by, atMs }];
  }

  /** The most careful recommendation within the stabilization window; notes this one. */
  stabilize({ current, desired, behavior, nowMs }: Scaling): Decision {
    const isUp = behavior !== undefined && desired >= current;
    const upSeconds = behavior?.scaleUp?.stabilizationWindowSeconds ?? 0;
    const downSeconds = behavior?.scaleDown?.stabilizationWindowSeconds ?? downStabilizationSeconds;
    const from = nowMs - (isUp ? upSeconds : downSeconds) * 1000;
    const recent = this.#recommendations.filter(({ atMs }) => (behavior === undefined ? atMs >= from : atMs > from));
    const all = [desired, ...recent.map(({ replicas }) => replicas)];
    const replicas = isUp ? Math.min(...all) : Math.max(...all);
    const oldest = nowMs - Math.max(upSeconds, downSeconds) * 1000;
    this.#recommendations = this.#recommendations.filter(({ atMs }) => atMs >= oldest);
    this.#recommendations.push({ replicas: desired, atMs: nowMs });
    if (replicas === desired) {
      return { replicas, reason: 'ReadyForNewScale', message: 'recommended size matches current size' };
    }
    const [way, than] = isUp ? ['Up', 'lower'] : ['Down', 'higher'];
    const applied = isUp ? 'lowest' : 'highest';
    const message = `recent recommendations were ${than} than current one, applying the ${applied} recent recommendation`;
    return { replicas, reason: `Scale${way}Stabilized`, message };
  }

  /** As many replicas as minimum, maximum and the policies of the autoscaler allow. */
  limit(scaling: Scaling): Decision {
    const { current, desired, min, max, behavior } = scaling;
    if (behavior === undefined) return clamp(desired, min, max, Math.max(2 * current, 4));
    if (desired > current) {
      const rate = Math.max(current, this.#limitOf(behavior.scaleUp ?? {}, scaling, 1));
      return clamp(desired, 0, max, rate);
    }
    if (desired === current) return { replicas: desired, ...within };
    const rate = Math.min(current, this.#limitOf(behavior.scaleDown ?? {}, scaling, -1));
    const reason = min < rate ? 'ScaleDownLimit' : 'TooFewReplicas';
    const least = Math.max(min, rate);
    return desired < least ? { replicas: least, reason, message: limits[reason] } : { replicas: desired, ...within };
  }

  /** How far the policies of one direction allow to go: up for 1, down for -1. */
  #limitOf({ selectPolicy = 'Max', policies = [] }: Rules, { current, nowMs }: Scaling, sign: 1 | -1): number {
    if (selectPolicy === 'Disabled') return current;
    const proposals = policies.map(({ type, value, periodSeconds }) => {
      const changes = this.#changes.filter(({ by, atMs }) => atMs > nowMs - periodSeconds * 1000 && by * sign > 0);
      const start = current - changes.reduce((sum, { by }) => sum + by, 0);
      if (type === 'Pods') return start + sign * value;
      return sign > 0 ? Math.ceil(start * (1 + value / 100)) : Math.trunc(start * (1 - value / 100));
    });
    const isFarthest = selectPolicy !== 'Min';
    return isFarthest === sign > 0 ? Math.max(0, ...proposals) : Math.min(...proposals);
  }
}

function clamp(desired: number, min: number, max: number, rate: number): Decision {
  if (desired < min) return { replicas: min, reason: 'TooFewReplicas', message: limits.TooFewReplicas };
  const reason = max > rate ? 'ScaleUpLimit' : 'TooManyReplicas';
  const most = Math.min(max, rate);
  return desired > most ? { replicas: most, reason, message: limits[reason] } : { replicas: desired, ...within };
}
