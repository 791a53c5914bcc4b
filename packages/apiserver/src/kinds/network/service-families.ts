import { recordOf, stringsOf, textOf } from '../../resource/metadata.js';
import { type FieldError, invalid } from '../../status/field-error.js';
import { parseIp } from '../checks/ip-address.js';
import { checkClusterIps } from './service-ip-checks.js';
import {
  clusterIpsOf,
  familiesOf,
  headless,
  isExternalName,
  type ServiceSpec,
  sameClusterIps,
  sameTexts,
} from './service-parts.js';

/** The one family of addresses that the cluster has for Services. */
export const clusterFamily = 'IPv4';

/** Brings `clusterIP` and `clusterIPs` in line, for clients that know the first alone. */
export function alignClusterIps(spec: ServiceSpec, before: ServiceSpec | undefined): void {
  const ip = textOf(spec.clusterIP);
  if (before === undefined) {
    if (ip !== '' && clusterIpsOf(spec).length === 0) spec.clusterIPs = [ip];
    return;
  }
  const [old, oldIps] = [textOf(before.clusterIP), clusterIpsOf(before)];
  if (oldIps.length > 0 && clusterIpsOf(spec).length === 0 && old === ip) spec.clusterIPs = oldIps;
  if (old === ip || !sameTexts(oldIps, clusterIpsOf(spec))) return;
  if (old !== '' && ip === '') spec.clusterIPs = undefined;
  else spec.clusterIPs = [ip];
}

/**
 * Fills in the policy and the families of a Service's addresses, as far as they follow from what is said and from what
 * the cluster has. Answers with what is wrong; nothing else is looked at then.
 */
export function fillFamilies(spec: ServiceSpec, before: ServiceSpec | undefined): readonly FieldError[] {
  if (isExternalName(spec) || keepsPreference(spec, before)) return [];
  const isBare = textOf(spec.clusterIP) === headless && Object.keys(recordOf(spec.selector)).length === 0;
  spec.ipFamilyPolicy ??= before?.ipFamilyPolicy ?? (isBare ? 'RequireDualStack' : 'SingleStack');
  const wrong = checkClusterIps(spec, before);
  if (wrong.length > 0) return wrong;
  if (before !== undefined && spec.ipFamilyPolicy === 'SingleStack') keepFirst(spec, before);
  const errors = [...checkReduced(spec, before), ...checkSingle(spec), ...inferFamilies(spec)];
  if (errors.length > 0) return errors;
  if (isBare) {
    fillBare(spec);
    return [];
  }
  const impossible = checkConfigured(spec);
  if (impossible.length === 0 && familiesOf(spec).length === 0) spec.ipFamilies = [clusterFamily];
  return impossible;
}

/** A Service that prefers two families is not changed because of what the cluster has by now. */
function keepsPreference(spec: ServiceSpec, before: ServiceSpec | undefined): boolean {
  if (
    before === undefined ||
    spec.ipFamilyPolicy !== 'PreferDualStack' ||
    before.ipFamilyPolicy !== 'PreferDualStack'
  ) {
    return false;
  }
  if (before.type === 'ExternalName' || spec.type === 'ExternalName') return false;
  return sameClusterIps(spec, before) && sameTexts(familiesOf(spec), familiesOf(before));
}

/** A writer that requests one family and changes nothing else means the first. */
function keepFirst(spec: ServiceSpec, before: ServiceSpec): void {
  const [ips, families] = [clusterIpsOf(spec), familiesOf(spec)];
  if (sameClusterIps(before, spec) && ips.length > 1) spec.clusterIPs = ips.slice(0, 1);
  if (sameTexts(familiesOf(before), families) && families.length > 1) spec.ipFamilies = families.slice(0, 1);
}

const policyPath = 'spec.ipFamilyPolicy';

function checkReduced(spec: ServiceSpec, before: ServiceSpec | undefined): FieldError[] {
  if (before === undefined || spec.ipFamilyPolicy === 'SingleStack') return [];
  const isReduced = (of: (spec: ServiceSpec) => readonly string[]) =>
    of(before).length === 2 && of(spec).length === 1 && of(before)[0] === of(spec)[0];
  const refuse = (what: string) =>
    invalid(policyPath, spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`);
  return [
    ...(isReduced(clusterIpsOf) ? [refuse('cluster IP')] : []),
    ...(isReduced(familiesOf) ? [refuse('IP family')] : []),
  ];
}

function checkSingle(spec: ServiceSpec): FieldError[] {
  if (spec.ipFamilyPolicy !== 'SingleStack') return [];
  const refuse = (what: string) => {
    const detail = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
    return invalid(policyPath, spec.ipFamilyPolicy, detail);
  };
  return [
    ...(clusterIpsOf(spec).length === 2 ? [refuse('cluster IPs')] : []),
    ...(familiesOf(spec).length === 2 ? [refuse('IP families')] : []),
  ];
}

/** Families of the requested addresses. */
function inferFamilies(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const families = [...familiesOf(spec)];
  for (const [i, ip] of clusterIpsOf(spec).entries()) {
    if (ip === headless) break;
    if (i < families.length) continue;
    const family = parseIp(ip)?.family ?? clusterFamily;
    if (family === clusterFamily) families.push(family);
    else {
      errors.push(invalid(`spec.clusterIPs[${i}]`, clusterIpsOf(spec), `${family} is not configured on this cluster`));
    }
  }
  if (families.length > 0) spec.ipFamilies = families;
  return errors;
}

/** A Service without addresses or selector may have endpoints of any family. */
function fillBare(spec: ServiceSpec): void {
  const [first = clusterFamily, ...others] = stringsOf(spec.ipFamilies);
  const isSingle = spec.ipFamilyPolicy === 'SingleStack' || others.length > 0;
  spec.ipFamilies = isSingle ? [first, ...others] : [first, first === 'IPv4' ? 'IPv6' : 'IPv4'];
}

function checkConfigured(spec: ServiceSpec): FieldError[] {
  const isTooMuch = spec.ipFamilyPolicy === 'RequireDualStack';
  const detail = 'this cluster is not configured for dual-stack services';
  return [
    ...(isTooMuch ? [invalid(policyPath, spec.ipFamilyPolicy, detail)] : []),
    ...familiesOf(spec).flatMap((family, i) =>
      family === clusterFamily ? [] : [invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster')],
    ),
  ];
}
