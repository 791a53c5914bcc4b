import { equal, type JsonObject } from 'riata/object';
import { isGiven, recordOf, stringsOf, textOf } from '../../resource/metadata.js';
import { dnsSubdomain, type NameRule, pathSegmentName } from '../../schema/name-rules.js';
import { type FieldError, invalid, required } from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import { parseCidr } from '../checks/ip-address.js';
import { canonicalIpProblems, checkCanonicalCidr } from '../checks/ip-checks.js';
import type { KindRules } from '../kind-rules.js';

/** An address that a Service has, which is its name. */
export const ipAddressRules: KindRules = {
  nameRule: canonicalIpProblems satisfies NameRule,
  validate: ({ spec }) => checkParent(recordOf(spec).parentRef),
  validateUpdate(object, before) {
    const [now, was] = [object, before].map(({ spec }) => recordOf(spec).parentRef);
    return equal(now ?? null, was ?? null)
      ? []
      : [invalid('spec.parentRef', isGiven(now) ? goParent(recordOf(now)) : null, 'field is immutable')];
  },
};

function checkParent(given: JsonObject['spec']): FieldError[] {
  if (!isGiven(given)) return [required('spec.parentRef')];
  const { group, resource, namespace, name } = recordOf(given);
  const segment = (field: string, text: string) => checkText(pathSegmentName, text, `spec.parentRef.${field}`);
  const needed = (field: string, text: string) =>
    text === '' ? [required(`spec.parentRef.${field}`)] : segment(field, text);
  return [
    ...(textOf(group) === '' ? [] : checkText(dnsSubdomain, textOf(group), 'spec.parentRef.group')),
    ...needed('resource', textOf(resource)),
    ...needed('name', textOf(name)),
    ...(textOf(namespace) === '' ? [] : segment('namespace', textOf(namespace))),
  ];
}

function goParent({ group, resource, namespace, name }: JsonObject): object {
  return { Group: textOf(group), Resource: textOf(resource), Namespace: textOf(namespace), Name: textOf(name) };
}

/** A range that addresses of Services come from. */
export const serviceCidrRules: KindRules = {
  validate: (object, before) => (before === undefined ? checkCidrs(cidrsOf(object)) : []),
  validateUpdate(object, before) {
    const [now, was] = [cidrsOf(object), cidrsOf(before)];
    const fixed = 'field is immutable';
    const changed = was.flatMap((cidr, i) =>
      now[i] === cidr ? [] : [invalid(`spec.cidrs[${i}]`, now[i] ?? '', fixed)],
    );
    if (now.length === was.length) return changed;
    // One of the other family may come later.
    if (was.length === 1 && now.length === 2) return [...changed, ...checkCidrs(now)];
    return [invalid('spec.cidrs', now.length === 0 ? null : now, fixed)];
  },
};

const cidrsOf = ({ spec }: JsonObject) => stringsOf(recordOf(spec).cidrs);

function checkCidrs(cidrs: readonly string[]): FieldError[] {
  if (cidrs.length === 0) return [required('spec.cidrs', 'at least one CIDR required')];
  if (cidrs.length > 2) return [invalid('spec.cidrs', { CIDRs: cidrs }, 'may only hold up to 2 values')];
  const families = cidrs.map((cidr) => parseCidr(cidr)?.ip.bytes.length);
  const isDouble = families.length === 2 && families[0] !== undefined && families[0] === families[1];
  const detail = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
  return [
    ...(isDouble ? [invalid('spec.cidrs', cidrs, detail)] : []),
    ...cidrs.flatMap((cidr, i) => checkCanonicalCidr(cidr, `spec.cidrs[${i}]`)),
  ];
}
