import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { numberOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';

/** The spec of a Service while it is being filled in. */
export type ServiceSpec = { [field: string]: Json | undefined };

export const headless = 'None';

export function specOf(service: JsonObject | undefined): ServiceSpec {
  const spec = service?.spec;
  return isJsonObject(spec) ? spec : {};
}

export function clusterIpsOf(spec: ServiceSpec): readonly string[] {
  return stringsOf(spec.clusterIPs);
}

export function familiesOf(spec: ServiceSpec): readonly string[] {
  return stringsOf(spec.ipFamilies);
}

export function portsOf(spec: ServiceSpec): readonly JsonObject[] {
  return recordsOf(spec.ports);
}

/** Those that are set. */
export function nodePortsOf(spec: ServiceSpec): readonly number[] {
  return portsOf(spec).flatMap(({ nodePort }) => (numberOf(nodePort) === 0 ? [] : [numberOf(nodePort)]));
}

export function isHeadless(spec: ServiceSpec): boolean {
  const ips = clusterIpsOf(spec);
  return ips.length === 1 && ips[0] === headless;
}

export function isExternalName({ type }: ServiceSpec): boolean {
  return type === 'ExternalName';
}

/** Whether it can be reached from outside of the cluster. */
export function isExposed({ type, externalIPs }: ServiceSpec): boolean {
  return type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && stringsOf(externalIPs).length > 0);
}

/** Whether a load balancer has to ask each node if it has endpoints. */
export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

export function sameClusterIps(a: ServiceSpec, b: ServiceSpec): boolean {
  return textOf(a.clusterIP) === textOf(b.clusterIP) && sameTexts(clusterIpsOf(a), clusterIpsOf(b));
}

export function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}
