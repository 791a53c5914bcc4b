import { isJsonObject, type JsonObject } from './json.js';
import type { KubeList, KubeObject, ManagedFieldsEntry, ObjectMeta, OwnerReference } from './meta.js';
import { carryLoss } from './value/lossy.js';
import { describeValue } from './with-metadata.js';

/**
 * The metadata of an object of unknown type (`metav1.Object`), each field checked when it is read: a field of the wrong
 * type is a `TypeError` that names it, never a value that its type does not promise. A missing or `null` field is
 * undefined.
 */
export interface ObjectAccessor extends Partial<ObjectMeta> {
  readonly apiVersion?: string;
  readonly kind?: string;
  /** The object itself. */
  readonly object: JsonObject;
}

/**
 * Typed access to the metadata of any object (`meta.Accessor`). Reads only; to change an object, use `edit`.
 *
 * ```ts
 * const { namespace, name, labels } = accessor(JSON.parse(text));
 * ```
 *
 * Throws a `TypeError` for anything but a Kubernetes object: not a JSON object, a list, or without metadata and kind.
 */
export function accessor(obj: unknown): ObjectAccessor {
  if (!isJsonObject(obj)) throw new TypeError(`expected a Kubernetes object, got ${describeValue(obj)}`);
  const { metadata } = obj;
  if (isKubeList(obj)) {
    throw new TypeError(`expected a Kubernetes object, got the list ${JSON.stringify(obj.kind)}: use listItems(list)`);
  }
  if (metadata === undefined || metadata === null) {
    if (typeof obj.apiVersion === 'string' && typeof obj.kind === 'string') return new CheckedAccessor(obj, {});
    throw new TypeError('expected a Kubernetes object, got an object with neither metadata nor apiVersion and kind');
  }
  if (!isJsonObject(metadata)) throw wrongType('metadata', 'an object', metadata, obj);
  return new CheckedAccessor(obj, metadata);
}

/**
 * True for an object as a server returns it: `apiVersion`, `kind` and a named `metadata`, not a list. Looks no deeper:
 * read the fields of untrusted data through {@link accessor}.
 */
export function isKubeObject(value: unknown): value is KubeObject {
  return (
    isJsonObject(value) &&
    typeof value.apiVersion === 'string' &&
    typeof value.kind === 'string' &&
    isJsonObject(value.metadata) &&
    typeof value.metadata.name === 'string' &&
    value.metadata.name !== ''
  );
}

/**
 * True for a list (`metav1.List` and every `…List`): a kind that ends in `List`, an array of items, and no name of its
 * own, so that a resource whose kind happens to be called `AllowList` is no list.
 */
export function isKubeList(value: unknown): value is KubeList<unknown> {
  if (!isJsonObject(value) || typeof value.apiVersion !== 'string' || !Array.isArray(value.items)) return false;
  if (typeof value.kind !== 'string' || !value.kind.endsWith('List')) return false;
  return !isJsonObject(value.metadata) || value.metadata.name === undefined;
}

/**
 * The items of a list (`meta.ExtractList`), mixed kinds included. Servers leave `apiVersion` and `kind` out of items:
 * they are filled in from the list's own (`PodList` → `Pod`) where one is missing, in copies; any other item is the one
 * in the list, raw ones (`RawExtension`) too. `items: null`, as Go writes an empty list, has none.
 *
 * Throws a `TypeError` for anything but a list.
 */
export function listItems<T>(list: KubeList<T>): readonly T[];
export function listItems(list: unknown): readonly unknown[];
export function listItems(list: unknown): readonly unknown[] {
  if (!isJsonObject(list)) throw new TypeError(`expected a Kubernetes list, got ${describeValue(list)}`);
  const { apiVersion, kind } = list;
  if (typeof kind !== 'string' || !kind.endsWith('List')) {
    throw new TypeError(`expected a Kubernetes list, got kind ${JSON.stringify(kind)}`);
  }
  const items: unknown = list.items ?? [];
  if (!Array.isArray(items)) throw new TypeError(`${kind}: expected items to be an array, got ${describeValue(items)}`);
  const itemKind = kind.slice(0, -'List'.length);
  if (typeof apiVersion !== 'string' || itemKind === '') return items;
  const isTyped = (item: unknown) => !isJsonObject(item) || Boolean(item.apiVersion && item.kind);
  if (items.every(isTyped)) return items;
  return items.map((item: JsonObject) => (isTyped(item) ? item : withType(item, apiVersion, itemKind)));
}

function withType(item: JsonObject, apiVersion: string, kind: string): JsonObject {
  const copy = { apiVersion, kind, ...item };
  if (!item.apiVersion) copy.apiVersion = apiVersion;
  if (!item.kind) copy.kind = kind;
  carryLoss(item, copy);
  return copy;
}

class CheckedAccessor implements ObjectAccessor {
  readonly object: JsonObject;
  readonly #metadata: JsonObject;

  constructor(object: JsonObject, metadata: JsonObject) {
    this.object = object;
    this.#metadata = metadata;
  }

  get apiVersion() {
    return this.#check<string>('apiVersion', this.object.apiVersion, 'a string', isString);
  }
  get kind() {
    return this.#check<string>('kind', this.object.kind, 'a string', isString);
  }
  get name() {
    return this.#string('name');
  }
  get generateName() {
    return this.#string('generateName');
  }
  get namespace() {
    return this.#string('namespace');
  }
  get selfLink() {
    return this.#string('selfLink');
  }
  get uid() {
    return this.#string('uid');
  }
  get resourceVersion() {
    return this.#string('resourceVersion');
  }
  get generation() {
    return this.#field<number>('generation', 'a number', isNumber);
  }
  get creationTimestamp() {
    return this.#string('creationTimestamp');
  }
  get deletionTimestamp() {
    return this.#string('deletionTimestamp');
  }
  get deletionGracePeriodSeconds() {
    return this.#field<number>('deletionGracePeriodSeconds', 'a number', isNumber);
  }
  get labels() {
    return this.#field<Readonly<Record<string, string>>>('labels', 'an object of strings', isStringMap);
  }
  get annotations() {
    return this.#field<Readonly<Record<string, string>>>('annotations', 'an object of strings', isStringMap);
  }
  get ownerReferences() {
    return this.#field<readonly OwnerReference[]>('ownerReferences', 'an array of references', isOwnerReferences);
  }
  get finalizers() {
    return this.#field<readonly string[]>('finalizers', 'an array of strings', isStrings);
  }
  get managedFields() {
    return this.#field<readonly ManagedFieldsEntry[]>('managedFields', 'an array of objects', isObjects);
  }

  #string(field: keyof ObjectMeta): string | undefined {
    return this.#field<string>(field, 'a string', isString);
  }

  #field<T>(field: keyof ObjectMeta, expected: string, is: (value: unknown) => boolean): T | undefined {
    return this.#check<T>(`metadata.${field}`, this.#metadata[field], expected, is);
  }

  #check<T>(path: string, value: unknown, expected: string, is: (value: unknown) => boolean): T | undefined {
    if (value === undefined || value === null) return undefined;
    if (!is(value)) throw wrongType(path, expected, value, this.object);
    return value as T;
  }
}

function wrongType(path: string, expected: string, value: unknown, obj: JsonObject): TypeError {
  const name = isJsonObject(obj.metadata) ? obj.metadata.name : undefined;
  const who = [obj.apiVersion, obj.kind, typeof name === 'string' ? JSON.stringify(name) : undefined];
  const text = who.filter((part) => typeof part === 'string').join(' ') || 'object without a kind';
  return new TypeError(`${text}: expected ${path} to be ${expected}, got ${describeValue(value)}`);
}

const isString = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number';
const isStringMap = (value: unknown) => isJsonObject(value) && Object.values(value).every(isString);
const isStrings = (value: unknown) => Array.isArray(value) && value.every(isString);
const isObjects = (value: unknown) => Array.isArray(value) && value.every(isJsonObject);
const isOwnerReferences = (value: unknown) =>
  Array.isArray(value) &&
  value.every((ref) => isJsonObject(ref) && [ref.apiVersion, ref.kind, ref.name, ref.uid].every(isString));
