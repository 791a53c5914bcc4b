import { equal, type JsonObject } from 'riata/object';
import { isGiven, metaOf, numberOf, recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { dnsLabelName } from '../../schema/name-rules.js';
import { invalidObject } from '../../status/refusal.js';
import { cidrWarnings, ipWarnings } from '../checks/ip-checks.js';
import type { KindRules, PrepareContext } from '../kind-rules.js';
import { defaultService } from './default-service.js';
import { ServiceAllocation } from './service-allocation.js';
import { checkLoadBalancerStatus, checkService, checkServiceChange } from './service-checks.js';
import { alignClusterIps, fillFamilies } from './service-families.js';
import {
  clusterIpsOf,
  isExposed,
  isExternalName,
  isHeadless,
  needsHealthCheck,
  nodePortsOf,
  portsOf,
  type ServiceSpec,
  sameClusterIps,
  specOf,
} from './service-parts.js';

export const serviceRules: KindRules = {
  nameRule: dnsLabelName,
  removesAlso: ['/endpoints'],
  defaults: defaultService,
  prepare,
  validate: (object, before) => checkService(object, before),
  validateUpdate: (object, before) => checkServiceChange(specOf(object), specOf(before)),
  validateStatus: checkLoadBalancerStatus,
  warnings: (object) => warningsOf(object),
  statusWarnings: (object) =>
    recordsOf(recordOf(recordOf(object.status).loadBalancer).ingress).flatMap(({ ip }, i) =>
      ipWarnings(textOf(ip), `status.loadBalancer.ingress[${i}]`),
    ),
};

/**
 * Addresses and ports come from the server, unless they are requested; a change of type drops those that no longer
 * apply.
 */
function prepare(object: JsonObject, old: JsonObject | undefined, context: PrepareContext): JsonObject {
  if (context.subresource === 'status') return object;
  const spec: ServiceSpec = { ...recordOf(object.spec) };
  const before = old === undefined ? undefined : specOf(old);
  if (before !== undefined) keepAllocated(spec, before);
  alignClusterIps(spec, before);
  const errors = fillFamilies(spec, before);
  if (errors.length > 0) {
    throw invalidObject({ group: '', kind: 'Service', plural: 'services' }, textOf(metaOf(object).name), errors);
  }
  const allocation = new ServiceAllocation(object, context);
  if (before === undefined || isExternalName(before)) allocation.fillClusterIps(spec);
  if (usesNodePorts(spec)) {
    if (before === undefined) allocation.fillNodePorts(spec);
    else allocation.updateNodePorts(spec, before);
  }
  if (before === undefined || !needsHealthCheck(before)) allocation.fillHealthCheckPort(spec);
  if (before !== undefined) dropLeftovers(spec, before);
  // It was once filled in where it means nothing, and has not been shown there since.
  if (isExternalName(spec) && ['Cluster', 'Local'].includes(textOf(spec.internalTrafficPolicy))) {
    spec.internalTrafficPolicy = undefined;
  }
  const filled = withoutNothing(spec);
  const status = spec.type === 'LoadBalancer' ? object.status : { ...recordOf(object.status), loadBalancer: {} };
  const isSame = equal(filled, recordOf(object.spec)) && (old === undefined || equal(status, object.status));
  return isSame ? object : { ...object, spec: filled, ...(old === undefined ? {} : { status }) };
}

/** Values that the server has allocated need not be sent again. */
function keepAllocated(spec: ServiceSpec, before: ServiceSpec): void {
  if (!isExternalName(before) && !isExternalName(spec)) {
    if (textOf(spec.clusterIP) === '') spec.clusterIP = before.clusterIP;
    if (clusterIpsOf(spec).length === 0) spec.clusterIPs = before.clusterIPs;
  }
  if (getsNodePorts(before) && getsNodePorts(spec)) {
    const sent = nodePortsOf(spec);
    const used = new Set(nodePortsOf(before).filter((port) => sent.includes(port)));
    const byName = new Map(portsOf(before).map((port) => [textOf(port.name), numberOf(port.nodePort)]));
    spec.ports = portsOf(spec).map((port) => {
      const known = byName.get(textOf(port.name)) ?? 0;
      return numberOf(port.nodePort) !== 0 || known === 0 || used.has(known) ? port : { ...port, nodePort: known };
    });
  }
  if (needsHealthCheck(before) && needsHealthCheck(spec) && numberOf(spec.healthCheckNodePort) === 0) {
    spec.healthCheckNodePort = before.healthCheckNodePort;
  }
}

/** Fields of another type go with it, unless they were changed: then they are complained about. */
function dropLeftovers(spec: ServiceSpec, before: ServiceSpec): void {
  if (!isExternalName(before) && isExternalName(spec)) {
    if (sameClusterIps(before, spec)) {
      spec.clusterIP = undefined;
      spec.clusterIPs = undefined;
    }
    for (const field of ['ipFamilies', 'ipFamilyPolicy']) dropSame(spec, before, field);
  }
  if (usesNodePorts(before) && !usesNodePorts(spec)) {
    const known = nodePortsOf(before);
    if (nodePortsOf(spec).every((port) => known.includes(port))) {
      spec.ports = portsOf(spec).map(({ nodePort: _, ...port }) => port);
    }
  }
  if (needsHealthCheck(before) && !needsHealthCheck(spec)) dropSame(spec, before, 'healthCheckNodePort');
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    dropSame(spec, before, 'allocateLoadBalancerNodePorts');
    dropSame(spec, before, 'loadBalancerClass');
  }
  if (isExposed(before) && !isExposed(spec)) dropSame(spec, before, 'externalTrafficPolicy');
}

function dropSame(spec: ServiceSpec, before: ServiceSpec, field: string): void {
  if (equal(spec[field] ?? null, before[field] ?? null)) spec[field] = undefined;
}

function usesNodePorts({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

function getsNodePorts({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false);
}

function withoutNothing(spec: ServiceSpec): JsonObject {
  const given = Object.entries(spec).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as JsonObject;
}

function warningsOf(service: JsonObject): readonly string[] {
  const spec = specOf(service);
  const annotations = recordOf(metaOf(service).annotations);
  const isBare = spec.type === 'ClusterIP' && isHeadless(spec);
  const externalIps = stringsOf(spec.externalIPs);
  const balancerIp = textOf(spec.loadBalancerIP);
  const when = (applies: boolean, text: string) => (applies ? [text] : []);
  const ranges = stringsOf(spec.loadBalancerSourceRanges);
  return [
    ...when(
      isGiven(annotations['service.kubernetes.io/topology-aware-hints']),
      'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
    ),
    ...clusterIpsOf(spec).flatMap((ip, i) => ipWarnings(ip, `spec.clusterIPs[${i}]`)),
    ...when(isBare && balancerIp !== '', 'spec.loadBalancerIP is ignored for headless services'),
    ...when(isBare && externalIps.length > 0, 'spec.externalIPs is ignored for headless services'),
    ...when(isBare && spec.sessionAffinity !== 'None', 'spec.SessionAffinity is ignored for headless services'),
    ...externalIps.flatMap((ip, i) => ipWarnings(ip, `spec.externalIPs[${i}]`)),
    ...when(
      externalIps.length > 0 && !isBare && !isExternalName(spec),
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    ),
    ...ipWarnings(balancerIp, 'spec.loadBalancerIP'),
    ...ranges.flatMap((cidr, i) => cidrWarnings(cidr, `spec.loadBalancerSourceRanges[${i}]`)),
    ...when(
      isExternalName(spec) && externalIps.length > 0,
      'spec.externalIPs is ignored when spec.type is "ExternalName"',
    ),
    ...when(
      !isExternalName(spec) && textOf(spec.externalName) !== '',
      'spec.externalName is ignored when spec.type is not "ExternalName"',
    ),
    ...when(
      spec.trafficDistribution === 'PreferClose',
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ),
  ];
}
