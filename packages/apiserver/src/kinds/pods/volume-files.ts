import type { Json, JsonObject } from 'riata/object';
import { numberOf, recordOf, textOf } from '../../resource/metadata.js';
import { append } from '../../status/append.js';
import { type FieldError, invalid, required } from '../../status/field-error.js';
import { checkFieldRef, checkResourceRef, volumeFields } from './checks/env-checks.js';
import { checkNonReserved } from './checks/path-checks.js';

const modes = 'must be a number between 0 and 0777 (octal), both inclusive';

/** The problems of a part of an object. */
export type FieldCheck = (source: JsonObject, path: string) => FieldError[];

/** Checks that these fields are there. */
export const needs =
  (...fields: string[]): FieldCheck =>
  (source, path) =>
    fields.filter((field) => isMissing(source[field])).map((field) => required(`${path}.${field}`));

/** A key of a ConfigMap or Secret and the file that it becomes (`validateKeyToPath`). */
export function checkKeyToPath(item: JsonObject, path: string): FieldError[] {
  return [
    ...needs('key', 'path')(item, path),
    ...checkNonReserved(textOf(item.path), `${path}.path`),
    ...checkMode(item.mode, `${path}.mode`),
  ];
}

/** A file with something of the Pod itself (`validateDownwardAPIVolumeFile`). */
export function checkDownwardFile(file: JsonObject, path: string): FieldError[] {
  const { fieldRef, resourceFieldRef } = file;
  const errors = [...needs('path')(file, path), ...checkNonReserved(textOf(file.path), `${path}.path`)];
  if (fieldRef !== undefined) {
    append(errors, checkFieldRef(recordOf(fieldRef), volumeFields, `${path}.fieldRef`));
    if (resourceFieldRef !== undefined) {
      errors.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
    }
  } else if (resourceFieldRef !== undefined) {
    append(errors, checkResourceRef(recordOf(resourceFieldRef), `${path}.resourceFieldRef`, true));
  } else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  return [...errors, ...checkMode(file.mode, `${path}.mode`)];
}

/** The permissions of a file. */
export function checkMode(mode: Json | undefined, path: string): FieldError[] {
  return mode !== undefined && (numberOf(mode) > 0o777 || numberOf(mode) < 0) ? [invalid(path, mode, modes)] : [];
}

function isMissing(value: Json | undefined): boolean {
  return value === undefined || value === '' || value === null || (Array.isArray(value) && value.length === 0);
}
