import { describeValue } from '../../object/with-metadata.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The problem of the metadata of an object that a server sent, in words; undefined if it is valid. kube-apiserver sends
 * no such objects, but a server in its place may, and code that relies on metadata must not fail for all objects then.
 */
export function metadataProblem(metadata: object): string | undefined {
  return identityProblem(metadata) ?? fieldProblem(metadata as Fields);
}

/** The same of namespace and name alone, by which everything knows an object. */
export function identityProblem(metadata: object): string | undefined {
  const { name, namespace } = metadata as Fields;
  if (name === undefined || name === null || name === '') return 'metadata.name is missing';
  return segmentProblem('name', name) ?? (namespace ? segmentProblem('namespace', namespace) : undefined);
}

function segmentProblem(field: string, value: unknown): string | undefined {
  if (typeof value !== 'string') return `metadata.${field} must be a string, got ${describeValue(value)}`;
  if (value === '.' || value === '..') return `metadata.${field} must not be ${JSON.stringify(value)}`;
  return value.includes('/') ? `metadata.${field} must not contain a slash, got ${JSON.stringify(value)}` : undefined;
}

function fieldProblem(metadata: Fields): string | undefined {
  for (const field of ['uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp']) {
    const value = metadata[field];
    if (typeof value !== 'string' && !isNone(value)) return wrong(field, 'a string', value);
  }
  for (const field of ['labels', 'annotations']) {
    const value = metadata[field];
    if (!isNone(value) && !isTextMap(value)) return wrong(field, 'a map of strings', value);
  }
  const { finalizers, ownerReferences } = metadata;
  if (!isNone(finalizers) && !isListOf(finalizers, isText)) return wrong('finalizers', 'a list of strings', finalizers);
  if (isNone(ownerReferences) || isListOf(ownerReferences, isOwnerReference)) return undefined;
  return wrong('ownerReferences', 'a list of references with apiVersion, kind and name', ownerReferences);
}

function wrong(field: string, expected: string, value: unknown): string {
  return `metadata.${field} must be ${expected}, got ${describeValue(value)}${nested(value)}`;
}

/** The first invalid entry of a list or map. */
function nested(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  const odd = Object.values(value).find((each) => typeof each !== 'string');
  return odd === undefined ? '' : ` with ${describeValue(odd)} in it`;
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isTextMap(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  for (const key in value) if (typeof (value as Fields)[key] !== 'string') return false;
  return true;
}

function isListOf(value: unknown, isOne: (each: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne);
}

function isOwnerReference(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { apiVersion, kind, name } = value as Fields;
  return isText(apiVersion) && isText(kind) && isText(name) && segmentProblem('name', name) === undefined;
}
