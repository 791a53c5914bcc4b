import { equal, type Json, type JsonObject } from 'riata/object';
import { metaOf, numberOf, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import type { KindRules, PrepareContext } from '../kind-rules.js';
import { withAppArmor } from './app-armor.js';
import { checkPodStatus } from './checks/check-pod-status.js';
import { checkNewPod, checkPodChange } from './checks/pod-checks.js';
import { withoutDisabled } from './disabled-fields.js';
import { podDefaults } from './pod-defaults.js';
import { nameWarnings, podWarnings } from './pod-warnings.js';
import { qosClass } from './qos-class.js';
import { withLabelKeys } from './with-label-keys.js';

export const podRules: KindRules = {
  defaults: podDefaults,
  prepare: preparePod,
  validate: (pod, before) => (before === undefined ? checkNewPod(pod) : []),
  validateUpdate: checkPodChange,
  validateStatus: checkPodStatus,
  warnings: (pod, before) =>
    before === undefined ? [...nameWarnings(pod, before, "the Pod's hostname"), ...podWarnings(pod)] : [],
};

function preparePod(pod: JsonObject, before: JsonObject | undefined, context: PrepareContext): JsonObject {
  switch (before === undefined ? '' : context.subresource) {
    case '': {
      const allowed = withoutDisabledSpec(pod);
      return before === undefined
        ? { ...withAppArmor(withDerived(allowed), context.warn), status: firstStatus(allowed, context.now) }
        : allowed;
    }
    case 'status':
      return { ...pod, status: keptStatus(recordOf(pod.status), recordOf(before?.status)) };
    case 'ephemeralcontainers':
      return withSpec(before as JsonObject, pod, withList(before as JsonObject, pod, 'ephemeralContainers'));
    case 'resize':
      return resized(pod, before as JsonObject);
    default:
      return pod;
  }
}

function withoutDisabledSpec(pod: JsonObject): JsonObject {
  const spec = recordOf(pod.spec);
  const made = withoutDisabled(spec);
  return made === spec ? pod : { ...pod, spec: made };
}

/** A new Pod with what follows from the rest of it. */
function withDerived(pod: JsonObject): JsonObject {
  const spec = recordOf(pod.spec);
  const made = withLabelKeys(spec, recordOf(metaOf(pod).labels));
  return made === spec ? pod : { ...pod, spec: made };
}

function firstStatus(pod: JsonObject, now: string): JsonObject {
  const gated = recordsOf(recordOf(pod.spec).schedulingGates).length > 0;
  return {
    phase: 'Pending',
    ...(gated ? { conditions: [{ ...gate, lastTransitionTime: now }] } : {}),
    qosClass: qosClass(pod),
  };
}

const gate: JsonObject = {
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
};

/** The class of a Pod is the server's; generations that were observed are not forgotten. */
function keptStatus(status: JsonObject, before: JsonObject): JsonObject {
  const made: Record<string, Json | undefined> = { ...status };
  if (textOf(status.qosClass) === '' && before.qosClass !== undefined) made.qosClass = before.qosClass;
  if (numberOf(status.observedGeneration) === 0 && before.observedGeneration !== undefined) {
    made.observedGeneration = before.observedGeneration;
  }
  const known = [...recordsOf(before.conditions)];
  if (status.conditions === undefined || known.length === 0) return made;
  made.conditions = recordsOf(status.conditions).map((condition) => {
    const index = known.findIndex(({ type }) => type === condition.type);
    const [old] = index < 0 ? [] : known.splice(index, 1);
    const observed = numberOf(old?.observedGeneration);
    return numberOf(condition.observedGeneration) !== 0 || observed === 0
      ? condition
      : { ...condition, observedGeneration: observed };
  });
  return made;
}

/** The Pod as it was, but for its spec and what of its metadata is not the server's. */
function withSpec(before: JsonObject, sent: JsonObject, spec: JsonObject): JsonObject {
  const { managedFields, resourceVersion } = recordOf(sent.metadata);
  const metadata = { ...recordOf(before.metadata), ...(managedFields === undefined ? {} : { managedFields }) };
  return {
    ...before,
    metadata: resourceVersion === undefined ? metadata : { ...metadata, resourceVersion },
    spec,
  };
}

function withList(before: JsonObject, sent: JsonObject, field: string): JsonObject {
  const { [field]: _, ...spec } = recordOf(before.spec);
  const list = recordOf(sent.spec)[field];
  return list === undefined ? spec : { ...spec, [field]: list };
}

/** Of a resize, only the resources of containers count; other containers than there were are refused later. */
function resized(sent: JsonObject, before: JsonObject): JsonObject {
  const [now, was] = [recordOf(sent.spec), recordOf(before.spec)];
  const names = (spec: JsonObject, field: string) => recordsOf(spec[field]).map((one) => textOf(one.name));
  const lists = ['containers', 'initContainers'];
  if (!lists.every((field) => equal(names(now, field), names(was, field)))) return sent;
  const spec: Record<string, Json | undefined> = { ...was };
  for (const field of lists) {
    if (was[field] === undefined) continue;
    const expected = recordsOf(now[field]);
    spec[field] = recordsOf(was[field]).map((container, index) => sized(container, expected[index] ?? {}));
  }
  return withSpec(before, sent, spec);
}

function sized(container: JsonObject, { resources = {}, resizePolicy }: JsonObject): JsonObject {
  const { resizePolicy: _, ...rest } = container;
  return { ...rest, resources, ...(resizePolicy === undefined ? {} : { resizePolicy }) };
}
