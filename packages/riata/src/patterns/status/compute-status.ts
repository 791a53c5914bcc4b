import { parseApiVersion } from '../../object/gvk.js';
import type { TypeMeta } from '../../object/meta.js';
import { numberAt, textAt } from '../../object/value/value-at.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Clock } from '../../runtime/time/clock.js';
import { systemClock } from '../../runtime/time/system-clock.js';
import { type AnyCondition, conditionsOf } from '../summary/conditions-of.js';
import { type ObjectStatusResult, statusRules } from './status-rules.js';

/** How {@link computeStatus} judges. */
export interface ComputeStatusOptions {
  /** An unschedulable Pod has failed only after 15 s. @default systemClock */
  readonly clock?: Clock;
}

export const computeStatusOptionNames = optionNames<ComputeStatusOptions>({ clock: true });

/**
 * How far an object of any kind is, by kstatus' rules (`kstatus.Compute`): deletion first, then a generation that was not
 * looked at yet, then the conditions `Reconciling` and `Stalled`, then what is known of the kind, and for all others the
 * condition `Ready`. An object that says nothing of itself is `Current`.
 */
export function computeStatus(object: TypeMeta, options: ComputeStatusOptions = {}): ObjectStatusResult {
  refuseUnknownOptions('computeStatus', options, computeStatusOptionNames);
  const { clock = systemClock } = options;
  const conditions = conditionsOf(object);
  const { group } = parseApiVersion(object.apiVersion);
  return (
    generally(object, conditions) ??
    statusRules.get(group === '' ? object.kind : `${group}/${object.kind}`)?.(object, conditions, clock) ??
    byReady(conditions)
  );
}

function generally(object: TypeMeta, conditions: readonly AnyCondition[]): ObjectStatusResult | undefined {
  if (textAt(object, 'metadata', 'deletionTimestamp') !== undefined) {
    return { status: 'Terminating', reason: '', message: 'deletion requested' };
  }
  const generation = numberAt(object, 'metadata', 'generation');
  const observed = numberAt(object, 'status', 'observedGeneration');
  if (generation !== undefined && observed !== undefined && generation !== observed) {
    const message = `generation ${generation} is not observed yet, the last one is ${observed}`;
    return { status: 'InProgress', reason: 'LatestGenerationNotObserved', message };
  }
  for (const { type, status, reason, message } of conditions) {
    if (status !== 'True') continue;
    if (type === 'Reconciling') return { status: 'InProgress', reason, message };
    if (type === 'Stalled') return { status: 'Failed', reason, message };
  }
  return undefined;
}

function byReady(conditions: readonly AnyCondition[]): ObjectStatusResult {
  const ready = conditions.find(
    ({ type, status }) => type === 'Ready' && ['True', 'False', 'Unknown'].includes(status),
  );
  if (ready === undefined) return { status: 'Current', reason: '', message: 'the object exists' };
  if (ready.status === 'True') return { status: 'Current', reason: '', message: 'the object is ready' };
  return { status: 'InProgress', reason: ready.reason, message: ready.message };
}
