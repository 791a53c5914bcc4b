import type { JsonObject } from 'riata/object';
import { isGiven, metaOf, numberOf, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { dns1035Label, dnsSubdomain, pathSegmentName } from '../../schema/name-rules.js';
import { type FieldError, invalid, notSupported, required } from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import { base64Bytes } from '../config/config-map.js';
import type { KindRules } from '../kind-rules.js';

export const apiServiceRules: KindRules = {
  nameRule: pathSegmentName,
  defaults: { 'spec.service.port': 443 },
  prepare(object, before, { now }) {
    if (before !== undefined || isGiven(recordOf(object.spec).service)) return object;
    const condition = {
      type: 'Available',
      status: 'True',
      lastTransitionTime: now,
      reason: 'Local',
      message: 'Local APIServices are always available',
    };
    return { ...object, status: { conditions: [condition] } };
  },
  validate: (object) => [...checkName(object), ...checkSpec(recordOf(object.spec))],
  validateStatus: (object) =>
    recordsOf(recordOf(object.status).conditions).flatMap(({ status }, i) => {
      const known = ['True', 'False', 'Unknown'];
      const path = `status.conditions[${i}].status`;
      return known.includes(textOf(status)) ? [] : [notSupported(path, textOf(status), known)];
    }),
};

function checkName(object: JsonObject): FieldError[] {
  const name = textOf(metaOf(object).name);
  const { group, version } = recordOf(object.spec);
  const expected = `${textOf(version)}.${textOf(group)}`;
  if (name === expected || pathSegmentName(name).length > 0) return [];
  const detail = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expected)}`;
  return [invalid('metadata.name', name, detail)];
}

function checkSpec(spec: JsonObject): FieldError[] {
  const [group, version] = [textOf(spec.group), textOf(spec.version)];
  const inRange = (field: string, max: number) => {
    const value = numberOf(spec[field]);
    return value > 0 && value <= max ? [] : [invalid(`spec.${field}`, value, `must be positive and less than ${max}`)];
  };
  const legacy = 'only v1 may have an empty group and it better be legacy kube';
  return [
    ...(group === '' && version !== 'v1' ? [required('spec.group', legacy)] : []),
    ...(group === '' ? [] : checkText(dnsSubdomain, group, 'spec.group')),
    ...checkText(dns1035Label, version, 'spec.version'),
    ...inRange('groupPriorityMinimum', 20_000),
    ...inRange('versionPriority', 1000),
    ...(isGiven(spec.service) ? checkRemote(spec, recordOf(spec.service)) : checkLocal(spec)),
  ];
}

function checkLocal({ caBundle, insecureSkipTLSVerify }: JsonObject): FieldError[] {
  const bytes = base64Bytes({ caBundle: textOf(caBundle) });
  const errors: FieldError[] = [];
  if (bytes > 0) errors.push(invalid('spec.caBundle', `${bytes} bytes`, 'local APIServices may not have a caBundle'));
  if (insecureSkipTLSVerify === true) {
    errors.push(invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify'));
  }
  return errors;
}

function checkRemote({ caBundle, insecureSkipTLSVerify }: JsonObject, service: JsonObject): FieldError[] {
  const port = numberOf(service.port);
  const errors = ['namespace', 'name']
    .filter((field) => textOf(service[field]) === '')
    .map((field) => required(`spec.service.${field}`));
  if (port < 1 || port > 65_535) {
    errors.push(invalid('spec.service.port', port, 'port is not valid: must be between 1 and 65535, inclusive'));
  }
  if (insecureSkipTLSVerify === true && textOf(caBundle) !== '') {
    errors.push(invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'));
  }
  return errors;
}
