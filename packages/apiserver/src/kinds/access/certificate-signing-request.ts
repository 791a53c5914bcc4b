import { Buffer } from 'node:buffer';
import { equal, type JsonObject } from 'riata/object';
import { isGiven, numberOf, recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { byteLength, dnsLabel, dnsSubdomain, pathSegmentName } from '../../schema/name-rules.js';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../status/field-error.js';
import { goQuote } from '../../status/go-quote.js';
import { checkRequiredEnum } from '../checks/basic-checks.js';
import type { KindRules, PrepareContext } from '../kind-rules.js';
import { certificateRequestProblem } from './certificate-request.js';

const usages = [
  ...['any', 'cert sign', 'client auth', 'code signing', 'content commitment', 'crl sign', 'data encipherment'],
  ...['decipher only', 'digital signature', 'email protection', 'encipher only', 'ipsec end system', 'ipsec tunnel'],
  ...['ipsec user', 'key agreement', 'key encipherment', 'microsoft sgc', 'netscape sgc', 'ocsp signing', 's/mime'],
  ...['server auth', 'signing', 'timestamping'],
];
const decisions = ['Approved', 'Denied'];
/** Conditions that are there or not, but never false. */
const lasting = [...decisions, 'Failed'];
const minSeconds = 600;

export const certificateSigningRequestRules: KindRules = {
  nameRule: pathSegmentName,
  resets: {
    '': [['spec'], ['status']],
    status: [['spec'], ['status', 'conditions']],
    approval: [['spec'], ['status', 'certificate']],
  },
  prepare,
  validate: (object, before) => (before === undefined ? checkRequest(recordOf(object.spec)) : []),
  validateUpdate: (object, before, subresource) =>
    subresource === 'approval' ? checkStatus(object, before, 'approval') : [],
  validateStatus: (object, before) => checkStatus(object, before, 'status'),
};

/** The server sets the user; the spec stays; conditions get their times. */
function prepare(object: JsonObject, before: JsonObject | undefined, context: PrepareContext): JsonObject {
  const { now, subresource, user = {} } = context;
  if (before === undefined) {
    const { username: _n, uid: _u, groups: _g, extra: _e, ...spec } = recordOf(object.spec);
    const { username, uid, groups, extra } = user;
    const asked = Object.entries({ username, uid, groups, extra }).filter(([, value]) => isGiven(value));
    return { ...object, spec: { ...spec, ...Object.fromEntries(asked) }, status: {} };
  }
  if (subresource === '') return { ...object, spec: recordOf(before.spec) };
  const old = recordsOf(recordOf(before.status).conditions);
  const conditions = recordsOf(recordOf(object.status).conditions).map((condition) => {
    const same = old.find(({ type, status }) => type === condition.type && status === condition.status);
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? same?.lastTransitionTime ?? now,
    };
  });
  return conditions.length === 0 ? object : { ...object, status: { ...recordOf(object.status), conditions } };
}

function checkRequest(spec: JsonObject): FieldError[] {
  const given = stringsOf(spec.usages);
  const seconds = spec.expirationSeconds;
  const request = Buffer.from(textOf(spec.request), 'base64').toString('latin1');
  const problem = certificateRequestProblem(request);
  return [
    ...(problem === undefined ? [] : [invalid('spec.request', spec.request ?? null, problem)]),
    ...(given.length === 0 ? [required('spec.usages')] : []),
    ...given.flatMap((usage, i) => [
      ...(usages.includes(usage) ? [] : [notSupported(`spec.usages[${i}]`, usage, usages)]),
      ...(given.indexOf(usage) < i ? [duplicate(`spec.usages[${i}]`, usage)] : []),
    ]),
    ...checkSigner(textOf(spec.signerName), 'spec.signerName'),
    ...(isGiven(seconds) && numberOf(seconds) < minSeconds
      ? [invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 600 seconds (10 minutes)')]
      : []),
  ];
}

function checkSigner(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)];
  if (name === 'kubernetes.io/legacy-unknown') {
    return [invalid(path, name, 'the legacy signerName is not allowed via this API version')];
  }
  const [domain = '', rest = '', ...more] = name.split('/');
  if (!name.includes('/') || more.length > 0) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalid(path, name, detail)];
  }
  const first = (labels: readonly string[], rule: (label: string) => readonly string[]) => {
    const wrong = labels.find((label) => rule(label).length > 0);
    return wrong === undefined ? [] : rule(wrong).map((problem) => `validating label ${goQuote(wrong)}: ${problem}`);
  };
  const labels = domain.split('.');
  return [
    ...(byteLength(domain) > 253 ? [tooLong(path, 253)] : []),
    ...first(labels, dnsLabel).map((problem) => invalid(path, domain, problem)),
    ...(labels.length < 2
      ? [invalid(path, domain, 'should be a domain with at least two segments separated by dots')]
      : []),
    ...first(rest.split('.'), dnsSubdomain).map((problem) => invalid(path, rest, problem)),
    ...(byteLength(name) > 571 ? [tooLong(path, 571)] : []),
  ];
}

function checkStatus(object: JsonObject, before: JsonObject, subresource: 'approval' | 'status'): FieldError[] {
  const path = 'status.conditions';
  const [status, old] = [recordOf(object.status), recordOf(before.status)];
  const of = (one: JsonObject, type: string) =>
    recordsOf(one.conditions).filter((condition) => condition.type === type);
  const errors = checkConditions(recordsOf(status.conditions), path);
  for (const type of lasting) {
    const [now, then] = [of(status, type), of(old, type)];
    const refuse = (what: string, more = '') =>
      errors.push(forbidden(path, `updates may not ${what} a condition of type ${goQuote(type)}${more}`));
    if (now.length < then.length) refuse('remove');
    else if (subresource === 'approval' || type === 'Failed') continue;
    else if (now.length > then.length) refuse('add');
    else if (!equal(now, then)) refuse('modify', '\n');
  }
  const [certificate, known] = [textOf(status.certificate), textOf(old.certificate)];
  if (certificate !== known) {
    if (subresource === 'approval')
      errors.push(forbidden('status.certificate', 'updates may not set certificate content'));
    else if (known !== '') {
      errors.push(forbidden('status.certificate', 'updates may not modify existing certificate content'));
    }
    const problem = certificateProblem(certificate);
    if (problem !== undefined) errors.push(invalid('status.certificate', '<certificate data>', problem));
  }
  return errors;
}

function certificateProblem(base64: string): string | undefined {
  if (base64 === '') return undefined;
  const text = Buffer.from(base64, 'base64').toString('latin1');
  const types = [...text.matchAll(/-----BEGIN ([^-\n]*)-----\r?\n[\s\S]*?-----END \1-----/g)].map(([, type]) => type);
  if (types.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  const other = types.find((type) => type !== 'CERTIFICATE');
  return other === undefined ? undefined : `only CERTIFICATE PEM blocks are allowed, found ${goQuote(other)}`;
}

function checkConditions(conditions: readonly JsonObject[], path: string): FieldError[] {
  const types = conditions.map(({ type }) => textOf(type));
  const isBoth = decisions.every((type) => types.includes(type));
  const second = types.filter((type) => decisions.includes(type)).at(-1);
  return [
    ...conditions.flatMap(({ status }, i) => [
      ...(types[i] === '' ? [required(`${path}[${i}].type`)] : []),
      ...checkRequiredEnum(
        status,
        lasting.includes(types[i] ?? '') ? ['True'] : ['False', 'True', 'Unknown'],
        `${path}[${i}].status`,
      ),
      ...(types.indexOf(types[i] as string) < i ? [duplicate(`${path}[${i}].type`, types[i])] : []),
    ]),
    ...(isBoth ? [invalid(path, second, 'Approved and Denied conditions are mutually exclusive')] : []),
  ];
}
