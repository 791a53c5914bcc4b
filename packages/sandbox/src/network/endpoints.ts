import { control, ignoreNotFound } from 'riata';
import { Endpoints, Pod, Service } from 'riata/kinds';
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

const managedLabel = 'endpoints.kubernetes.io/managed-by';
const controllerName = 'endpoint-controller';
/** The most addresses in one Endpoints object; EndpointSlices have them all. */
const capacity = 1000;

/** Keeps the Endpoints of the Pods that a Service selects, for clients that don't know of EndpointSlices. */
export const endpoints = control(Service, { name: controllerName })
  .watches(Pod, servicesOf)
  // Endpoints that a user creates are left alone, also if there is no Service yet.
  .watches(Endpoints, ({ metadata }) => (metadata.labels?.[managedLabel] === controllerName ? [metadata] : []))
  .evenWhenGone()
  .reconcile(async ({ object: service, key, client, apply }) => {
    if (service === undefined) {
      const at = { namespace: key.namespace as string, name: key.name };
      if (await client.find(Endpoints, at)) await client.delete(Endpoints, at).catch(ignoreNotFound);
      return;
    }
    if (!hasSelector(service)) return;
    const { namespace, name, labels } = service.metadata;
    const terminating = service.spec.publishNotReadyAddresses === true;
    const { subsets, isTruncated } = subsetsOf(service, await servicePods(client, service, { terminating }));
    const metadata = {
      namespace,
      name,
      labels: { ...labels, ...(isHeadless(service) && { [headlessLabel]: '' }), [managedLabel]: controllerName },
      ...(isTruncated && { annotations: { 'endpoints.kubernetes.io/over-capacity': 'truncated' } }),
    };
    await apply(Endpoints({ metadata, subsets }), { owned: false });
  });

/** The subsets of an Endpoints object: one for each choice of ports. */
export function subsetsOf(service: Service, groups: readonly ServicePods[]) {
  const room = new Room(capacity);
  const isGood = (pod: Pod) => service.spec.publishNotReadyAddresses === true || isReady(pod);
  const subsets = groups
    .filter(({ ports }) => ports.length > 0 || (isHeadless(service) && (service.spec.ports ?? []).length === 0))
    .map(({ ports, pods }) => {
      const address = (pod: (typeof pods)[number]) => ({ ip: pod.status.podIP, ...addressOf(service, pod) });
      const notReadyAddresses = pods.filter((pod) => !isGood(pod)).map(address);
      return { ports, addresses: pods.filter(isGood).map(address), notReadyAddresses };
    })
    .map((subset) => ({ ...subset, addresses: room.take(subset.addresses) }))
    .map((subset) => ({ ...subset, notReadyAddresses: room.take(subset.notReadyAddresses) }));
  return { subsets: subsets.map(withoutEmpty), isTruncated: room.isFull };
}

/** Ready addresses come first; those beyond the limit are left out. */
class Room {
  #left: number;
  isFull = false;

  constructor(left: number) {
    this.#left = left;
  }

  take<T>(addresses: readonly T[]): readonly T[] {
    const taken = addresses.slice(0, this.#left);
    this.#left -= taken.length;
    this.isFull ||= taken.length < addresses.length;
    return taken;
  }
}

/** Servers leave out lists that are empty. */
function withoutEmpty<T extends Readonly<Record<'ports' | 'addresses' | 'notReadyAddresses', readonly unknown[]>>>(
  subset: T,
): Partial<T> {
  return Object.fromEntries(Object.entries(subset).filter(([, list]) => list.length > 0)) as Partial<T>;
}
