import { type JsonObject, parseTime, Quantity } from 'riata/object';
import { containerTotals } from '../../../kinds/pods/pod-totals.js';
import { qosClass } from '../../../kinds/pods/qos-class.js';
import { isGiven, metaOf, numberOf, recordOf, recordsOf, stringsOf, textOf } from '../../../resource/metadata.js';
import { type Amounts, addTo, amountsOf } from './amounts.js';
import type { QuotaEvaluator } from './quota-evaluator.js';
import { isNameInScope, type QuotaScope } from './quota-scope.js';

const one = Quantity.of(1);
const computed = ['cpu', 'memory', 'ephemeral-storage'];
const named: ReadonlySet<string> = new Set([
  ...['count/pods', 'pods', ...computed],
  ...computed.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
]);
const required: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);
const deviceClasses = 'deviceclass.resource.kubernetes.io/';

/** The usage of Pods. */
export const podQuota: QuotaEvaluator = {
  covers: (name) => named.has(name) || /^(requests\.)?hugepages-/.test(name) || isExtendedRequest(name),
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === 'resize') return operation === 'UPDATE';
    if (subresource !== '') return false;
    if (operation === 'UPDATE') return oldObject !== undefined && isTerminating(oldObject) !== isTerminating(object);
    return operation === 'CREATE';
  },
  isInScope,
  usage: podUsage,
  missing: missingResources,
};

function isExtendedRequest(name: string): boolean {
  return name.startsWith('requests.') && isExtended(name.slice('requests.'.length));
}

function isExtended(name: string): boolean {
  return (name.includes('/') && !name.includes('kubernetes.io/')) || name.startsWith(deviceClasses);
}

/** The usage of a Pod. A terminated Pod, or one past its deletion deadline, only counts as an object. */
function podUsage(pod: JsonObject, nowMs: number): Amounts {
  const usage = new Map([['count/pods', one]]);
  if (!usesResources(pod, nowMs)) return usage;
  usage.set('pods', one);
  addTo(usage, computeUsage(podResources(pod, 'requests'), podResources(pod, 'limits')));
  return usage;
}

function usesResources(pod: JsonObject, nowMs: number): boolean {
  const phase = textOf(recordOf(pod.status).phase);
  if (phase === 'Failed' || phase === 'Succeeded') return false;
  const goneAt = podGoneAt(pod);
  return goneAt === undefined || nowMs <= goneAt;
}

/** The deletion deadline, at which a Pod stops counting; undefined for Pods that are not being deleted. */
export function podGoneAt(pod: JsonObject): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metaOf(pod);
  if (!isGiven(deletionTimestamp) || !isGiven(deletionGracePeriodSeconds)) return undefined;
  return parseTime(textOf(deletionTimestamp)) + numberOf(deletionGracePeriodSeconds) * 1000;
}

function computeUsage(requests: Amounts, limits: Amounts): Map<string, Quantity> {
  const usage = new Map<string, Quantity>();
  for (const [name, amount] of requests) {
    if (computed.includes(name) || name.startsWith('hugepages-')) usage.set(name, amount);
    else if (!isExtended(name)) continue;
    usage.set(`requests.${name}`, amount);
  }
  for (const [name, amount] of limits) if (computed.includes(name)) usage.set(`limits.${name}`, amount);
  return usage;
}

/** The total requests or limits of a Pod (`PodRequests`, `PodLimits`). */
export function podResources(pod: JsonObject, list: 'requests' | 'limits'): Amounts {
  const spec = recordOf(pod.spec);
  const total = new Map(containerTotals(withStatusResources(pod, list), list));
  for (const [name, amount] of amountsOf(recordOf(spec.resources)[list])) {
    if (isPodLevel(name)) total.set(name, amount);
  }
  for (const [name, amount] of amountsOf(spec.overhead)) {
    // A Pod without a limit stays without one.
    if (list === 'requests' || total.has(name)) addTo(total, new Map([[name, amount]]));
  }
  return total;
}

function isPodLevel(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/** The spec with the actual resources of containers, where they exceed the requested ones during a resize. */
function withStatusResources(pod: JsonObject, list: 'requests' | 'limits'): JsonObject {
  const [spec, status] = [recordOf(pod.spec), recordOf(pod.status)];
  const known = [...recordsOf(status.containerStatuses), ...recordsOf(status.initContainerStatuses)];
  if (!known.some(({ resources }) => isGiven(resources))) return spec;
  const pending = recordsOf(status.conditions).find(({ type }) => type === 'PodResizePending');
  const effective = (container: JsonObject): JsonObject => {
    const found = known.find(({ name }) => name === container.name);
    if (found === undefined || !isGiven(found.resources)) return container;
    const asked = recordOf(container.resources);
    const amounts = amountsOf(pending?.reason === 'Infeasible' ? undefined : asked[list]);
    const allocated = list === 'requests' ? [found.allocatedResources] : [];
    for (const more of [recordOf(found.resources)[list], ...allocated]) {
      for (const [name, amount] of amountsOf(more)) {
        if ((amounts.get(name)?.compare(amount) ?? -1) < 0) amounts.set(name, amount);
      }
    }
    const texts = Object.fromEntries([...amounts].map(([name, amount]) => [name, amount.toString()]));
    return { ...container, resources: { ...asked, [list]: texts } };
  };
  return {
    ...spec,
    containers: recordsOf(spec.containers).map(effective),
    initContainers: recordsOf(spec.initContainers).map((one) =>
      one.restartPolicy === 'Always' ? effective(one) : one,
    ),
  };
}

/** A quota of cpu or memory requires each container to specify it. */
function missingResources(names: readonly string[], pod: JsonObject): string | undefined {
  const { containers, initContainers, resources } = recordOf(pod.spec);
  const whole = recordOf(resources);
  if ([whole.requests, whole.limits].some((list) => Object.keys(recordOf(list)).some(isPodLevel))) return undefined;
  const desired = names.filter((name) => required.has(name)).sort();
  const parts = desired.flatMap((name) => {
    const without = [...recordsOf(containers), ...recordsOf(initContainers)].filter((container) => {
      const { requests, limits } = recordOf(container.resources);
      return !computeUsage(amountsOf(requests), amountsOf(limits)).has(name);
    });
    const called = [...new Set(without.map((container) => textOf(container.name)))].sort();
    return called.length === 0 ? [] : [`${name} for: ${called.join(',')}`];
  });
  return parts.length === 0 ? undefined : `must specify ${parts.join('; ')}`;
}

function isTerminating(pod: JsonObject): boolean {
  const { activeDeadlineSeconds } = recordOf(pod.spec);
  return isGiven(activeDeadlineSeconds) && Number(activeDeadlineSeconds) >= 0;
}

function isInScope(pod: JsonObject, scope: QuotaScope): boolean {
  switch (scope.scopeName) {
    case 'Terminating':
      return isTerminating(pod);
    case 'NotTerminating':
      return !isTerminating(pod);
    case 'BestEffort':
      return isBestEffort(pod);
    case 'NotBestEffort':
      return !isBestEffort(pod);
    case 'PriorityClass': {
      const name = textOf(recordOf(pod.spec).priorityClassName);
      return isNameInScope(name === '' ? [] : [name], scope);
    }
    case 'CrossNamespacePodAffinity':
      return selectsOtherNamespaces(pod);
    default:
      return false;
  }
}

function isBestEffort(pod: JsonObject): boolean {
  return (textOf(recordOf(pod.status).qosClass) || qosClass(pod)) === 'BestEffort';
}

function selectsOtherNamespaces(pod: JsonObject): boolean {
  const { podAffinity, podAntiAffinity } = recordOf(recordOf(pod.spec).affinity);
  const terms = [podAffinity, podAntiAffinity]
    .map(recordOf)
    .flatMap((affinity) => [
      ...recordsOf(affinity.requiredDuringSchedulingIgnoredDuringExecution),
      ...recordsOf(affinity.preferredDuringSchedulingIgnoredDuringExecution).map((weighted) =>
        recordOf(weighted.podAffinityTerm),
      ),
    ]);
  return terms.some((term) => stringsOf(term.namespaces).length > 0 || isGiven(term.namespaceSelector));
}
