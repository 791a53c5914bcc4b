import { equal, type JsonObject } from 'riata/object';
import { isGiven, recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { labelValue, qualifiedName } from '../../schema/name-rules.js';
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import { parseCidr } from '../checks/ip-address.js';
import { checkCidr, cidrWarnings } from '../checks/ip-checks.js';
import { computed } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';
import { checkAmount } from '../pods/checks/resource-checks.js';
import { roundAmounts, rounded } from '../pods/pod-defaults.js';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export const nodeRules: KindRules = {
  takesStatusOnCreate: true,
  defaults: {
    'spec.podCIDRs': computed((value, { podCIDR }) => podCidrs(stringsOf(value), textOf(podCIDR)) ?? value),
    'spec.podCIDR': (_, { spec }) => stringsOf(recordOf(spec).podCIDRs)[0],
    'status.capacity': rounded,
    'status.allocatable': computed((value, { capacity }) => roundAmounts(isGiven(value) ? value : capacity)),
  },
  prepare(object, before, { subresource }) {
    if (subresource !== '') return object;
    const { configSource: _, ...spec } = recordOf(object.spec);
    return before === undefined || isGiven(recordOf(object.spec).configSource) ? { ...object, spec } : object;
  },
  validate: (object) => [
    ...checkTaints(recordsOf(recordOf(object.spec).taints), 'metadata.taints'),
    ...checkResources(object),
    ...checkCidrs(stringsOf(recordOf(object.spec).podCIDRs)),
  ],
  warnings(object) {
    const { externalID, podCIDRs } = recordOf(object.spec);
    const unused = 'spec.externalID: this field is deprecated, and is unused by Kubernetes';
    return [
      ...(textOf(externalID) === '' ? [] : [unused]),
      ...stringsOf(podCIDRs).flatMap((cidr, i) => cidrWarnings(cidr, `spec.podCIDRs[${i}]`)),
    ];
  },
  validateUpdate: (object, before) => [...checkAddresses(object), ...checkKept(object, before)],
  validateStatus: (object) => [...checkResources(object), ...checkAddresses(object)],
};

/** The older field equals the first item of the newer one; a change of it alone applies to both. */
function podCidrs(all: readonly string[], one: string): readonly string[] | undefined {
  return one !== '' && all[0] !== one ? [one] : undefined;
}

function checkTaints(taints: readonly JsonObject[], path: string): FieldError[] {
  const known = new Set<string>();
  return taints.flatMap((taint, i) => {
    const [key, value, effect] = [textOf(taint.key), textOf(taint.value), textOf(taint.effect)];
    const at = `${path}[${i}]`;
    const problems = labelValue(value);
    const id = `${effect} ${key}`;
    const isKnown = known.has(id);
    known.add(id);
    return [
      ...checkText(qualifiedName, key, `${at}.key`),
      ...(problems.length === 0 ? [] : [invalid(`${at}.value`, value, problems.join(';'))]),
      ...checkEffect(effect, `${at}.effect`),
      ...(isKnown ? [repeated(taint, at)] : []),
    ];
  });
}

function checkEffect(effect: string, path: string): FieldError[] {
  if (effect === '') return [required(path)];
  return effects.includes(effect) ? [] : [notSupported(path, effect, effects)];
}

function repeated({ key, value, effect, timeAdded }: JsonObject, path: string): FieldError {
  // As Go prints what has no names for JSON.
  const shown = { Key: textOf(key), Value: textOf(value), Effect: textOf(effect), TimeAdded: timeAdded ?? null };
  const error = duplicate(path, shown);
  return { ...error, body: `${error.body}: taints must be unique by key and effect pair` };
}

function checkResources({ status }: JsonObject): FieldError[] {
  return ['capacity', 'allocatable'].flatMap((list) =>
    Object.entries(recordOf(recordOf(status)[list])).flatMap(([name, amount]) =>
      checkAmount(name, amount, `status.${list}.${name}`),
    ),
  );
}

function checkCidrs(cidrs: readonly string[]): FieldError[] {
  const errors = cidrs.flatMap((cidr, i) => checkCidr(cidr, `spec.podCIDRs[${i}]`));
  const parsed = cidrs.map(parseCidr);
  const wrong = parsed.indexOf(undefined);
  const families = new Set(parsed.map((cidr) => cidr?.ip.family));
  if (cidrs.length > 1 && wrong >= 0) {
    const why = `invalid CIDR[${wrong}]: <nil> (invalid CIDR address: ${cidrs[wrong]})`;
    const body = `Internal error: invalid PodCIDRs. failed to check with dual stack with error:${why}`;
    errors.push({ type: 'InternalError', field: 'spec.podCIDRs', body });
  }
  if (cidrs.length > 2 || (cidrs.length === 2 && (wrong >= 0 || families.size < 2))) {
    errors.push(invalid('spec.podCIDRs', cidrs, 'may specify no more than one CIDR for each IP family'));
  }
  return errors;
}

function checkAddresses({ status }: JsonObject): FieldError[] {
  const addresses = recordsOf(recordOf(status).addresses);
  return addresses.flatMap((one, i) => {
    if (addresses.findIndex((other) => equal(one, other)) === i) return [];
    return [duplicate(`status.addresses[${i}]`, { Type: textOf(one.type), Address: textOf(one.address) })];
  });
}

function checkKept(object: JsonObject, before: JsonObject): FieldError[] {
  const [spec, old] = [recordOf(object.spec), recordOf(before.spec)];
  const errors: FieldError[] = [];
  const refuse = (field: string, what: string) =>
    errors.push(forbidden(`spec.${field}`, `node updates may not change ${what} except from "" to valid`));
  const [now, then] = [stringsOf(spec.podCIDRs), stringsOf(old.podCIDRs)];
  if (then.length > 0 && now.length !== then.length) refuse('podCIDRs', 'podCIDR');
  else for (const [i, cidr] of then.entries()) if (cidr !== now[i]) refuse('podCIDRs', 'podCIDR');
  const [id, oldId] = [textOf(spec.providerID), textOf(old.providerID)];
  if (oldId !== '' && id !== oldId) refuse('providerID', 'providerID');
  if (textOf(spec.externalID) !== textOf(old.externalID)) {
    errors.push(forbidden('spec.externalID', 'may not be updated'));
  }
  return errors;
}
