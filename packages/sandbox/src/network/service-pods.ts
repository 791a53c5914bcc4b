import { type Client, isDeleting } from 'riata';
import type { MapFunc } from 'riata/controller';
import { Pod, Service } from 'riata/kinds';
import { hasEnded } from '../workloads/pods.js';
import { selects } from '../workloads/selects.js';

/** A port of a Pod that a Service sends to. */
export interface TargetPort {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  readonly appProtocol?: string;
}

/** Pods that a Service sends to at the same ports. */
export interface ServicePods {
  readonly ports: readonly TargetPort[];
  /** With their addresses, in order of their names. */
  readonly pods: readonly (Pod & { readonly status: { readonly podIP: string } })[];
}

/** The label of what belongs to a Service without an address of its own. */
export const headlessLabel = 'service.kubernetes.io/headless';

export function isHeadless({ spec }: Service): boolean {
  return !spec.clusterIP || spec.clusterIP === 'None';
}

/** Whether the controllers keep the addresses of a Service; those without a selector are the user's own. */
export function hasSelector({ spec }: Service): boolean {
  return Object.keys(spec.selector ?? {}).length > 0 && spec.type !== 'ExternalName';
}

function selectsPod({ spec }: Service, pod: Pod): boolean {
  return selects({ matchLabels: spec?.selector ?? {} }, pod);
}

/** Maps a Pod to the Services that select it. */
export const servicesOf: MapFunc<Pod> = async (pod, reader) => {
  const { items } = await reader.list(Service, { namespace: pod.metadata.namespace });
  return items.filter((service) => selectsPod(service, pod)).map(({ metadata }) => metadata);
};

/** The Pods of a Service that have an address, by their ports: one that is given by its name may differ among Pods. */
export async function servicePods(
  client: Client,
  service: Service,
  { terminating }: { readonly terminating: boolean },
): Promise<readonly ServicePods[]> {
  const { items } = await client.list(Pod, { namespace: service.metadata.namespace });
  const groups = new Map<string, { readonly ports: readonly TargetPort[]; readonly pods: Pod[] }>();
  for (const pod of [...items].sort((a, b) => a.metadata.name.localeCompare(b.metadata.name))) {
    const isLost = hasEnded(pod) || !pod.status.podIP || (isDeleting(pod) && !terminating);
    if (isLost || !selectsPod(service, pod)) continue;
    const ports = portsOf(service, pod);
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, pods: [] };
    groups.set(key, group);
    group.pods.push(pod);
  }
  return [...groups.values()] as unknown as ServicePods[];
}

function portsOf({ spec }: Service, pod: Pod): readonly TargetPort[] {
  return (spec.ports ?? []).flatMap(({ name = '', port: own, targetPort = own, protocol = 'TCP', appProtocol }) => {
    const port = typeof targetPort === 'number' ? targetPort : portNamed(targetPort, protocol, pod);
    return port === undefined ? [] : [{ name, port, protocol, ...(appProtocol && { appProtocol }) }];
  });
}

function portNamed(desired: string, by: string, { spec }: Pod): number | undefined {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...spec.containers, ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .find(({ name, protocol = 'TCP' }) => name === desired && protocol === by)?.containerPort;
}

/** How an Endpoint refers to its Pod. */
export function addressOf(service: Service, { metadata: { namespace, name, uid }, spec }: Pod) {
  const isNamed = spec.hostname !== undefined && spec.hostname !== '' && spec.subdomain === service.metadata.name;
  return {
    ...(isNamed && { hostname: spec.hostname }),
    ...(spec.nodeName && { nodeName: spec.nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}
