import type { Node } from 'riata/kinds';

type Taint = NonNullable<Node['spec']['taints']>[number];

const prefix = 'node.kubernetes.io/';
/** The effect of a node's condition on Pods: its type and status, the taint's key, and its effects. */
const rules: readonly (readonly [type: string, status: string, key: string, effects: readonly Taint['effect'][]])[] = [
  ['Ready', 'False', `${prefix}not-ready`, ['NoSchedule', 'NoExecute']],
  ['Ready', 'Unknown', `${prefix}unreachable`, ['NoSchedule', 'NoExecute']],
  ['MemoryPressure', 'True', `${prefix}memory-pressure`, ['NoSchedule']],
  ['DiskPressure', 'True', `${prefix}disk-pressure`, ['NoSchedule']],
  ['PIDPressure', 'True', `${prefix}pid-pressure`, ['NoSchedule']],
  ['NetworkUnavailable', 'True', `${prefix}network-unavailable`, ['NoSchedule']],
];
const unschedulable = `${prefix}unschedulable`;
const own: ReadonlySet<string> = new Set([...rules.map(([, , key]) => key), unschedulable]);

/**
 * The taints of a node as its conditions and `spec.unschedulable` require them (`node-lifecycle-controller`); others are
 * kept. The same list if nothing changes.
 */
export function withConditionTaints({ spec, status }: Pick<Node, 'spec' | 'status'>): readonly Taint[] | undefined {
  const required = rules.flatMap(([type, is, key, effects]) =>
    status.conditions?.some((condition) => condition.type === type && condition.status === is)
      ? effects.map((effect): Taint => ({ key, effect }))
      : [],
  );
  if (spec.unschedulable === true) required.push({ key: unschedulable, effect: 'NoSchedule' });
  const { taints } = spec;
  const same = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect;
  const kept = (taints ?? []).filter((taint) => !own.has(taint.key) || required.some((one) => same(one, taint)));
  const missing = required.filter((taint) => !kept.some((one) => same(one, taint)));
  return missing.length === 0 && kept.length === (taints?.length ?? 0) ? taints : [...kept, ...missing];
}
