import { equal, isJsonObject, type Json, type JsonObject, parseApiVersion } from 'riata/object';
import { append } from '../status/append.js';
import { type FieldError, forbidden, invalid, required, tooLong } from '../status/field-error.js';
import { goQuote } from '../status/go-quote.js';
import type { Steps } from '../steps.js';
import { byteLength, dnsLabel, dnsSubdomainName, labelValue, type NameRule, qualifiedName } from './name-rules.js';

const maxAnnotationBytes = 256 * 1024;
const maxManagerBytes = 128;
const maxSubresourceBytes = 256;

/** The facts about the kind that the checks need. */
export interface MetaRules {
  readonly namespaced: boolean;
  /** @default DNS subdomains */
  readonly nameRule?: NameRule;
  /** Where the metadata stands. @default 'metadata' */
  readonly path?: string;
  /** The problems of the labels, if they are known already. @default they are checked */
  readonly labelErrors?: readonly FieldError[] | undefined;
  /** Built-in kinds take a finalizer without a domain only if it is a well-known one. @default false */
  readonly builtIn?: boolean;
}

const wellKnownFinalizers: readonly Json[] = ['kubernetes', 'orphan', 'foregroundDeletion'];

/** The problems of the metadata of a new object (`validation.ValidateObjectMeta`). It was read by its schema before. */
export function checkNewMeta(
  meta: JsonObject,
  { namespaced, nameRule = dnsSubdomainName, path = 'metadata', builtIn = false, labelErrors }: MetaRules,
): FieldError[] {
  const errors: FieldError[] = [];
  const [name, generateName, namespace] = [text(meta.name), text(meta.generateName), text(meta.namespace)];
  if (generateName !== '') append(errors, each(`${path}.generateName`, generateName, nameRule(generateName, true)));
  if (name === '') errors.push(required(`${path}.name`, 'name or generateName is required'));
  else append(errors, each(`${path}.name`, name, nameRule(name)));
  if (!namespaced) {
    if (namespace !== '') errors.push(forbidden(`${path}.namespace`, 'not allowed on this type'));
  } else if (namespace === '') errors.push(required(`${path}.namespace`));
  else append(errors, each(`${path}.namespace`, namespace, dnsLabel(namespace)));
  if (number(meta.generation) < 0) {
    errors.push(invalid(`${path}.generation`, meta.generation, 'must be greater than or equal to 0'));
  }
  append(errors, checkShared(meta, path, checkFinalizers(list(meta.finalizers), `${path}.finalizers`), labelErrors));
  if (builtIn) append(errors, checkPlainFinalizers(meta, path));
  return errors;
}

/** The problems of the metadata after an update (`validation.ValidateObjectMetaUpdate`). */
export function checkMetaUpdate(
  meta: JsonObject,
  before: JsonObject,
  { path = 'metadata', builtIn = false, labelErrors }: Pick<MetaRules, 'path' | 'builtIn' | 'labelErrors'> = {},
): FieldError[] {
  const errors: FieldError[] = [];
  if (before.deletionTimestamp) {
    const known = new Set(list(before.finalizers));
    const added = [...new Set(list(meta.finalizers).filter((f) => !known.has(f)))].map(text).sort();
    if (added.length > 0) {
      const names = `[]string{${added.map((name) => goQuote(name)).join(', ')}}`;
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${names}`;
      errors.push(forbidden(`${path}.finalizers`, detail));
    }
  }
  if (text(meta.resourceVersion) === '') {
    errors.push(invalid(`${path}.resourceVersion`, '', 'must be specified for an update'));
  }
  if (number(meta.generation) < number(before.generation)) {
    errors.push(invalid(`${path}.generation`, number(meta.generation), 'must not be decremented'));
  }
  for (const name of ['name', 'namespace', 'uid'] as const) {
    append(errors, checkImmutable(text(meta[name]), text(before[name]), `${path}.${name}`));
  }
  if (text(meta.name) === '') errors.push(required(`${path}.name`, 'name or generateName is required'));
  for (const name of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    append(errors, checkImmutable(meta[name] ?? null, before[name] ?? null, `${path}.${name}`));
  }
  // Most built-in kinds look at their metadata as at that of a new object, too.
  const finalizers = builtIn ? checkFinalizers(list(meta.finalizers), `${path}.finalizers`) : [];
  append(errors, checkShared(meta, path, finalizers, labelErrors));
  if (builtIn) append(errors, checkPlainFinalizers(meta, path));
  return errors;
}

function checkPlainFinalizers(meta: JsonObject, path: string): FieldError[] {
  return list(meta.finalizers).flatMap((finalizer, index) => {
    if (text(finalizer).includes('/') || wellKnownFinalizers.includes(finalizer)) return [];
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    return [invalid(`${path}.finalizers[${index}]`, text(finalizer), detail)];
  });
}

/** The complaint about a field that changed though it must not (`validation.ValidateImmutableField`). */
export function checkImmutable(value: Json, before: Json, path: string): FieldError[] {
  return equal(value, before) ? [] : [invalid(path, value, 'field is immutable')];
}

/** The checks on create and on update; finalizers, which are not always checked, come in between. */
function checkShared(
  meta: JsonObject,
  path: string,
  finalizers: readonly FieldError[],
  labelErrors: readonly FieldError[] = checkLabels(record(meta.labels), `${path}.labels`),
): FieldError[] {
  const errors = [...labelErrors];
  append(errors, checkAnnotations(record(meta.annotations), `${path}.annotations`));
  append(errors, checkOwners(list(meta.ownerReferences), `${path}.ownerReferences`));
  append(errors, finalizers);
  append(errors, checkManagedFields(list(meta.managedFields), `${path}.managedFields`));
  return errors;
}

/** The problems of labels (`validation.ValidateLabels`). */
export function checkLabels(labels: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of Object.keys(labels)) checkLabel(key, text(labels[key]), path, errors);
  return errors;
}

/** How many labels are checked in half a millisecond. */
const labelsAtOnce = 256;

/** The problems of the labels of an object with very many of them; undefined if they can be checked with the rest. */
export function* checkManyLabels(meta: JsonObject): Steps<FieldError[] | undefined> {
  const labels = record(meta.labels);
  const keys = Object.keys(labels);
  if (keys.length <= labelsAtOnce) return undefined;
  const errors: FieldError[] = [];
  for (const [index, key] of keys.entries()) {
    if (index % labelsAtOnce === 0) yield;
    checkLabel(key, text(labels[key]), 'metadata.labels', errors);
  }
  return errors;
}

function checkLabel(key: string, value: string, path: string, errors: FieldError[]): void {
  for (const problem of qualifiedName(key)) errors.push(invalid(path, key, problem));
  for (const problem of labelValue(value)) errors.push(invalid(path, value, problem));
}

export function checkAnnotations(annotations: JsonObject, path: string): FieldError[] {
  const entries = Object.entries(annotations);
  const errors = entries.flatMap(([key]) => each(path, key, qualifiedName(key.toLowerCase())));
  const size = entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(text(value)), 0);
  if (size > maxAnnotationBytes) errors.push(tooLong(path, maxAnnotationBytes));
  return errors;
}

function checkOwners(owners: readonly Json[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  let first: string | undefined;
  for (const owner of owners.filter(isJsonObject)) {
    const { version } = versionOf(text(owner.apiVersion));
    if (version === '') errors.push(invalid(`${path}.apiVersion`, text(owner.apiVersion), 'version must not be empty'));
    for (const field of ['kind', 'name', 'uid'] as const) {
      if (text(owner[field]) === '') errors.push(invalid(`${path}.${field}`, '', 'must not be empty'));
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      errors.push(invalid(path, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (owner.controller !== true) continue;
    const name = `${text(owner.kind)}/${text(owner.name)}`;
    if (first === undefined) first = name;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${name}`;
      errors.push(invalid(path, owners, detail));
    }
  }
  return errors;
}

function checkFinalizers(finalizers: readonly Json[], path: string): FieldError[] {
  const errors = finalizers.flatMap((finalizer) => each(path, text(finalizer), qualifiedName(text(finalizer))));
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

function checkManagedFields(entries: readonly Json[], path: string): FieldError[] {
  return entries.filter(isJsonObject).flatMap((entry, index) => {
    const at = `${path}[${index}]`;
    const errors: FieldError[] = [];
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      errors.push(invalid(`${at}.operation`, text(entry.operation), 'must be `Apply` or `Update`'));
    }
    const fieldsType = text(entry.fieldsType);
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
      errors.push(invalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`'));
    }
    append(errors, checkFieldManager(text(entry.manager), `${at}.manager`));
    if (byteLength(text(entry.subresource)) > maxSubresourceBytes) {
      errors.push(tooLong(`${at}.subresource`, maxSubresourceBytes));
    }
    return errors;
  });
}

/** The problems of the name of a field manager (`validation.ValidateFieldManager`). */
export function checkFieldManager(manager: string, path: string): FieldError[] {
  const errors = byteLength(manager) > maxManagerBytes ? [tooLong(path, maxManagerBytes)] : [];
  let position = 0;
  for (const char of manager) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char)) {
      const code = `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`;
      errors.push(invalid(path, manager, `invalid character ${code} (at position ${position})`));
    }
    position += byteLength(char);
  }
  return errors;
}

function versionOf(apiVersion: string): { version: string } {
  try {
    return parseApiVersion(apiVersion);
  } catch {
    return { version: '' };
  }
}

const each = (path: string, value: string, problems: readonly string[]) =>
  problems.map((problem) => invalid(path, value, problem));
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const number = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const record = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
