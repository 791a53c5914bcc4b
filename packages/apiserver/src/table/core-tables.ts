import type {
  ComponentStatus,
  ConfigMap,
  Lease,
  Namespace,
  Node,
  PriorityClass,
  ResourceQuota,
  RuntimeClass,
  Secret,
  ServiceAccount,
} from 'riata/kinds';
import { none, orNone, unknown } from './cell-texts.js';
import { ageColumn, booleans, integers, nameColumn, printer, texts, wide } from './table-printer.js';

const configMaps = printer<ConfigMap>(
  [nameColumn, ...texts('Data'), ageColumn],
  ({ metadata, data, binaryData }, ages) => [
    metadata.name,
    Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
    ages.since(metadata.creationTimestamp),
  ],
);

const secrets = printer<Secret>([nameColumn, ...texts('Type', 'Data'), ageColumn], ({ metadata, type, data }, ages) => [
  metadata.name,
  type ?? '',
  Object.keys(data ?? {}).length,
  ages.since(metadata.creationTimestamp),
]);

const serviceAccounts = printer<ServiceAccount>([nameColumn, ageColumn], ({ metadata }, ages) => [
  metadata.name,
  ages.since(metadata.creationTimestamp),
]);

const namespaces = printer<Namespace>([nameColumn, ...texts('Status'), ageColumn], ({ metadata, status }, ages) => [
  metadata.name,
  status?.phase ?? '',
  ages.since(metadata.creationTimestamp),
]);

const nodes = printer<Node>(
  [
    nameColumn,
    ...texts('Status', 'Roles'),
    ageColumn,
    ...texts('Version'),
    ...wide('Internal-IP', 'External-IP', 'OS-Image', 'Kernel-Version', 'Container-Runtime'),
  ],
  (node, ages) => {
    const { metadata, status } = node;
    const {
      kubeletVersion = '',
      osImage,
      kernelVersion,
      containerRuntimeVersion,
      architecture,
    } = status?.nodeInfo ?? {};
    const address = (type: string) => status?.addresses?.find((a) => a.type === type)?.address ?? none;
    return [
      metadata.name,
      nodeStatus(node),
      orNone(rolesOf(metadata.labels ?? {}).join(',')),
      ages.since(metadata.creationTimestamp),
      kubeletVersion,
      address('InternalIP'),
      address('ExternalIP'),
      osImage || unknown,
      `${kernelVersion || unknown}${architecture ? ` (${architecture})` : ''}`,
      containerRuntimeVersion || unknown,
    ];
  },
);

function nodeStatus({ spec, status }: Node): string {
  // The last of several conditions of a type counts.
  const ready = status?.conditions?.filter(({ type }) => type === 'Ready').at(-1);
  const word = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec?.unschedulable ? `${word},SchedulingDisabled` : word;
}

const rolePrefix = 'node-role.kubernetes.io/';

function rolesOf(labels: Readonly<Record<string, string>>): string[] {
  const found = Object.entries(labels).map(([name, value]) => {
    if (name.startsWith(rolePrefix)) return name.slice(rolePrefix.length);
    return name === 'kubernetes.io/role' ? value : '';
  });
  return [...new Set(found.filter((role) => role !== ''))].sort();
}

const componentStatuses = printer<ComponentStatus>(
  [nameColumn, ...texts('Status', 'Message', 'Error')],
  ({ metadata, conditions }) => {
    const healthy = conditions?.find(({ type }) => type === 'Healthy');
    const word = healthy === undefined ? 'Unknown' : healthy.status === 'True' ? 'Healthy' : 'Unhealthy';
    return [metadata.name, word, healthy?.message ?? '', healthy?.error ?? ''];
  },
);

const resourceQuotas = printer<ResourceQuota>(
  [nameColumn, ...texts('Request', 'Limit'), ageColumn],
  ({ metadata, status }, ages) => {
    const { hard = {}, used = {} } = status ?? {};
    const names = Object.keys(hard).sort();
    const text = (limits: boolean) =>
      names
        .filter((name) => name.startsWith('limits.') === limits)
        .map((name) => `${name}: ${used[name] ?? '0'}/${hard[name] ?? '0'}`)
        .join(', ');
    return [metadata.name, text(false), text(true), ages.since(metadata.creationTimestamp)];
  },
);

const leases = printer<Lease>([nameColumn, ...texts('Holder'), ageColumn], ({ metadata, spec }, ages) => [
  metadata.name,
  spec?.holderIdentity ?? '',
  ages.since(metadata.creationTimestamp),
]);

const priorityClasses = printer<PriorityClass>(
  [nameColumn, ...integers('Value'), ...booleans('Global-Default'), ageColumn, ...texts('PreemptionPolicy')],
  ({ metadata, value, globalDefault, preemptionPolicy }, ages) => [
    metadata.name,
    value ?? 0,
    globalDefault ?? false,
    ages.since(metadata.creationTimestamp),
    preemptionPolicy ?? '',
  ],
);

const runtimeClasses = printer<RuntimeClass>(
  [nameColumn, ...texts('Handler'), ageColumn],
  ({ metadata, handler }, ages) => [metadata.name, handler, ages.since(metadata.creationTimestamp)],
);

/** Tables of core kinds, by where the kind is stored. */
export const coreTables = {
  '/configmaps': configMaps,
  '/secrets': secrets,
  '/serviceaccounts': serviceAccounts,
  '/namespaces': namespaces,
  '/nodes': nodes,
  '/componentstatuses': componentStatuses,
  '/resourcequotas': resourceQuotas,
  'coordination.k8s.io/leases': leases,
  'scheduling.k8s.io/priorityclasses': priorityClasses,
  'node.k8s.io/runtimeclasses': runtimeClasses,
};
