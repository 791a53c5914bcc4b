import { equal, type JsonObject } from 'riata/object';
import { recordOf, textOf } from '../../resource/metadata.js';
import { byteLength } from '../../schema/name-rules.js';
import { type FieldError, forbidden, invalid, tooLong } from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import { configMapKey } from '../checks/text-rules.js';
import type { KindRules } from '../kind-rules.js';

/** How much a ConfigMap or a Secret may hold, keys not counted. */
export const maxDataBytes = 1024 * 1024;

export const configMapRules: KindRules = {
  validate(object) {
    const [data, binary] = [recordOf(object.data), recordOf(object.binaryData)];
    const size = textBytes(data) + base64Bytes(binary);
    return [
      ...checkKeys(data, 'data'),
      ...Object.keys(data)
        .filter((key) => Object.hasOwn(binary, key))
        .map((key) => invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')),
      ...checkKeys(binary, 'binaryData'),
      // It is the whole object that is too long, so no field is named.
      ...(size > maxDataBytes ? [tooLong('[]', maxDataBytes)] : []),
    ];
  },
  validateUpdate: (object, before) => checkFrozen(object, before, ['data', 'binaryData']),
};

export function checkKeys(data: JsonObject, path: string): FieldError[] {
  return Object.keys(data).flatMap((key) => checkText(configMapKey, key, `${path}[${key}]`));
}

/** The fields that `immutable: true` keeps from changing, itself included. */
export function checkFrozen(object: JsonObject, before: JsonObject, fields: readonly string[]): FieldError[] {
  if (before.immutable !== true) return [];
  const changed = fields.filter((field) => !equal(object[field] ?? {}, before[field] ?? {}));
  return [...(object.immutable === true ? [] : ['immutable']), ...changed].map((field) =>
    forbidden(field, 'field is immutable when `immutable` is set'),
  );
}

export function base64Bytes(data: JsonObject): number {
  return Object.values(data).reduce((sum: number, value) => {
    const text = textOf(value);
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
    return sum + (text.length / 4) * 3 - padding;
  }, 0);
}

function textBytes(data: JsonObject): number {
  return Object.values(data).reduce((sum: number, value) => sum + byteLength(textOf(value)), 0);
}
