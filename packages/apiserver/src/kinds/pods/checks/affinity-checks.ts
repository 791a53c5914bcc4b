import type { Json, JsonObject } from 'riata/object';
import { numberOf, recordOf, recordsOf, stringsOf, textOf } from '../../../resource/metadata.js';
import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../../../schema/name-rules.js';
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../../status/field-error.js';
import { checkEnum, checkPositive, checkText } from '../../checks/basic-checks.js';
import { checkLabelSelector } from '../../checks/label-selector.js';

const always = 'requiredDuringSchedulingIgnoredDuringExecution';
const ifPossible = 'preferredDuringSchedulingIgnoredDuringExecution';

/** The problems of a Pod's affinity. */
export function checkAffinity(given: Json | undefined, path: string): FieldError[] {
  if (given === undefined) return [];
  const { nodeAffinity, podAffinity, podAntiAffinity } = recordOf(given);
  return [
    ...checkNodeAffinity(recordOf(nodeAffinity), `${path}.nodeAffinity`),
    ...checkPodAffinity(recordOf(podAffinity), `${path}.podAffinity`),
    ...checkPodAffinity(recordOf(podAntiAffinity), `${path}.podAntiAffinity`),
  ];
}

function checkNodeAffinity(affinity: JsonObject, path: string): FieldError[] {
  const must = affinity[always];
  return [
    ...(must === undefined ? [] : checkNodeSelector(recordOf(must), `${path}.${always}`)),
    ...recordsOf(affinity[ifPossible]).flatMap((term, index) => [
      ...checkWeight(term, `${path}.${ifPossible}[${index}]`),
      ...checkNodeTerm(recordOf(term.preference), `${path}.${ifPossible}[${index}].preference`, false),
    ]),
  ];
}

/** The problems of a node selector (`ValidateNodeSelector`). */
export function checkNodeSelector(selector: JsonObject, path: string): FieldError[] {
  const terms = recordsOf(selector.nodeSelectorTerms);
  const at = `${path}.nodeSelectorTerms`;
  if (terms.length === 0) return [required(at, 'must have at least one node selector term')];
  return terms.flatMap((term, index) => checkNodeTerm(term, `${at}[${index}]`, true));
}

function checkNodeTerm(term: JsonObject, path: string, strict: boolean): FieldError[] {
  return [
    ...recordsOf(term.matchExpressions).flatMap((one, i) =>
      checkNodeRequirement(one, `${path}.matchExpressions[${i}]`, strict),
    ),
    ...recordsOf(term.matchFields).flatMap((one, i) => checkNodeField(one, `${path}.matchFields[${i}]`)),
  ];
}

function checkNodeRequirement(one: JsonObject, path: string, strict: boolean): FieldError[] {
  const values = stringsOf(one.values);
  return [
    ...checkNodeOperator(textOf(one.operator), values.length, path),
    ...checkText(qualifiedName, textOf(one.key), `${path}.key`),
    ...(strict ? values.flatMap((value, i) => checkText(labelValue, value, `${path}.values[${i}]`)) : []),
  ];
}

function checkNodeOperator(operator: string, values: number, path: string): FieldError[] {
  const at = `${path}.values`;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values > 0 ? [] : [required(at, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (values === 0) return [];
      return [forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case 'Gt':
    case 'Lt':
      return values === 1 ? [] : [required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}

function checkNodeField(one: JsonObject, path: string): FieldError[] {
  const [operator, key, values] = [textOf(one.operator), textOf(one.key), stringsOf(one.values)];
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  } else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(`${path}.values`, detail));
  }
  if (key !== 'metadata.name') return [...errors, invalid(`${path}.key`, key, 'not a valid field selector key')];
  return [...errors, ...values.flatMap((value, i) => checkText(dnsSubdomain, value, `${path}.values[${i}]`))];
}

function checkWeight({ weight }: JsonObject, path: string): FieldError[] {
  const value = numberOf(weight);
  return value < 1 || value > 100 ? [invalid(`${path}.weight`, value, 'must be in the range 1-100')] : [];
}

function checkPodAffinity(affinity: JsonObject, path: string): FieldError[] {
  return [
    ...recordsOf(affinity[always]).flatMap((term, index) => checkPodTerm(term, `${path}.${always}[${index}]`)),
    ...recordsOf(affinity[ifPossible]).flatMap((term, index) => [
      ...checkWeight(term, `${path}.${ifPossible}[${index}]`),
      ...checkPodTerm(recordOf(term.podAffinityTerm), `${path}.${ifPossible}[${index}].podAffinityTerm`),
    ]),
  ];
}

function checkPodTerm(term: JsonObject, path: string): FieldError[] {
  const key = textOf(term.topologyKey);
  return [
    ...checkLabelSelector(term.labelSelector, `${path}.labelSelector`),
    ...checkLabelSelector(term.namespaceSelector, `${path}.namespaceSelector`),
    ...stringsOf(term.namespaces).flatMap((name) => checkText(dnsLabel, name, `${path}.namespace`)),
    ...checkLabelKeys(term, path),
    ...(key === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...checkText(qualifiedName, key, `${path}.topologyKey`),
  ];
}

/** Labels whose values are those of the Pod itself. */
function checkLabelKeys(term: JsonObject, path: string): FieldError[] {
  const [match, mismatch] = [stringsOf(term.matchLabelKeys), stringsOf(term.mismatchLabelKeys)];
  if (match.length === 0 && mismatch.length === 0) return [];
  const keys = (names: readonly string[], at: string): FieldError[] => {
    if (names.length === 0) return [];
    if (term.labelSelector === undefined) return [forbidden(at, 'must not be specified when labelSelector is not set')];
    return names.flatMap((name, i) => checkText(qualifiedName, name, `${at}[${i}]`));
  };
  const { matchLabels, matchExpressions } = recordOf(term.labelSelector);
  const seen = new Set(Object.keys(recordOf(matchLabels)));
  const twice = recordsOf(matchExpressions).flatMap(({ key }) => {
    const name = textOf(key);
    const index = match.lastIndexOf(name);
    const found = index >= 0 && seen.has(name);
    seen.add(name);
    return found ? [invalid(`${path}[${index}]`, name, 'exists in both matchLabelKeys and labelSelector')] : [];
  });
  const both = match.flatMap((name, index) =>
    mismatch.includes(name)
      ? [invalid(`${path}.matchLabelKeys[${index}]`, name, 'exists in both matchLabelKeys and mismatchLabelKeys')]
      : [],
  );
  return [...keys(match, `${path}.matchLabelKeys`), ...keys(mismatch, `${path}.mismatchLabelKeys`), ...twice, ...both];
}

/** The problems of topology spread constraints (`validateTopologySpreadConstraints`). */
export function checkSpread(given: Json | undefined, path: string): FieldError[] {
  const constraints = recordsOf(given);
  const idOf = (one: JsonObject) => `{${textOf(one.topologyKey)}, ${textOf(one.whenUnsatisfiable)}}`;
  return constraints.flatMap((one, index) => {
    const at = `${path}[${index}]`;
    const repeated = constraints.slice(index + 1).some((other) => idOf(other) === idOf(one));
    return [
      ...checkPositive(numberOf(one.maxSkew), `${at}.maxSkew`),
      ...(textOf(one.topologyKey) === '' ? [required(`${at}.topologyKey`, 'can not be empty')] : []),
      ...checkAction(textOf(one.whenUnsatisfiable), `${at}.whenUnsatisfiable`),
      ...(repeated ? [duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, idOf(one))] : []),
      ...checkMinDomains(one, `${at}.minDomains`),
      ...checkEnum(one.nodeAffinityPolicy, ['Honor', 'Ignore'], `${at}.nodeAffinityPolicy`),
      ...checkEnum(one.nodeTaintsPolicy, ['Honor', 'Ignore'], `${at}.nodeTaintsPolicy`),
      ...checkLabelKeys(one, at),
      ...checkLabelSelector(one.labelSelector, `${at}.labelSelector`),
    ];
  });
}

function checkAction(action: string, path: string): FieldError[] {
  const actions = ['DoNotSchedule', 'ScheduleAnyway'];
  return actions.includes(action) ? [] : [notSupported(path, action, actions)];
}

function checkMinDomains({ minDomains, whenUnsatisfiable: action }: JsonObject, path: string): FieldError[] {
  if (minDomains === undefined) return [];
  const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${textOf(action)}`;
  return [
    ...checkPositive(minDomains, path),
    ...(action === 'DoNotSchedule' ? [] : [invalid(path, minDomains, detail)]),
  ];
}
