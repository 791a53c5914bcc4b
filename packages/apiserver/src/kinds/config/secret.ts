import { Buffer } from 'node:buffer';
import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { goJsonError } from '../../http/body/go-json-error.js';
import { metaOf, recordOf, textOf } from '../../resource/metadata.js';
import { checkImmutable } from '../../schema/object-meta.js';
import { type FieldError, invalid, required, tooLong } from '../../status/field-error.js';
import type { KindRules } from '../kind-rules.js';
import { base64Bytes, checkFrozen, checkKeys, maxDataBytes } from './config-map.js';
import { tlsPairProblem } from './tls-pair-problem.js';

/** The required data of Secrets by type, under upstream's names. */
const contents: Readonly<Record<string, (data: JsonObject, secret: JsonObject) => FieldError[]>> = {
  'kubernetes.io/service-account-token': (_, secret) => {
    const key = 'kubernetes.io/service-account.name';
    return textOf(recordOf(metaOf(secret).annotations)[key]) === '' ? [required(`metadata.annotations[${key}]`)] : [];
  },
  'kubernetes.io/dockercfg': (data) => checkJson(data, '.dockercfg'),
  'kubernetes.io/dockerconfigjson': (data) => checkJson(data, '.dockerconfigjson'),
  'kubernetes.io/basic-auth': (data) =>
    Object.hasOwn(data, 'username') || Object.hasOwn(data, 'password')
      ? []
      : [required('data[username]'), required('data[password]')],
  'kubernetes.io/ssh-auth': (data) => (textOf(data['ssh-privatekey']) === '' ? [required('data[ssh-privatekey]')] : []),
  'kubernetes.io/tls': (data) =>
    ['tls.crt', 'tls.key'].filter((key) => !Object.hasOwn(data, key)).map((key) => required(`data[${key}]`)),
};

export const secretRules: KindRules = {
  defaults: fold,
  validate(object) {
    const data = recordOf(object.data);
    return [
      ...checkKeys(data, 'data'),
      ...(base64Bytes(data) > maxDataBytes ? [tooLong('data', maxDataBytes)] : []),
      ...(contents[textOf(object.type)]?.(data, object) ?? []),
    ];
  },
  warnings(object) {
    if (object.type !== 'kubernetes.io/tls') return [];
    const bytes = (key: string) => Buffer.from(textOf(recordOf(object.data)[key]), 'base64');
    return [tlsPairProblem(bytes('tls.crt'), bytes('tls.key'))].filter((problem) => problem !== undefined);
  },
  validateUpdate: (object, before) => [
    ...checkImmutable(textOf(object.type), textOf(before.type), 'type'),
    ...checkFrozen(object, before, ['data']),
  ],
};

/** `stringData` is a way to write `data`. */
function fold(object: JsonObject): JsonObject {
  const { stringData, ...rest } = object;
  const typed = textOf(rest.type) === '' ? { ...rest, type: 'Opaque' } : rest;
  if (!isJsonObject(stringData) || Object.keys(stringData).length === 0) {
    return typed === rest && stringData === undefined ? object : typed;
  }
  const encoded = Object.entries(stringData).map(([k, v]) => [k, Buffer.from(textOf(v)).toString('base64')]);
  return { ...typed, data: { ...recordOf(rest.data as Json), ...Object.fromEntries(encoded) } };
}

/** The contents are never shown, whatever is wrong with them. */
function checkJson(data: JsonObject, key: string): FieldError[] {
  const path = `data[${key}]`;
  if (!Object.hasOwn(data, key)) return [required(path)];
  const problem = jsonProblem(Buffer.from(textOf(data[key]), 'base64'));
  return problem === undefined ? [] : [invalid(path, '<secret contents redacted>', problem)];
}

/** Why the text is no JSON object, in Go's words. */
function jsonProblem(bytes: Buffer): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    return goJsonError(bytes.toString('latin1'));
  }
  if (value === null || isJsonObject(value)) return undefined;
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
}
