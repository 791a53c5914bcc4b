import { isJsonObject, type JsonObject } from 'riata/object';
import { metaOf, textOf } from '../resource/metadata.js';
import { forbiddenWrite, tooManyRequests } from '../status/refusal.js';

/** How many evictions may wait until the budget's controller has seen them. */
const maxWaiting = 2000;

const refused = "Cannot evict pod as it would violate the pod's disruption budget.";

/** The budget after one more disruption, of this Pod. Throws 429 if it allows none. */
export function takeDisruption(budget: JsonObject, pod: string, now: string): JsonObject {
  const status = isJsonObject(budget.status) ? budget.status : {};
  const { name, generation } = metaOf(budget);
  const named = textOf(name);
  const cause = (message: string) => [{ reason: 'DisruptionBudget', message }];
  if (Number(status.observedGeneration ?? 0) < Number(generation ?? 0)) {
    throw tooManyRequests(refused, 10, cause(`The disruption budget ${named} is still being processed by the server.`));
  }
  const kind = { group: 'policy', plural: 'poddisruptionbudget', kind: 'PodDisruptionBudget' };
  const allowed = Number(status.disruptionsAllowed ?? 0);
  const waiting = isJsonObject(status.disruptedPods) ? status.disruptedPods : {};
  if (allowed < 0) throw forbiddenWrite(kind, named, 'pdb disruptions allowed is negative');
  if (Object.keys(waiting).length > maxWaiting) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbiddenWrite(kind, named, why);
  }
  if (allowed === 0) throw tooManyRequests(refused, 0, cause(whyNone(named, status)));
  const left = { ...status, disruptionsAllowed: allowed - 1, disruptedPods: { ...waiting, [pod]: now } };
  return { ...budget, status: allowed > 1 ? left : { ...left, conditions: exhausted(status, now) } };
}

function whyNone(name: string, status: JsonObject): string {
  const condition = allowedCondition(status);
  const [reason, message] = [textOf(condition?.reason), textOf(condition?.message)];
  const says = condition?.status === 'False' && message !== '';
  const [desired, current] = [Number(status.desiredHealthy ?? 0), Number(status.currentHealthy ?? 0)];
  const none = `The disruption budget ${name} does not allow evicting pods currently`;
  if (says && reason === 'SyncFailed') return `${none} because it failed sync: ${message}`;
  if (current <= desired)
    return `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`;
  return says ? `${none} (${reason}): ${message}` : none;
}

function allowedCondition(status: JsonObject): JsonObject | undefined {
  return conditionsOf(status).find((c) => c.type === 'DisruptionAllowed');
}

function conditionsOf(status: JsonObject): JsonObject[] {
  return (Array.isArray(status.conditions) ? status.conditions : []).filter(isJsonObject);
}

/** The conditions once the last disruption is used up. */
function exhausted(status: JsonObject, now: string): JsonObject[] {
  const before = allowedCondition(status);
  const made = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(status.observedGeneration ? { observedGeneration: status.observedGeneration } : {}),
    lastTransitionTime: before?.status === 'False' ? (before.lastTransitionTime ?? now) : now,
    reason: 'InsufficientPods',
    message: '',
  };
  const all = conditionsOf(status);
  return before === undefined ? [...all, made] : all.map((c) => (c === before ? made : c));
}
