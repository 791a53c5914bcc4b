import { textOf } from '../../resource/metadata.js';
import { append } from '../../status/append.js';
import { duplicate, type FieldError, invalid, required } from '../../status/field-error.js';
import { checkEnum } from '../checks/basic-checks.js';
import { parseIp } from '../checks/ip-address.js';
import { checkIp } from '../checks/ip-checks.js';
import { clusterIpsOf, familiesOf, headless, isExternalName, isHeadless, type ServiceSpec } from './service-parts.js';

const families = ['IPv4', 'IPv6'];
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

/** How addresses, families and policy of a Service go together. */
export function checkClusterIps(spec: ServiceSpec, before: ServiceSpec | undefined): FieldError[] {
  if (isExternalName(spec)) return [];
  const ips = clusterIpsOf(spec);
  const errors = [
    ...checkAligned(spec),
    ...checkFamilies(familiesOf(spec)),
    ...checkEnum(spec.ipFamilyPolicy, policies, 'spec.ipFamilyPolicy'),
  ];
  const wrong = checkAddresses(ips, before === undefined ? [] : clusterIpsOf(before));
  append(errors, wrong);
  if (ips.length > 2) errors.push(invalid('spec.clusterIPs', ips, 'may only hold up to 2 values'));
  if (wrong.length > 0) return errors;
  if (ips.length > 1 && new Set(ips.map(familyOf)).size < 2) {
    errors.push(invalid('spec.clusterIPs', ips, 'may specify no more than one IP for each IP family'));
  }
  return isHeadless(spec) ? errors : [...errors, ...checkMatching(ips, familiesOf(spec))];
}

function checkAligned(spec: ServiceSpec): FieldError[] {
  const [ip, ips] = [textOf(spec.clusterIP), clusterIpsOf(spec)];
  if (ip === '') {
    return ips.length === 0 ? [] : [invalid('spec.clusterIPs', ips, 'must be empty when `clusterIP` is not specified')];
  }
  if (ips.length === 0) return [required('spec.clusterIPs')];
  return ips[0] === ip ? [] : [invalid('spec.clusterIPs', ips, 'first value must match `clusterIP`')];
}

function checkFamilies(given: readonly string[]): FieldError[] {
  return given.flatMap((family, i) => [
    ...checkEnum(family, families, `spec.ipFamilies[${i}]`),
    ...(given.indexOf(family) < i ? [duplicate(`spec.ipFamilies[${i}]`, family)] : []),
  ]);
}

function checkAddresses(ips: readonly string[], known: readonly string[]): FieldError[] {
  return ips.flatMap((ip, i) => {
    if (i > 0 || ip !== headless) return checkIp(ip, `spec.clusterIPs[${i}]`, known);
    return ips.length === 1 ? [] : [invalid('spec.clusterIPs', ips, "'None' must be the first and only value")];
  });
}

function checkMatching(ips: readonly string[], given: readonly string[]): FieldError[] {
  return ips.flatMap((ip, i) => {
    const expected = given[i];
    if (expected === undefined || expected === familyOf(ip) || !families.includes(expected)) return [];
    return [invalid(`spec.clusterIPs[${i}]`, ip, `expected an ${expected} value as indicated by \`ipFamilies[${i}]\``)];
  });
}

function familyOf(ip: string): string {
  return parseIp(ip)?.family ?? '';
}

/** Addresses and families stay, but for a second one that comes or goes. */
export function checkIpChanges(spec: ServiceSpec, before: ServiceSpec): FieldError[] {
  if (isExternalName(spec) || isExternalName(before)) return [];
  return [...checkIpsKept(spec, before), ...checkFamiliesKept(spec, before)];
}

function checkIpsKept(spec: ServiceSpec, before: ServiceSpec): FieldError[] {
  if (isHeadless(spec) && isHeadless(before)) return [];
  const [ips, old] = [clusterIpsOf(spec), clusterIpsOf(before)];
  const refuse = (index: number, detail: string) => invalid(`spec.clusterIPs[${index}]`, ips, detail);
  if (ips.length === old.length) {
    return old.flatMap((ip, i) => (ip === ips[i] ? [] : [refuse(i, 'may not change once set')]));
  }
  const errors = ips.length === 0 ? [refuse(0, 'primary clusterIP can not be unset')] : [];
  if (ips.length > 0 && old.length > 0 && ips[0] !== old[0]) errors.push(refuse(0, 'may not change once set'));
  if (old.length > ips.length && ips.length === 1) append(errors, checkReleased(spec, 'clusterIP'));
  return errors;
}

function checkFamiliesKept(spec: ServiceSpec, before: ServiceSpec): FieldError[] {
  if (isHeadless(spec) || isHeadless(before)) return [];
  const [now, old] = [familiesOf(spec), familiesOf(before)];
  const path = 'spec.ipFamilies[0]';
  if (now.length === old.length) {
    return old.flatMap((family, i) => (family === now[i] ? [] : [invalid(path, now, 'may not change once set')]));
  }
  const ips = clusterIpsOf(spec);
  const errors: FieldError[] = [];
  if (old.length > now.length && ips.length === 0) errors.push(invalid(path, now, 'primary ipFamily can not be unset'));
  if (now.length > 0 && old.length > 0 && now[0] !== old[0]) errors.push(invalid(path, ips, 'may not change once set'));
  if (old.length > now.length && now.length === 1) append(errors, checkReleased(spec, 'ipFamily'));
  return errors;
}

function checkReleased(spec: ServiceSpec, what: string): FieldError[] {
  if (spec.ipFamilyPolicy === 'SingleStack') return [];
  const detail = `must be set to 'SingleStack' when releasing the secondary ${what}`;
  return [invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy ?? null, detail)];
}
