import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';
import { apiVersionOf, gvkOf, parseApiVersion } from './gvk.js';
import type { OwnerReference, TypeMeta } from './meta.js';
import { describeObject, type WithMetadata, withMetadataList } from './with-metadata.js';

/** An object that can own others: it is stored on a server, so it has a uid. */
export interface Owner extends TypeMeta {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid: string };
}

/** What an owner reference says beside whom it points to. */
export interface OwnerReferenceOptions {
  /**
   * True keeps the owner, in a foreground deletion, until this object is gone (`WithBlockOwnerDeletion`).
   * @default true for a controller; for a mere owner the field is left out
   */
  readonly blockOwnerDeletion?: boolean;
}

export const ownerReferenceOptionNames = optionNames<OwnerReferenceOptions>({ blockOwnerDeletion: true });

const alreadyOwned = Symbol.for('riata.AlreadyOwnedError');

/** The object has a controller already, and it is another one (`controllerutil.AlreadyOwnedError`). */
export class AlreadyOwnedError extends Error {
  override readonly name = 'AlreadyOwnedError';
  /** The controller that the object has. */
  readonly owner: OwnerReference;
  readonly [alreadyOwned] = true;

  constructor(object: WithMetadata, owner: OwnerReference) {
    super(
      `${describeObject(object)} is already controlled by ${owner.kind} "${owner.name}" (uid ${owner.uid}): ` +
        'an object has one controller; give this one another name, use setOwnerReference (of apply: { owned: false }), or ' +
        'remove that reference first',
    );
    this.owner = owner;
  }
}

/** True for an {@link AlreadyOwnedError}, also one of another copy of this library. */
export function isAlreadyOwned(error: unknown): error is AlreadyOwnedError {
  return typeof error === 'object' && error !== null && alreadyOwned in error;
}

/**
 * `object` with `owner` as its one controller (`controllerutil.SetControllerReference`): it is deleted with the owner,
 * and changes to it reconcile the owner. A reference to the same owner (group, kind and name) is replaced in its place.
 * Returns the very same object when nothing changes, else a copy.
 *
 * Throws an {@link AlreadyOwnedError} when another object controls it, and a `TypeError` when a namespaced owner has
 * an object in another namespace or in none; a cluster-scoped owner may own anything.
 */
export function setControllerReference<T extends WithMetadata>(
  owner: Owner,
  object: T,
  options: OwnerReferenceOptions = {},
): T {
  refuseUnknownOptions('setControllerReference', options, ownerReferenceOptionNames);
  checkNamespaces(owner, object);
  const ref = { ...referenceTo(owner), controller: true, blockOwnerDeletion: options.blockOwnerDeletion ?? true };
  const existing = controllerOf(object);
  if (existing && !isSameOwner(existing, ref)) throw new AlreadyOwnedError(object, existing);
  return upsert(object, ref);
}

/**
 * `object` with `owner` among its owners (`controllerutil.SetOwnerReference`): it is deleted when all of them are
 * gone. As {@link setControllerReference} otherwise; any number of owners is fine.
 */
export function setOwnerReference<T extends WithMetadata>(
  owner: Owner,
  object: T,
  options: OwnerReferenceOptions = {},
): T {
  refuseUnknownOptions('setOwnerReference', options, ownerReferenceOptionNames);
  checkNamespaces(owner, object);
  const { blockOwnerDeletion } = options;
  return upsert(object, { ...referenceTo(owner), ...(blockOwnerDeletion !== undefined && { blockOwnerDeletion }) });
}

/**
 * A copy of `object` without its reference to `owner`, controller or not (`controllerutil.RemoveOwnerReference`).
 * Throws if it has none: check with {@link hasOwnerReference} where that can be.
 */
export function removeOwnerReference<T extends WithMetadata>(owner: Owner, object: T): T {
  return without(object, owner, indexOfOwner(object, referenceTo(owner)));
}

/**
 * A copy of `object` without its reference to `owner`, which must be its controller
 * (`controllerutil.RemoveControllerReference`). Throws when it is not.
 */
export function removeControllerReference<T extends WithMetadata>(owner: Owner, object: T): T {
  const index = indexOfOwner(object, referenceTo(owner));
  const existing = object.metadata?.ownerReferences?.[index];
  if (existing && existing.controller !== true) {
    throw new Error(`${describeObject(object)} is owned by ${describeObject(owner)}, but not controlled by it`);
  }
  return without(object, owner, index);
}

/** True when `owner` is among the owners (`controllerutil.HasOwnerReference`): same group, kind and name. */
export function hasOwnerReference(owner: Owner, object: WithMetadata): boolean {
  return indexOfOwner(object, referenceTo(owner)) >= 0;
}

/** True when the object has a controller, whichever (`controllerutil.HasControllerReference`). */
export function hasControllerReference(object: WithMetadata): boolean {
  return controllerOf(object) !== undefined;
}

/** The reference to the object's controller (`metav1.GetControllerOf`); undefined when it has none. */
export function controllerOf(object: WithMetadata): OwnerReference | undefined {
  return object.metadata?.ownerReferences?.find((ref) => ref.controller === true);
}

/**
 * True when `owner` is the object's controller (`metav1.IsControlledBy`). Compares the uid, so that an owner deleted
 * and made again under the same name is another one.
 */
export function isControlledBy(object: WithMetadata, owner: { readonly metadata: { readonly uid: string } }): boolean {
  const controller = controllerOf(object);
  return controller !== undefined && controller.uid === owner.metadata.uid;
}

function checkNamespaces(owner: Owner, object: WithMetadata): void {
  const home = owner.metadata.namespace;
  if (!home) return;
  const namespace = object.metadata?.namespace;
  if (namespace === home) return;
  throw new TypeError(
    namespace
      ? `${describeObject(owner)} cannot own ${describeObject(object)}: an owner must be in the same namespace or cluster-scoped`
      : `${describeObject(owner)} cannot own ${describeObject(object)}, which has no namespace: a namespaced owner has ` +
          `only objects of its namespace; if the kind is namespaced, set metadata.namespace to "${home}"`,
  );
}

function referenceTo(owner: Owner): OwnerReference {
  const gvk = gvkOf(owner);
  const { name, uid } = owner.metadata;
  if (gvk.version && gvk.kind && name && uid) return { apiVersion: apiVersionOf(gvk), kind: gvk.kind, name, uid };
  for (const [field, value] of Object.entries({ apiVersion: gvk.version, kind: gvk.kind, name, uid })) {
    if (!value) {
      const hint = field === 'uid' ? ': only an object that a server has stored can own others' : '';
      throw new TypeError(`${describeObject(owner)} cannot be an owner: it has no ${field}${hint}`);
    }
  }
  return { apiVersion: apiVersionOf(gvk), kind: gvk.kind, name, uid };
}

function isSameOwner(a: OwnerReference, b: OwnerReference): boolean {
  if (a.kind !== b.kind || a.name !== b.name) return false;
  return parseApiVersion(a.apiVersion).group === parseApiVersion(b.apiVersion).group;
}

function indexOfOwner(object: WithMetadata, ref: OwnerReference): number {
  return object.metadata?.ownerReferences?.findIndex((existing) => isSameOwner(existing, ref)) ?? -1;
}

function upsert<T extends WithMetadata>(object: T, ref: OwnerReference): T {
  const refs = object.metadata?.ownerReferences ?? [];
  const index = indexOfOwner(object, ref);
  const existing = refs[index];
  if (existing === undefined) return withMetadataList(object, 'ownerReferences', [...refs, ref]);
  const isSame =
    existing.apiVersion === ref.apiVersion &&
    existing.uid === ref.uid &&
    existing.controller === ref.controller &&
    existing.blockOwnerDeletion === ref.blockOwnerDeletion;
  return isSame ? object : withMetadataList(object, 'ownerReferences', refs.with(index, ref));
}

function without<T extends WithMetadata>(object: T, owner: Owner, index: number): T {
  if (index < 0) throw new Error(`${describeObject(object)} has no owner reference to ${describeObject(owner)}`);
  return withMetadataList(object, 'ownerReferences', (object.metadata?.ownerReferences ?? []).toSpliced(index, 1));
}
