import { control, ignoreNotFound } from 'riata';
import { EndpointSlice, Pod, Service } from 'riata/kinds';
import { hasEnded, isReady } from './pods.js';
import { selects } from './selects.js';

const managedBy = 'endpointslice-controller.k8s.io';

/** Keeps an EndpointSlice of the Pods that a Service selects. */
export const endpointSlices = control(Service, { name: 'endpointslice' })
  .owns(EndpointSlice)
  .watches(Pod, async (pod, reader) => {
    const { items } = await reader.list(Service, { namespace: pod.metadata.namespace });
    return items.filter((service) => selectsPod(service, pod)).map(({ metadata }) => metadata);
  })
  .reconcile(async ({ object: service, client, apply }) => {
    const { namespace, name } = service.metadata;
    if (Object.keys(service.spec.selector ?? {}).length === 0) {
      const slice = { namespace, name: `${name}-sandbox` };
      if (await client.find(EndpointSlice, slice)) await client.delete(EndpointSlice, slice).catch(ignoreNotFound);
      return;
    }
    const { items } = await client.list(Pod, { namespace });
    const pods = items
      .filter((pod) => selectsPod(service, pod) && !hasEnded(pod) && (pod.status.podIP ?? '') !== '')
      .sort((a, b) => a.metadata.name.localeCompare(b.metadata.name));
    const lenient = service.spec.publishNotReadyAddresses === true;
    const endpoints = pods.map((pod) => {
      const isGoing = pod.metadata.deletionTimestamp !== undefined;
      const serving = isReady(pod) || lenient;
      return {
        addresses: [pod.status.podIP as string],
        conditions: { ready: lenient || (serving && !isGoing), serving, terminating: isGoing },
        nodeName: pod.spec.nodeName as string,
        targetRef: { kind: 'Pod', namespace, name: pod.metadata.name, uid: pod.metadata.uid },
      };
    });
    await apply(
      EndpointSlice({
        metadata: {
          namespace,
          name: `${name}-sandbox`,
          labels: { 'kubernetes.io/service-name': name, 'endpointslice.kubernetes.io/managed-by': managedBy },
        },
        addressType: 'IPv4',
        endpoints,
        ports: (service.spec.ports ?? []).map(({ name: port = '', protocol = 'TCP', targetPort, port: own }) => ({
          name: port,
          protocol,
          port: portOf(targetPort ?? own, pods[0]) ?? own,
        })),
      }),
    );
  });

function selectsPod({ spec }: Service, pod: Pod): boolean {
  return selects({ matchLabels: spec?.selector ?? {} }, pod);
}

/** A port by its number, or by the name that a container gives it. */
function portOf(target: number | string, pod: Pod | undefined): number | undefined {
  if (typeof target === 'number') return target;
  return pod?.spec.containers.flatMap(({ ports = [] }) => ports).find(({ name }) => name === target)?.containerPort;
}
