import type { Json, JsonObject } from 'riata/object';
import { recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import { dnsLabel, dnsSubdomain, dnsSubdomainName, qualifiedName } from '../../../schema/name-rules.js';
import { append } from '../../../status/append.js';
import { type FieldError, invalid, notSupported, required } from '../../../status/field-error.js';
import { checkText } from '../../checks/basic-checks.js';
import { configMapKey, envVarName } from '../../checks/text-rules.js';
import { checkNoBacksteps } from './path-checks.js';

/** The problems of the environment of a container (`ValidateEnv`, `ValidateEnvFrom`). */
export function checkEnvironment(container: JsonObject, path: string): FieldError[] {
  return [
    ...recordsOf(container.env).flatMap((one, index) => checkVariable(one, `${path}.env[${index}]`)),
    ...recordsOf(container.envFrom).flatMap((one, index) => checkSource(one, `${path}.envFrom`, index)),
  ];
}

function checkVariable(variable: JsonObject, path: string): FieldError[] {
  const name = textOf(variable.name);
  return [
    ...(name === '' ? [required(`${path}.name`)] : checkText(envVarName, name, `${path}.name`)),
    ...(variable.valueFrom === undefined ? [] : checkValueFrom(variable, `${path}.valueFrom`)),
  ];
}

type Check = (source: JsonObject, path: string) => FieldError[];

const sources: Readonly<Record<string, Check>> = {
  fieldRef: (ref, path) => checkFieldRef(ref, environmentFields, path),
  resourceFieldRef: (ref, path) => checkResourceRef(ref, path),
  configMapKeyRef: checkKeyRef,
  secretKeyRef: checkKeyRef,
  fileKeyRef: checkFileKey,
};

function checkValueFrom({ value, valueFrom }: JsonObject, path: string): FieldError[] {
  const from = recordOf(valueFrom);
  const given = Object.keys(sources).filter((name) => from[name] !== undefined);
  const errors = given.flatMap((name) => sources[name]?.(recordOf(from[name]), `${path}.${name}`) ?? []);
  if (given.length === 0) {
    const all = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    errors.push(invalid(path, '', `must specify one of: ${all}`));
  } else if (textOf(value) !== '') errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  else if (given.length > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  return errors;
}

const environmentFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** Fields that files of a volume can be made of. */
export const volumeFields = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

const knownFields: ReadonlySet<string> = new Set([
  ...environmentFields,
  ...volumeFields,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

/** A field of the Pod itself (`validateObjectFieldSelector`). */
export function checkFieldRef(ref: JsonObject, allowed: readonly string[], path: string): FieldError[] {
  const [apiVersion, field] = [textOf(ref.apiVersion), textOf(ref.fieldPath)];
  if (apiVersion === '') return [required(`${path}.apiVersion`)];
  if (field === '') return [required(`${path}.fieldPath`)];
  const at = `${path}.fieldPath`;
  if (apiVersion !== 'v1') {
    return [invalid(at, field, `error converting fieldPath: unsupported pod version: ${apiVersion}`)];
  }
  const key = /^(.+?)\['(.*)'\]$/s.exec(field);
  if (key !== null) {
    const [, list = '', name = ''] = key;
    if (list === 'metadata.annotations') return checkText(qualifiedName, name.toLowerCase(), path);
    if (list === 'metadata.labels') return checkText(qualifiedName, name, path);
    const why = `field label does not support subscript: ${field}`;
    return [invalid(at, field, `error converting fieldPath: ${why}`)];
  }
  if (!knownFields.has(field)) {
    return [invalid(at, field, `error converting fieldPath: field label not supported: ${field}`)];
  }
  return allowed.includes(field) ? [] : [notSupported(at, field, allowed)];
}

const resources = ['limits.cpu', 'limits.ephemeral-storage', 'limits.memory'].flatMap((name) => [
  name,
  name.replace('limits', 'requests'),
]);
const sizes = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** A reference to a container's requests or limits (`validateContainerResourceFieldSelector`). */
export function checkResourceRef(ref: JsonObject, path: string, ofVolume = false): FieldError[] {
  const resource = textOf(ref.resource);
  const errors: FieldError[] = [];
  if (ofVolume && textOf(ref.containerName) === '') errors.push(required(`${path}.containerName`));
  else if (resource === '') errors.push(required(`${path}.resource`));
  else if (!resources.includes(resource) && !/^(requests|limits)\.hugepages-/.test(resource)) {
    errors.push(notSupported(`${path}.resource`, resource, [...resources].sort()));
  }
  return [...errors, ...checkDivisor(resource, ref.divisor, path)];
}

function checkDivisor(resource: string, divisor: Json | undefined, path: string): FieldError[] {
  if (divisor === undefined || divisor === '0') return [];
  const name = resource.replace(/^(requests|limits)\./, '');
  const allowed = name === 'cpu' ? ['1m', '1'] : sizes;
  const known = { cpu: 'cpu', memory: 'memory', 'ephemeral-storage': 'local ephemeral storage' }[name];
  const what = known ?? (name.startsWith('hugepages-') ? 'hugepages' : undefined);
  if (what === undefined || allowed.includes(String(divisor))) return [];
  const values = name === 'cpu' ? '1m and 1' : sizes.join(', ');
  return [
    invalid(`${path}.divisor`, resource, `only divisor's values ${values} are supported with the ${what} resource`),
  ];
}

function checkKeyRef(ref: JsonObject, path: string): FieldError[] {
  return [
    ...checkText(dnsSubdomain, textOf(ref.name), `${path}.name`),
    ...(textOf(ref.key) === '' ? [required(`${path}.key`)] : checkText(configMapKey, textOf(ref.key), `${path}.key`)),
  ];
}

function checkFileKey(ref: JsonObject, path: string): FieldError[] {
  const [key, volume, file] = [textOf(ref.key), textOf(ref.volumeName), textOf(ref.path)];
  return [
    ...(key === '' ? [required(`${path}.key`)] : checkText(envVarName, key, `${path}.key`)),
    ...(volume === '' ? [required(`${path}.volumeName`)] : checkText(dnsLabel, volume, `${path}.volumeName`)),
    ...(file === '' ? [required(`${path}.path`)] : checkNoBacksteps(file, `${path}.path`)),
  ];
}

function checkSource(source: JsonObject, path: string, index: number): FieldError[] {
  const at = `${path}[${index}]`;
  const given = ['configMapRef', 'secretRef'].filter((name) => source[name] !== undefined);
  const errors = textOf(source.prefix) === '' ? [] : checkText(envVarName, textOf(source.prefix), `${at}.prefix`);
  for (const ref of given) {
    const name = textOf(recordOf(source[ref]).name);
    const rule = (text: string) => dnsSubdomainName(text, true);
    append(errors, name === '' ? [required(`${at}.${ref}.name`)] : checkText(rule, name, `${at}.${ref}.name`));
  }
  if (given.length === 0) errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
  if (given.length > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  return errors;
}
