import type { GroupKind } from '../../object/gvk.js';

/**
 * The order of kinds: a phase is done before the next one begins. Kinds that are not named come after those that they
 * may need, and before those that let traffic in or can block other writes.
 */
const phases: readonly (readonly string[])[] = [
  ['Namespace'],
  ['CustomResourceDefinition.apiextensions.k8s.io'],
  [
    ...['ServiceAccount', 'ClusterRole.rbac.authorization.k8s.io', 'Role.rbac.authorization.k8s.io'],
    ...['ClusterRoleBinding.rbac.authorization.k8s.io', 'RoleBinding.rbac.authorization.k8s.io'],
    ...['PriorityClass.scheduling.k8s.io', 'StorageClass.storage.k8s.io', 'RuntimeClass.node.k8s.io'],
    ...['ResourceQuota', 'LimitRange', 'NetworkPolicy.networking.k8s.io', 'IngressClass.networking.k8s.io'],
  ],
  ['Secret', 'ConfigMap', 'PersistentVolume', 'PersistentVolumeClaim', 'PodDisruptionBudget.policy', 'Service'],
  [],
  ['Ingress.networking.k8s.io', 'HorizontalPodAutoscaler.autoscaling', 'APIService.apiregistration.k8s.io'],
  [
    ...['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'ValidatingAdmissionPolicy'].map(
      (kind) => `${kind}.admissionregistration.k8s.io`,
    ),
    ...['ValidatingAdmissionPolicyBinding', 'MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'].map(
      (kind) => `${kind}.admissionregistration.k8s.io`,
    ),
  ],
];

const others = phases.findIndex((kinds) => kinds.length === 0);
const phaseByKind: ReadonlyMap<string, number> = new Map(
  phases.flatMap((kinds, phase) => kinds.map((kind) => [kind, phase] as const)),
);

/** In which phase objects of a kind are applied: namespaces, definitions and rights first. Deletions go backwards. */
export function phaseOf({ group, kind }: GroupKind): number {
  return phaseByKind.get(group === '' ? kind : `${kind}.${group}`) ?? others;
}

/** Parts by phase, those without any left out; within a phase in the order given. */
export function inPhases<T>(items: Iterable<T>, kindOf: (item: T) => GroupKind): T[][] {
  const found = new Map<number, T[]>();
  for (const item of items) {
    const phase = phaseOf(kindOf(item));
    const part = found.get(phase);
    if (part === undefined) found.set(phase, [item]);
    else part.push(item);
  }
  return [...found].sort(([a], [b]) => a - b).map(([, part]) => part);
}
