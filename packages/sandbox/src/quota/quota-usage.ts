import type { PersistentVolumeClaim, Pod, ResourceQuota, Service } from 'riata/kinds';
import { parseQuantity, Quantity, selectorFrom } from 'riata/object';
import type { Clock } from 'riata/runtime';
import { type Amounts, podResources } from '../node/pod-resources.js';
import { hasEnded } from '../workloads/pods.js';

/** One condition of a quota's scope. */
export interface Scope {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

const one = Quantity.of(1);
const computed = ['cpu', 'memory', 'ephemeral-storage'];
const ofPods: ReadonlySet<string> = new Set([
  ...['count/pods', 'pods', ...computed],
  ...computed.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
]);
const ofServices: ReadonlySet<string> = new Set([
  'count/services',
  'services',
  'services.nodeports',
  'services.loadbalancers',
]);
const ofClaims = ['persistentvolumeclaims', 'requests.storage'];
const classInfix = '.storageclass.storage.k8s.io/';
/** Core resources that quotas name without `count/`, too. */
const plainCounts: ReadonlySet<string> = new Set(['configmaps', 'secrets', 'replicationcontrollers', 'resourcequotas']);

/** The resource whose objects count towards a quota of this name; undefined for an unknown name. */
export function countedResource(name: string): string | undefined {
  if (ofPods.has(name) || /^(requests\.)?hugepages-/.test(name)) return 'pods';
  if (ofServices.has(name)) return 'services';
  if (name === 'count/persistentvolumeclaims' || ofClaims.includes(name)) return 'persistentvolumeclaims';
  if (ofClaims.some((own) => name.endsWith(`${classInfix}${own}`))) return 'persistentvolumeclaims';
  if (plainCounts.has(name)) return name;
  if (name.startsWith('count/')) return name.slice('count/'.length);
  return name.startsWith('requests.') && isExtended(name.slice('requests.'.length)) ? 'pods' : undefined;
}

function isExtended(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/');
}

/** All conditions of a quota's scope: an object counts if all of them hold. */
export function scopesOf({ spec }: ResourceQuota): readonly Scope[] {
  const named = (spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' }));
  return [...named, ...(spec?.scopeSelector?.matchExpressions ?? [])];
}

/** The usage of a Pod. One that has ended, or should be gone by now, only counts as an object. */
export function podUsage(pod: Pod, clock: Clock): Amounts {
  const usage = new Map([['count/pods', one]]);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  const goneAt = Date.parse(deletionTimestamp ?? '') + deletionGracePeriodSeconds * 1000;
  if (hasEnded(pod) || clock.now() > goneAt) return usage;
  usage.set('pods', one);
  for (const [name, amount] of podResources(pod, 'requests')) {
    if (computed.includes(name) || name.startsWith('hugepages-')) usage.set(name, amount);
    else if (!isExtended(name)) continue;
    usage.set(`requests.${name}`, amount);
  }
  for (const [name, amount] of podResources(pod, 'limits')) {
    if (computed.includes(name)) usage.set(`limits.${name}`, amount);
  }
  return usage;
}

/** The usage of a Service. */
export function serviceUsage({ spec }: Service): Amounts {
  const ports = spec.ports ?? [];
  const isBalanced = spec.type === 'LoadBalancer';
  const isExplicit = isBalanced && spec.allocateLoadBalancerNodePorts === false;
  const open = isExplicit ? ports.filter(({ nodePort }) => nodePort) : ports;
  const nodePorts = isBalanced || spec.type === 'NodePort' ? open.length : 0;
  return new Map([
    ['count/services', one],
    ['services', one],
    ['services.nodeports', Quantity.of(nodePorts)],
    ['services.loadbalancers', Quantity.of(isBalanced ? 1 : 0)],
  ]);
}

/** The usage of a claim, in total and of its storage class. */
export function claimUsage({ metadata, spec, status }: PersistentVolumeClaim): Amounts {
  const asked = parseQuantity(spec?.resources?.requests?.storage ?? 0);
  const allocated = parseQuantity(status?.allocatedResources?.storage ?? 0);
  const storage = (allocated.compare(asked) > 0 ? allocated : asked).roundUp(0);
  const className = metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName ?? '';
  const usage = new Map([
    ['count/persistentvolumeclaims', one],
    ['persistentvolumeclaims', one],
    ['requests.storage', storage],
  ]);
  if (className === '') return usage;
  usage.set(`${className}${classInfix}persistentvolumeclaims`, one);
  usage.set(`${className}${classInfix}requests.storage`, storage);
  return usage;
}

/** Whether a Pod is in a scope. */
export function isPodInScope(pod: Pod, scope: Scope): boolean {
  const { activeDeadlineSeconds, priorityClassName = '' } = pod.spec;
  const isTerminating = activeDeadlineSeconds !== undefined;
  switch (scope.scopeName) {
    case 'Terminating':
      return isTerminating;
    case 'NotTerminating':
      return !isTerminating;
    case 'BestEffort':
      return pod.status.qosClass === 'BestEffort';
    case 'NotBestEffort':
      return pod.status.qosClass !== 'BestEffort';
    case 'PriorityClass':
      return isNamed(priorityClassName === '' ? [] : [priorityClassName], scope);
    case 'CrossNamespacePodAffinity':
      return looksAtOtherNamespaces(pod);
    default:
      return false;
  }
}

/** Whether a claim is in a scope: there is one for claims. */
export function isClaimInScope({ spec, status }: PersistentVolumeClaim, scope: Scope): boolean {
  if (scope.scopeName !== 'VolumeAttributesClass') return false;
  const { currentVolumeAttributesClassName, modifyVolumeStatus } = status ?? {};
  const names = [
    spec?.volumeAttributesClassName,
    currentVolumeAttributesClassName,
    modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return isNamed(names.filter((name) => name !== undefined && name !== '') as string[], scope);
}

function isNamed(names: readonly string[], { scopeName: key, operator, values = [] }: Scope): boolean {
  if (operator === 'Exists') return names.length > 0;
  const selector = selectorFrom({ matchExpressions: [{ key, operator: operator as 'In', values }] });
  return names.length === 0 ? selector.matches({}) : names.some((name) => selector.matches({ [key]: name }));
}

function looksAtOtherNamespaces({ spec: { affinity } }: Pod): boolean {
  const terms = [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((one) => [
    ...(one?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(one?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
  return terms.some((term) => (term.namespaces ?? []).length > 0 || term.namespaceSelector !== undefined);
}
