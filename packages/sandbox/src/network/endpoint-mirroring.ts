import { control, ignoreNotFound, isControlledBy, type ReconcileContext } from 'riata';
import {
  type EndpointAddress,
  type EndpointPort,
  EndpointSlice,
  type EndpointSubset,
  Endpoints,
  Service,
} from 'riata/kinds';
import { templateHash } from '../workloads/deployment/template-hash.js';

const managedBy = 'endpointslicemirroring-controller.k8s.io';
/** The most addresses of a subset that are mirrored. */
const subsetSize = 1000;

/** Mirrors the Endpoints that users make for Services without a selector as EndpointSlices, which is what proxies read. */
export const endpointMirroring = control(Endpoints, { name: 'endpoint-slice-mirroring-controller' })
  .owns(EndpointSlice)
  .watches(Service, ({ metadata }) => [metadata])
  .reconcile(async (context) => {
    const { object: endpoints, client } = context;
    const { namespace, name } = endpoints.metadata;
    const service = mayMirror(endpoints) ? await client.find(Service, { namespace, name }) : undefined;
    const isMirrored = service !== undefined && Object.keys(service.spec.selector ?? {}).length === 0;
    const names = isMirrored ? await mirror(context) : new Set<string>();
    const { items } = await client.list(EndpointSlice, { namespace });
    for (const slice of items) {
      if (isControlledBy(slice, endpoints) && !names.has(slice.metadata.name)) {
        await client.delete(EndpointSlice, slice.metadata).catch(ignoreNotFound);
      }
    }
  });

function mayMirror({ metadata: { labels = {}, annotations = {} } }: Endpoints): boolean {
  const isSkipped = labels['endpointslice.kubernetes.io/skip-mirror'] === 'true';
  return !isSkipped && annotations['control-plane.alpha.kubernetes.io/leader'] === undefined;
}

interface Mirrored {
  readonly addressType: 'IPv4' | 'IPv6';
  readonly ports: readonly EndpointPort[];
  readonly endpoints: ReturnType<typeof endpointOf>[];
}

async function mirror({ object, apply, event }: ReconcileContext<Endpoints>): Promise<ReadonlySet<string>> {
  const { namespace, name, labels, annotations = {} } = object.metadata;
  const copied = Object.entries(annotations).filter(([key]) => !notCopied.has(key));
  const { mirrored, skipped } = slicesOf(object.subsets ?? []);
  if (skipped > 0) {
    const message = `A max of ${subsetSize} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`;
    event({ type: 'Warning', reason: 'TooManyAddressesToMirror', message });
  }
  const names = new Set<string>();
  for (const { addressType, ports, endpoints } of mirrored) {
    const sliceName = `${name}-${templateHash([addressType, ports]).slice(0, 5)}`;
    const own = { 'kubernetes.io/service-name': name, 'endpointslice.kubernetes.io/managed-by': managedBy };
    const metadata = {
      namespace,
      name: sliceName,
      labels: { ...labels, ...own },
      annotations: Object.fromEntries(copied),
    };
    await apply(EndpointSlice({ metadata, addressType, endpoints, ports }));
    names.add(sliceName);
  }
  return names;
}

const notCopied: ReadonlySet<string> = new Set([
  'endpoints.kubernetes.io/last-change-trigger-time',
  'kubectl.kubernetes.io/last-applied-configuration',
]);

/** Addresses by their family and ports: a slice has one of each. */
function slicesOf(subsets: readonly EndpointSubset[]): {
  readonly mirrored: Iterable<Mirrored>;
  readonly skipped: number;
} {
  const mirrored = new Map<string, Mirrored>();
  let skipped = 0;
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const all = [
      ...addresses.map((address) => ({ address, ready: true })),
      ...notReadyAddresses.map((address) => ({ address, ready: false })),
    ];
    skipped += Math.max(0, all.length - subsetSize);
    for (const { address, ready } of all.slice(0, subsetSize)) {
      const addressType = address.ip.includes(':') ? 'IPv6' : 'IPv4';
      const named = ports.map(({ name = '', protocol = 'TCP', ...port }) => ({ name, protocol, ...port }));
      const key = templateHash([addressType, named]);
      const slice = mirrored.get(key) ?? { addressType, ports: named, endpoints: [] };
      mirrored.set(key, slice);
      slice.endpoints.push(endpointOf(address, ready));
    }
  }
  return { mirrored: mirrored.values(), skipped };
}

function endpointOf({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean) {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname && { hostname }),
    ...(nodeName && { nodeName }),
    ...(targetRef && { targetRef }),
  };
}
