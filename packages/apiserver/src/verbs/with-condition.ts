import { isJsonObject, type JsonObject } from 'riata/object';
import { valueAt } from '../resource/metadata.js';

/** The new state of a Pod's condition. */
export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly now: string;
}

/** The Pod with a condition; when it last changed is kept where its status stays. */
export function withCondition(pod: JsonObject, { now, ...expected }: PodCondition): JsonObject {
  const list = valueAt(pod, 'status.conditions');
  const conditions = (Array.isArray(list) ? list : []).filter(isJsonObject);
  const before = conditions.find((c) => c.type === expected.type);
  const lastTransitionTime = before?.status === expected.status ? (before.lastTransitionTime ?? now) : now;
  const made = { lastProbeTime: before?.lastProbeTime ?? null, lastTransitionTime, ...expected };
  const all = before === undefined ? [...conditions, made] : conditions.map((c) => (c === before ? made : c));
  return { ...pod, status: { ...(isJsonObject(pod.status) ? pod.status : {}), conditions: all } };
}
