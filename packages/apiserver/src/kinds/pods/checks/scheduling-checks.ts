import type { Json, JsonObject } from 'riata/object';
import { recordOf, recordsOf, stringsOf, textOf } from '../../../resource/metadata.js';
import { dnsSubdomain, labelValue, qualifiedName } from '../../../schema/name-rules.js';
import { append } from '../../../status/append.js';
import { duplicate, type FieldError, invalid, notSupported, required } from '../../../status/field-error.js';
import { checkText } from '../../checks/basic-checks.js';
import { checkIp } from '../../checks/ip-checks.js';
import { byPattern } from '../../checks/text-rules.js';

/** The problems of tolerations (`ValidateTolerations`). */
export function checkTolerations(given: Json | undefined, path: string): FieldError[] {
  return recordsOf(given).flatMap((toleration, index) => checkToleration(toleration, `${path}[${index}]`));
}

function checkToleration(toleration: JsonObject, path: string): FieldError[] {
  const [key, operator, value, effect] = ['key', 'operator', 'value', 'effect'].map((f) => textOf(toleration[f])) as [
    string,
    string,
    string,
    string,
  ];
  const errors = key === '' ? [] : checkText(qualifiedName, key, `${path}.key`);
  if (key === '' && operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(invalid(`${path}.operator`, operator, detail));
  }
  if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
    errors.push(invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  append(errors, checkTolerationValue(operator, value, `${path}.operator`));
  const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
  if (effect !== '' && !effects.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, effects));
  return errors;
}

function checkTolerationValue(operator: string, value: string, path: string): FieldError[] {
  switch (operator) {
    case '':
    case 'Equal': {
      const problems = labelValue(value);
      return problems.length === 0 ? [] : [invalid(path, value, problems.join(';'))];
    }
    case 'Exists':
      return value === '' ? [] : [invalid(path, value, "value must be empty when `operator` is 'Exists'")];
    case 'Lt':
    case 'Gt':
      return [notSupported(path, operator, ['Equal', 'Exists', 'Lt', 'Gt'])];
    default:
      return [notSupported(path, operator, ['Equal', 'Exists'])];
  }
}

/** The problems of scheduling gates. */
export function checkSchedulingGates(given: Json | undefined, path: string): FieldError[] {
  const seen = new Set<string>();
  return recordsOf(given).flatMap((gate, index) => {
    const name = textOf(gate.name);
    const errors = checkText(qualifiedName, name, `${path}[${index}]`);
    if (seen.has(name)) errors.push(duplicate(`${path}[${index}]`, name));
    seen.add(name);
    return errors;
  });
}

const search = byPattern(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
  '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*',
  'example.com',
);

/** The problems of the DNS config of a Pod (`validatePodDNSConfig`). */
export function checkDnsConfig(spec: JsonObject, path: string): FieldError[] {
  const config = recordOf(spec.dnsConfig);
  const [servers, searches] = [stringsOf(config.nameservers), stringsOf(config.searches)];
  if (spec.dnsPolicy === 'None') {
    if (spec.dnsConfig === undefined) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (servers.length === 0) {
      const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      return [required(`${path}.nameservers`, detail)];
    }
  }
  const errors: FieldError[] = [];
  if (servers.length > 3) {
    errors.push(invalid(`${path}.nameservers`, servers, 'must not have more than 3 nameservers'));
  }
  if (searches.length > 32) {
    errors.push(invalid(`${path}.searches`, searches, 'must not have more than 32 search paths'));
  }
  if (searches.join(' ').length > 2048) {
    const detail = 'must not have more than 2048 characters (including spaces) in the search list';
    errors.push(invalid(`${path}.searches`, searches, detail));
  }
  return [
    ...errors,
    ...servers.flatMap((server, i) => checkIp(server, `${path}.nameservers[${i}]`)),
    ...searches.flatMap((one, i) =>
      one === '.' ? [] : checkText(search, one.replace(/\.$/, ''), `${path}.searches[${i}]`),
    ),
    ...recordsOf(config.options).flatMap(({ name }, i) =>
      textOf(name) === '' ? [required(`${path}.options[${i}]`, 'must not be empty')] : [],
    ),
  ];
}

/** The problems of host aliases (`ValidateHostAliases`). */
export function checkHostAliases(given: Json | undefined, path: string): FieldError[] {
  return recordsOf(given).flatMap((alias, index) => [
    ...checkIp(textOf(alias.ip), `${path}[${index}].ip`),
    ...stringsOf(alias.hostnames).flatMap((name, i) =>
      checkText(dnsSubdomain, name, `${path}[${index}].hostnames[${i}]`),
    ),
  ]);
}
