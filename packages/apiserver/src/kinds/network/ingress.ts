import type { JsonObject } from 'riata/object';
import { isGiven, metaOf, numberOf, recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { dnsLabel, dnsSubdomain, pathSegmentName } from '../../schema/name-rules.js';
import { append } from '../../status/append.js';
import { type FieldError, invalid, notSupported, required } from '../../status/field-error.js';
import { checkPort, checkText } from '../checks/basic-checks.js';
import { parseIp } from '../checks/ip-address.js';
import { checkIp, ipWarnings } from '../checks/ip-checks.js';
import { portName, wildcardSubdomain } from '../checks/text-rules.js';
import type { KindRules } from '../kind-rules.js';

const classAnnotation = 'kubernetes.io/ingress.class';
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];

export const ingressRules: KindRules = {
  validate(object, before) {
    const spec = recordOf(object.spec);
    return [
      ...checkSpec(spec, { anySecretName: hasBadSecretName(before) }),
      ...(before === undefined ? checkClassAnnotation(object, spec) : []),
    ];
  },
  validateStatus(object, before) {
    const addresses = (of: JsonObject) => recordsOf(recordOf(recordOf(of.status).loadBalancer).ingress);
    const known = addresses(before).map(({ ip }) => textOf(ip));
    return addresses(object).flatMap((one, i) => checkAddress(one, known, `status.loadBalancer.ingress[${i}]`));
  },
  statusWarnings: (object) =>
    recordsOf(recordOf(recordOf(object.status).loadBalancer).ingress).flatMap(({ ip }, i) =>
      ipWarnings(textOf(ip), `status.loadBalancer.ingress[${i}]`),
    ),
  warnings(object, before) {
    const { annotations } = metaOf(object);
    const isOld = Object.hasOwn(recordOf(annotations), classAnnotation);
    if (before !== undefined || !isOld || recordOf(object.spec).ingressClassName !== undefined) return [];
    return [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`];
  },
};

/** Checks the address of a load balancer: an IP, or a hostname that is not an IP. */
export function checkAddress({ ip, hostname }: JsonObject, known: readonly string[], path: string): FieldError[] {
  const name = textOf(hostname);
  return [
    ...(textOf(ip) === '' ? [] : checkIp(textOf(ip), `${path}.ip`, known)),
    ...(name === '' ? [] : checkText(dnsSubdomain, name, `${path}.hostname`)),
    ...(name === '' ? [] : checkNoIp(name, `${path}.hostname`)),
  ];
}

function checkNoIp(name: string, path: string): FieldError[] {
  return parseIp(name) === undefined ? [] : [invalid(path, name, 'must be a DNS name, not an IP address')];
}

function checkClassAnnotation(object: JsonObject, { ingressClassName }: JsonObject): FieldError[] {
  const given = recordOf(metaOf(object).annotations)[classAnnotation];
  if (given === undefined || ingressClassName === undefined || given === ingressClassName) return [];
  return [invalid(`annotations.${classAnnotation}`, given, 'must match `ingressClassName` when both are specified')];
}

function hasBadSecretName(before: JsonObject | undefined): boolean {
  const names = recordsOf(recordOf(before?.spec).tls).map(({ secretName }) => textOf(secretName));
  return names.some((name) => name !== '' && dnsSubdomain(name).length > 0);
}

function checkSpec(spec: JsonObject, options: { readonly anySecretName: boolean }): FieldError[] {
  const { defaultBackend, ingressClassName } = spec;
  const rules = recordsOf(spec.rules);
  const errors: FieldError[] = [];
  if (rules.length === 0 && defaultBackend === undefined) {
    errors.push(invalid('spec', null, 'either `defaultBackend` or `rules` must be specified'));
  }
  if (defaultBackend !== undefined) append(errors, checkBackend(recordOf(defaultBackend), 'spec.defaultBackend'));
  for (const [i, rule] of rules.entries()) append(errors, checkRule(rule, `spec.rules[${i}]`));
  for (const [i, tls] of recordsOf(spec.tls).entries()) {
    for (const [j, host] of stringsOf(tls.hosts).entries()) {
      errors.push(
        ...checkText(host.includes('*') ? wildcardSubdomain : dnsSubdomain, host, `spec.tls[${i}].hosts[${j}]`),
      );
    }
    const name = textOf(tls.secretName);
    if (name !== '' && !options.anySecretName) {
      append(errors, checkText(dnsSubdomain, name, `spec.tls[${i}].secretName`));
    }
  }
  if (ingressClassName !== undefined) {
    append(errors, checkText(dnsSubdomain, textOf(ingressClassName), 'spec.ingressClassName'));
  }
  return errors;
}

function checkRule({ host, http }: JsonObject, path: string): FieldError[] {
  const name = textOf(host);
  const errors = name === '' ? [] : checkNoIp(name, `${path}.host`);
  if (name !== '') {
    append(errors, checkText(name.includes('*') ? wildcardSubdomain : dnsSubdomain, name, `${path}.host`));
  }
  if (http === undefined) return errors;
  const paths = recordsOf(recordOf(http).paths);
  if (paths.length === 0) errors.push(required(`${path}.http.paths`));
  return [...errors, ...paths.flatMap((one, i) => checkPath(one, `${path}.http.paths[${i}]`))];
}

function checkPath({ path, pathType, backend }: JsonObject, at: string): FieldError[] {
  if (!isGiven(pathType)) return [required(`${at}.pathType`, 'pathType must be specified')];
  const text = textOf(path);
  const errors: FieldError[] = [];
  const refuse = (detail: string) => errors.push(invalid(`${at}.path`, text, detail));
  const isFree = pathType === 'ImplementationSpecific';
  if (!pathTypes.includes(textOf(pathType))) errors.push(notSupported(`${at}.pathType`, pathType, pathTypes));
  else if (!text.startsWith('/') && !(isFree && text === '')) refuse('must be an absolute path');
  if (pathType === 'Exact' || pathType === 'Prefix') {
    for (const part of ['//', '/./', '/../', '%2f', '%2F'])
      if (text.includes(part)) refuse(`must not contain '${part}'`);
    for (const end of ['/..', '/.']) if (text.endsWith(end)) refuse(`cannot end with '${end}'`);
  }
  return [...errors, ...checkBackend(recordOf(backend), `${at}.backend`)];
}

function checkBackend({ resource, service }: JsonObject, path: string): FieldError[] {
  if (resource !== undefined && service !== undefined) {
    return [invalid(path, '', 'cannot set both resource and service backends')];
  }
  if (resource !== undefined) return checkReference(recordOf(resource), `${path}.resource`);
  if (service === undefined) return [invalid(path, '', 'resource or service backend is required')];
  const { name, port } = recordOf(service);
  const [portText, portNumber] = [textOf(recordOf(port).name), numberOf(recordOf(port).number)];
  const errors =
    textOf(name) === ''
      ? [required(`${path}.service.name`)]
      : checkText(dnsLabel, textOf(name), `${path}.service.name`);
  if (portText !== '' && portNumber !== 0) errors.push(invalid(path, '', 'cannot set both port name & port number'));
  else if (portText !== '') append(errors, checkText(portName, portText, `${path}.service.port.name`));
  else if (portNumber !== 0) append(errors, checkPort(portNumber, `${path}.service.port.number`));
  else errors.push(required(path, 'port name or number is required'));
  return errors;
}

/** An object of any group, in the same namespace or in none. */
export function checkReference({ apiGroup, kind, name }: JsonObject, path: string): FieldError[] {
  const given = (text: string, at: string) => (text === '' ? [required(at)] : checkText(pathSegmentName, text, at));
  return [
    ...(!isGiven(apiGroup) ? [] : checkText(dnsSubdomain, textOf(apiGroup), `${path}.apiGroup`)),
    ...given(textOf(kind), `${path}.kind`),
    ...given(textOf(name), `${path}.name`),
  ];
}
