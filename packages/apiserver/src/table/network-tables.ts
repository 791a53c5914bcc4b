import type {
  EndpointSlice,
  Endpoints,
  Ingress,
  IngressClass,
  IPAddress,
  NetworkPolicy,
  Service,
  ServiceCIDR,
} from 'riata/kinds';
import { addressesText, labelsText, none, orNone, selectorText, someOf, unknown, unset } from './cell-texts.js';
import { ageColumn, nameColumn, printer, texts, wide } from './table-printer.js';

const services = printer<Service>(
  [nameColumn, ...texts('Type', 'Cluster-IP', 'External-IP', 'Port(s)'), ageColumn, ...wide('Selector')],
  (service, ages) => {
    const { metadata, spec } = service;
    const ports = (spec?.ports ?? []).map(
      ({ port, nodePort, protocol }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol ?? 'TCP'}`,
    );
    return [
      metadata.name,
      spec?.type ?? '',
      orNone(spec?.clusterIPs?.[0]),
      externalAddress(service),
      orNone(ports.join(',')),
      ages.since(metadata.creationTimestamp),
      labelsText(spec?.selector),
    ];
  },
);

function externalAddress({ spec, status }: Service): string {
  const own = spec?.externalIPs ?? [];
  switch (spec?.type) {
    case 'ClusterIP':
    case 'NodePort':
      return orNone(own.join(','));
    case 'LoadBalancer': {
      const balanced = addressesText(status?.loadBalancer?.ingress);
      return [...(balanced === '' ? [] : [balanced]), ...own].join(',') || '<pending>';
    }
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return unknown;
  }
}

const ingresses = printer<Ingress>(
  [nameColumn, ...texts('Class', 'Hosts', 'Address', 'Ports'), ageColumn],
  ({ metadata, spec, status }, ages) => [
    metadata.name,
    spec?.ingressClassName ?? none,
    hostsText((spec?.rules ?? []).map(({ host }) => host ?? '')),
    addressesText(status?.loadBalancer?.ingress),
    (spec?.tls ?? []).length > 0 ? '80, 443' : '80',
    ages.since(metadata.creationTimestamp),
  ],
);

/** The first three hosts; rules without one count among those that are not shown. */
function hostsText(hosts: readonly string[]): string {
  const shown: string[] = [];
  let more = false;
  for (const host of hosts) {
    if (shown.length === 3) more = true;
    if (!more && host !== '') shown.push(host);
  }
  if (shown.length === 0) return '*';
  return more ? `${shown.join(',')} + ${hosts.length - 3} more...` : shown.join(',');
}

const ingressClasses = printer<IngressClass>(
  [nameColumn, ...texts('Controller', 'Parameters'), ageColumn],
  ({ metadata, spec }, ages) => {
    const isDefault = metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true';
    const { parameters } = spec ?? {};
    const kind = parameters?.apiGroup ? `${parameters.kind}.${parameters.apiGroup}` : parameters?.kind;
    return [
      `${metadata.name}${isDefault ? ' (default)' : ''}`,
      spec?.controller ?? '',
      parameters ? `${kind}/${parameters.name}` : none,
      ages.since(metadata.creationTimestamp),
    ];
  },
);

const networkPolicies = printer<NetworkPolicy>(
  [nameColumn, ...texts('Pod-Selector'), ageColumn],
  ({ metadata, spec }, ages) => [
    metadata.name,
    selectorText(spec?.podSelector ?? {}),
    ages.since(metadata.creationTimestamp),
  ],
);

const endpoints = printer<Endpoints>([nameColumn, ...texts('Endpoints'), ageColumn], ({ metadata, subsets }, ages) => {
  const all = (subsets ?? []).flatMap(({ addresses = [], ports = [] }) => {
    if (ports.length === 0) return addresses.map(({ ip }) => ip);
    return ports.flatMap(({ port }) => addresses.map(({ ip }) => hostPort(ip, port)));
  });
  const text = (subsets ?? []).length === 0 ? none : someOf(all, 3);
  return [metadata.name, text, ages.since(metadata.creationTimestamp)];
});

function hostPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

const endpointSlices = printer<EndpointSlice>(
  [nameColumn, ...texts('AddressType', 'Ports', 'Endpoints'), ageColumn],
  (slice, ages) => {
    const ports = (slice.ports ?? []).map(({ port, name }) => String(port ?? name ?? '*'));
    const addresses = (slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? []);
    return [
      slice.metadata.name,
      slice.addressType ?? '',
      someOf(ports, 3) || unset,
      someOf(addresses, 3) || unset,
      ages.since(slice.metadata.creationTimestamp),
    ];
  },
);

const serviceCidrs = printer<ServiceCIDR>([nameColumn, ...texts('CIDRs'), ageColumn], ({ metadata, spec }, ages) => [
  metadata.name,
  (spec?.cidrs ?? []).join(','),
  ages.since(metadata.creationTimestamp),
]);

// Its rows have a cell more than there are columns.
const ipAddresses = printer<IPAddress>([nameColumn, ...texts('ParentRef')], ({ metadata, spec }, ages) => {
  const { group, resource, namespace, name } = spec?.parentRef ?? {};
  const kind = `${resource ?? ''}${group ? `.${group}` : ''}`.toLowerCase();
  const parts = [kind, ...(namespace ? [namespace] : []), name ?? ''];
  return [metadata.name, spec?.parentRef ? parts.join('/') : none, ages.since(metadata.creationTimestamp)];
});

/** How things are reached, by where it is stored. */
export const networkTables = {
  '/services': services,
  '/endpoints': endpoints,
  'discovery.k8s.io/endpointslices': endpointSlices,
  'networking.k8s.io/ingresses': ingresses,
  'networking.k8s.io/ingressclasses': ingressClasses,
  'networking.k8s.io/networkpolicies': networkPolicies,
  'networking.k8s.io/servicecidrs': serviceCidrs,
  'networking.k8s.io/ipaddresses': ipAddresses,
};
