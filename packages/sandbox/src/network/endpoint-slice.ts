import { control, ignoreNotFound, isControlledBy, isDeleting, type ReconcileContext } from 'riata';
import { EndpointSlice, Pod, Service } from 'riata/kinds';
import { templateHash } from '../workloads/deployment/template-hash.js';
import { isReady } from '../workloads/pods.js';
import {
  addressOf,
  hasSelector,
  headlessLabel,
  isHeadless,
  type ServicePods,
  servicePods,
  servicesOf,
} from './service-pods.js';

const managedBy = 'endpointslice-controller.k8s.io';
/** The most endpoints in one slice. */
const sliceSize = 100;

/** Keeps EndpointSlices of the Pods that a Service selects. */
export const endpointSlices = control(Service, { name: 'endpoint-slice-controller' })
  .owns(EndpointSlice)
  .watches(Pod, servicesOf)
  .reconcile(async (context) => {
    const { object: service, client } = context;
    const groups = hasSelector(service) ? await servicePods(client, service, { terminating: true }) : [];
    const desired = groups.flatMap(inSlices);
    // An empty slice says that there are no endpoints, which is more than no slice.
    if (hasSelector(service) && desired.length === 0) desired.push({ ports: [], pods: [] });
    const names = new Set<string>();
    for (const [index, part] of desired.entries()) names.add(await applySlice(context, part, index));
    const { items } = await client.list(EndpointSlice, { namespace: service.metadata.namespace });
    for (const slice of items) {
      if (isControlledBy(slice, service) && !names.has(slice.metadata.name)) {
        await client.delete(EndpointSlice, slice.metadata).catch(ignoreNotFound);
      }
    }
  });

/** The Pods of one slice each. */
export function inSlices({ ports, pods }: ServicePods): ServicePods[] {
  const parts: ServicePods[] = [];
  for (let from = 0; from < pods.length; from += sliceSize) {
    parts.push({ ports, pods: pods.slice(from, from + sliceSize) });
  }
  return parts;
}

async function applySlice(
  { object: service, apply }: ReconcileContext<Service>,
  { ports, pods }: ServicePods,
  index: number,
): Promise<string> {
  const { namespace, name, labels } = service.metadata;
  const sliceName = `${name}-${templateHash(ports, index).slice(0, 5)}`;
  const endpoints = pods.map((pod) => {
    const conditions = {
      ready: service.spec.publishNotReadyAddresses === true || (isReady(pod) && !isDeleting(pod)),
      serving: isReady(pod),
      terminating: isDeleting(pod),
    };
    return { addresses: [pod.status.podIP], conditions, ...addressOf(service, pod) };
  });
  const metadata = {
    namespace,
    name: sliceName,
    labels: {
      ...labels,
      ...(isHeadless(service) && { [headlessLabel]: '' }),
      'kubernetes.io/service-name': name,
      'endpointslice.kubernetes.io/managed-by': managedBy,
    },
  };
  await apply(EndpointSlice({ metadata, addressType: 'IPv4', endpoints, ports }));
  return sliceName;
}
