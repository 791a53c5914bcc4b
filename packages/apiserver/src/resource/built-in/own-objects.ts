import type { JsonObject } from 'riata/object';

/**
 * A default object of the server with its managedFields, as creating it would leave it. Ready-made, since the first
 * regular creation would take a third of the server's start time.
 */
export interface OwnObject {
  readonly object: JsonObject;
  /** The fields in managedFields; undefined if the writer owns none. */
  readonly fieldsV1?: JsonObject;
  /** The manager that created it. @default the server */
  readonly manager?: string;
  /** The manager that applied a part of it. @default none */
  readonly applied?: { readonly manager: string; readonly fieldsV1: JsonObject };
  /** The manager that applied its status. @default none */
  readonly status?: { readonly manager: string; readonly fieldsV1: JsonObject };
}

const set = {};

export function ownNamespace(name: string): OwnObject {
  return {
    object: {
      metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    },
    fieldsV1: { 'f:metadata': { 'f:labels': { '.': set, 'f:kubernetes.io/metadata.name': set } } },
  };
}

/** The Service by which Pods reach the server. */
export function ownService(): OwnObject {
  const port = { '.': set, 'f:name': set, 'f:port': set, 'f:protocol': set, 'f:targetPort': set };
  return {
    object: {
      metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: {
        ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1'],
        type: 'ClusterIP',
        sessionAffinity: 'None',
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        internalTrafficPolicy: 'Cluster',
      },
      status: { loadBalancer: {} },
    },
    fieldsV1: {
      'f:metadata': { 'f:labels': { '.': set, 'f:component': set, 'f:provider': set } },
      'f:spec': {
        'f:clusterIP': set,
        'f:internalTrafficPolicy': set,
        'f:ipFamilyPolicy': set,
        'f:ports': { '.': set, 'k:{"port":443,"protocol":"TCP"}': port },
        'f:sessionAffinity': set,
        'f:type': set,
      },
    },
  };
}

/** The IPAddress of a Service's cluster IP. */
export function ownIpAddress(ip: string, isIpv6: boolean, namespace: string, name: string): OwnObject {
  const labels = {
    'ipaddress.kubernetes.io/ip-family': isIpv6 ? 'IPv6' : 'IPv4',
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  };
  const ofLabels = Object.fromEntries(Object.keys(labels).map((key) => [`f:${key}`, set]));
  return {
    object: { metadata: { name: ip, labels }, spec: { parentRef: { resource: 'services', namespace, name } } },
    fieldsV1: {
      'f:metadata': { 'f:labels': { '.': set, ...ofLabels } },
      'f:spec': { 'f:parentRef': { '.': set, 'f:name': set, 'f:namespace': set, 'f:resource': set } },
    },
  };
}

/** The ServiceCIDR of cluster IPs. */
export function ownServiceCidr(now: string): OwnObject {
  const message = 'Kubernetes default Service CIDR is ready';
  const condition = { '.': set, 'f:lastTransitionTime': set, 'f:message': set, 'f:status': set, 'f:type': set };
  return {
    object: {
      metadata: { name: 'kubernetes' },
      spec: { cidrs: ['10.0.0.0/24'] },
      status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now, reason: '', message }] },
    },
    fieldsV1: { 'f:spec': { 'f:cidrs': set } },
    status: {
      manager: 'kubernetes-service-cidr-controller',
      fieldsV1: { 'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': condition } } },
    },
  };
}

/** The PriorityClasses of the system. */
export const systemPriorities: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

/** The priorities of critical Pods. */
export function ownPriorityClasses(): readonly OwnObject[] {
  const fieldsV1 = { 'f:description': set, 'f:preemptionPolicy': set, 'f:value': set };
  const one = (name: string, description: string) => ({
    object: {
      metadata: { name, generation: 1 },
      value: systemPriorities[name] ?? 0,
      description,
      preemptionPolicy: 'PreemptLowerPriority',
    },
    fieldsV1,
  });
  return [
    one('system-node-critical', 'Used for system critical pods that must not be moved from their current node.'),
    one(
      'system-cluster-critical',
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
    ),
  ];
}

/** The default ServiceAccount of a namespace. */
export function ownServiceAccount(name: string): OwnObject {
  return { object: { metadata: { name } } };
}

/** The ConfigMap by which aggregated API servers authenticate this server and its clients. */
export function ownClientAuthority(certificate: string): OwnObject {
  const data = {
    'client-ca-file': certificate,
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-client-ca-file': certificate,
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  };
  const ofData = Object.fromEntries(Object.keys(data).map((key) => [`f:${key}`, set]));
  return {
    object: { metadata: { name: 'extension-apiserver-authentication' }, data },
    fieldsV1: { 'f:data': { '.': set, ...ofData } },
  };
}

/** The ConfigMap with the date since which the use of legacy tokens is tracked. */
export function ownTokenTracking(now: string): OwnObject {
  const name = 'kube-apiserver-legacy-service-account-token-tracking';
  return {
    object: { metadata: { name }, data: { since: now.slice(0, 'yyyy-mm-dd'.length) } },
    fieldsV1: { 'f:data': { '.': set, 'f:since': set } },
  };
}

/** The ConfigMap with the server's CA certificate, for Pods. */
export function ownRootCertificate(name: string, certificate: string): OwnObject {
  const description = 'The CA bundle by which Pods verify the API server.';
  return {
    object: {
      metadata: { name, annotations: { 'kubernetes.io/description': description } },
      data: { 'ca.crt': certificate },
    },
    fieldsV1: {
      'f:data': { '.': set, 'f:ca.crt': set },
      'f:metadata': { 'f:annotations': { '.': set, 'f:kubernetes.io/description': set } },
    },
  };
}
