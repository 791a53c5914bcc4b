import type { JsonObject } from 'riata/object';
import { isGiven, metaOf, numberOf, recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { dnsSubdomain, qualifiedName } from '../../schema/name-rules.js';
import { checkLabels } from '../../schema/object-meta.js';
import { append } from '../../status/append.js';
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../status/field-error.js';
import { checkEnum, checkPort, checkRequiredEnum, checkText } from '../checks/basic-checks.js';
import { checkCidr, checkEndpointIp, checkIp } from '../checks/ip-checks.js';
import { checkNamedPort, checkPortOrName } from '../checks/ports.js';
import { checkAddress } from './ingress.js';
import { checkClusterIps, checkIpChanges } from './service-ip-checks.js';
import {
  isExposed,
  isExternalName,
  isHeadless,
  needsHealthCheck,
  portsOf,
  type ServiceSpec,
  specOf,
} from './service-parts.js';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const onlyBalancers = "may only be used when `type` is 'LoadBalancer'";
const maxAffinitySeconds = 86_400;
const rangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const [hints, mode] = ['service.kubernetes.io/topology-aware-hints', 'service.kubernetes.io/topology-mode'];
const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

/** The problems of a Service (`validation.ValidateServiceCreate`). */
export function checkService(service: JsonObject, old: JsonObject | undefined): FieldError[] {
  const spec = specOf(service);
  const before = old === undefined ? undefined : specOf(old);
  return [
    ...checkTopology(recordOf(metaOf(service).annotations)),
    ...checkType(spec),
    ...checkPorts(spec),
    ...checkLabels(recordOf(spec.selector), 'spec.selector'),
    ...checkAffinity(spec),
    ...checkClusterIps(spec, before),
    ...checkExternalIps(spec, before),
    ...checkRequiredEnum(spec.type, types, 'spec.type'),
    ...checkSourceRanges(service, old),
    ...checkBalancer(spec),
    ...checkPolicies(spec),
  ];
}

/** The immutable fields (`validation.ValidateServiceUpdate`). */
export function checkServiceChange(spec: ServiceSpec, before: ServiceSpec): FieldError[] {
  const bothBalance = spec.type === 'LoadBalancer' && before.type === 'LoadBalancer';
  const errors = checkIpChanges(spec, before);
  if (bothBalance && (spec.loadBalancerClass ?? null) !== (before.loadBalancerClass ?? null)) {
    errors.push(invalid('spec.loadBalancerClass', spec.loadBalancerClass ?? null, 'may not change once set'));
  }
  const port = (of: ServiceSpec) => numberOf(of.healthCheckNodePort);
  if (needsHealthCheck(before) && needsHealthCheck(spec) && port(spec) !== port(before)) {
    errors.push(forbidden('spec.healthCheckNodePort', 'field is immutable'));
  }
  return errors;
}

export function checkLoadBalancerStatus(service: JsonObject, before: JsonObject): FieldError[] {
  const addresses = (of: JsonObject) => recordsOf(recordOf(recordOf(of.status).loadBalancer).ingress);
  const path = 'status.loadBalancer.ingress';
  if (specOf(service).type !== 'LoadBalancer') {
    const isSet = addresses(service).length > 0;
    return isSet ? [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")] : [];
  }
  const known = addresses(before).map(({ ip }) => textOf(ip));
  return addresses(service).flatMap((one, i) => [
    ...checkAddress(one, known, `${path}[${i}]`),
    ...checkMode(one, `${path}[${i}].ipMode`),
  ]);
}

function checkMode({ ip, ipMode }: JsonObject, path: string): FieldError[] {
  const hasIp = textOf(ip) !== '';
  if (!isGiven(ipMode)) return hasIp ? [required(path, 'must be specified when `ip` is set')] : [];
  if (!hasIp) return [forbidden(path, 'may not be specified when `ip` is not set')];
  return checkEnum(ipMode, ['Proxy', 'VIP'], path);
}

function checkTopology(annotations: JsonObject): FieldError[] {
  const [old, now] = [annotations[hints], annotations[mode]];
  if (!isGiven(old) || !isGiven(now) || old === now) return [];
  const detail = `must match annotations[${hints}] when both are specified`;
  return [invalid(`metadata.annotations[${mode}]`, now, detail)];
}

function checkType(spec: ServiceSpec): FieldError[] {
  const { type } = spec;
  if (isExternalName(spec)) return checkExternalName(spec);
  const errors = portsOf(spec).length === 0 && !isHeadless(spec) ? [required('spec.ports')] : [];
  if (isHeadless(spec) && (type === 'LoadBalancer' || type === 'NodePort')) {
    errors.push(invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  }
  return errors;
}

function checkExternalName(spec: ServiceSpec): FieldError[] {
  const lists = ['clusterIPs', 'ipFamilies'].filter((field) => stringsOf(spec[field]).length > 0);
  const set = isGiven(spec.ipFamilyPolicy) ? [...lists, 'ipFamilyPolicy'] : lists;
  const name = textOf(spec.externalName).replace(/\.$/, '');
  return [
    ...set.map((field) => forbidden(`spec.${field}`, 'may not be set for ExternalName services')),
    ...(name === '' ? [required('spec.externalName')] : checkText(dnsSubdomain, name, 'spec.externalName')),
  ];
}

function checkPorts(spec: ServiceSpec): FieldError[] {
  const ports = portsOf(spec);
  const errors = ports.flatMap((port, i) => [
    ...checkNamedPort(port, ports.length > 1, `spec.ports[${i}]`),
    ...checkPortOrName(port.targetPort, `spec.ports[${i}].targetPort`),
  ]);
  const [names, nodePorts, numbers] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const repeats = (known: Set<string>, id: string) => known.has(id) || !known.add(id);
  for (const [i, { name, protocol, port, nodePort }] of ports.entries()) {
    const path = `spec.ports[${i}]`;
    if (textOf(name) !== '' && repeats(names, textOf(name))) errors.push(duplicate(`${path}.name`, name));
    if (numberOf(nodePort) !== 0) {
      if (spec.type === 'ClusterIP') {
        errors.push(forbidden(`${path}.nodePort`, "may not be used when `type` is 'ClusterIP'"));
      }
      if (repeats(nodePorts, `${protocol} ${nodePort}`)) errors.push(duplicate(`${path}.nodePort`, nodePort));
    }
    if (repeats(numbers, `${protocol} ${port}`)) errors.push(duplicate(path, goPort(protocol, port)));
  }
  return errors;
}

/** As Go prints what has no names for JSON. */
function goPort(protocol: unknown, port: unknown): object {
  return { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
}

function checkAffinity({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): FieldError[] {
  const errors = checkRequiredEnum(sessionAffinity, ['ClientIP', 'None'], 'spec.sessionAffinity');
  if (sessionAffinity !== 'ClientIP') return errors;
  const seconds = numberOf(recordOf(recordOf(sessionAffinityConfig).clientIP).timeoutSeconds);
  if (seconds > 0 && seconds <= maxAffinitySeconds) return errors;
  const detail = `must be greater than 0 and less than ${maxAffinitySeconds}`;
  return [...errors, invalid('spec.sessionAffinityConfig.clientIP.timeoutSeconds', seconds, detail)];
}

function checkExternalIps(spec: ServiceSpec, before: ServiceSpec | undefined): FieldError[] {
  const known = stringsOf(before?.externalIPs);
  return stringsOf(spec.externalIPs).flatMap((ip, i) => {
    const errors = checkIp(ip, `spec.externalIPs[${i}]`, known);
    return errors.length > 0 ? errors : checkEndpointIp(ip, `spec.externalIPs[${i}]`);
  });
}

/** Who may use a load balancer: a field now, an annotation once. */
function checkSourceRanges(service: JsonObject, old: JsonObject | undefined): FieldError[] {
  const spec = specOf(service);
  const ranges = stringsOf(spec.loadBalancerSourceRanges).map((cidr) => cidr.trim());
  const balances = spec.type === 'LoadBalancer';
  if (ranges.length > 0) {
    const path = 'spec.LoadBalancerSourceRanges';
    const known = stringsOf(specOf(old).loadBalancerSourceRanges).map((cidr) => cidr.trim());
    const errors = ranges.flatMap((cidr, i) => checkCidr(cidr, `${path}[${i}]`, known));
    return balances ? errors : [forbidden(path, onlyBalancers), ...errors];
  }
  const given = recordOf(metaOf(service).annotations)[rangesAnnotation];
  if (!isGiven(given)) return [];
  const path = `metadata.annotations[${rangesAnnotation}]`;
  const errors = balances ? [] : [forbidden(path, onlyBalancers)];
  const isKnown = old !== undefined && recordOf(metaOf(old).annotations)[rangesAnnotation] === given;
  const text = textOf(given).trim();
  if (isKnown || text === '') return errors;
  return [...errors, ...text.split(',').flatMap((cidr) => checkCidr(cidr.trim(), path))];
}

function checkBalancer(spec: ServiceSpec): FieldError[] {
  const { loadBalancerClass, allocateLoadBalancerNodePorts } = spec;
  if (spec.type === 'LoadBalancer') {
    return isGiven(loadBalancerClass)
      ? checkText(qualifiedName, textOf(loadBalancerClass), 'spec.loadBalancerClass')
      : [];
  }
  return [
    ...(isGiven(allocateLoadBalancerNodePorts) ? [forbidden('spec.allocateLoadBalancerNodePorts', onlyBalancers)] : []),
    ...(isGiven(loadBalancerClass) ? [forbidden('spec.loadBalancerClass', onlyBalancers)] : []),
  ];
}

function checkPolicies(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy: outer, trafficDistribution, internalTrafficPolicy: inner } = spec;
  const port = numberOf(spec.healthCheckNodePort);
  const errors: FieldError[] = [];
  if (isExposed(spec)) {
    append(errors, checkRequiredEnum(outer, ['Cluster', 'Local'], 'spec.externalTrafficPolicy'));
  } else if (textOf(outer) !== '') {
    const detail = 'may only be set for externally-accessible services';
    errors.push(invalid('spec.externalTrafficPolicy', outer, detail));
  }
  if (needsHealthCheck(spec)) append(errors, checkPort(port, 'spec.healthCheckNodePort'));
  else if (port !== 0) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(invalid('spec.healthCheckNodePort', port, detail));
  }
  return [
    ...errors,
    ...checkEnum(inner, ['Cluster', 'Local'], 'spec.internalTrafficPolicy'),
    ...(isGiven(trafficDistribution) && !distributions.includes(textOf(trafficDistribution))
      ? [notSupported('spec.trafficDistribution', trafficDistribution, distributions)]
      : []),
  ];
}
