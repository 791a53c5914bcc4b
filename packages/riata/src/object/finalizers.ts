import { qualifiedNameProblems } from './names.js';
import { describeObject, type WithMetadata, withMetadataList } from './with-metadata.js';

/** True when `obj` carries the finalizer (`controllerutil.ContainsFinalizer`). */
export function containsFinalizer(obj: WithMetadata, finalizer: string): boolean {
  return obj.metadata?.finalizers?.includes(finalizer) ?? false;
}

/**
 * `obj` with the finalizer (`controllerutil.AddFinalizer`): the very same object when it has it already, else a copy
 * that has it last. Throws a `TypeError` when the name is one that a server would refuse.
 */
export function addFinalizer<T extends WithMetadata>(obj: T, finalizer: string): T {
  if (containsFinalizer(obj, finalizer)) return obj;
  const problems = finalizerProblems(finalizer);
  if (problems.length > 0) {
    throw new TypeError(
      `${describeObject(obj)}: ${JSON.stringify(finalizer)} is not a valid finalizer name: ${problems.join('; ')}`,
    );
  }
  return withMetadataList(obj, 'finalizers', [...(obj.metadata?.finalizers ?? []), finalizer]);
}

/**
 * `obj` without the finalizer (`controllerutil.RemoveFinalizer`): the very same object when it doesn't have it,
 * otherwise a copy with the others in order. A server deletes an object that {@link isDeleting} once its last finalizer
 * is removed.
 */
export function removeFinalizer<T extends WithMetadata>(obj: T, finalizer: string): T {
  if (!containsFinalizer(obj, finalizer)) return obj;
  const rest = (obj.metadata?.finalizers ?? []).filter((name) => name !== finalizer);
  return withMetadataList(obj, 'finalizers', rest);
}

/**
 * True once deletion is requested: the object stays until its finalizers are removed, and new finalizers are refused
 * (`metadata.deletionTimestamp`, `GetDeletionTimestamp`).
 */
export function isDeleting(obj: WithMetadata): boolean {
  return Boolean(obj.metadata?.deletionTimestamp);
}

/**
 * The problems of `name` as the name of a finalizer (`validation.ValidateFinalizerName`); empty if it is valid. Servers
 * require a qualified name, and warn when it has no domain: prefer `example.com/cleanup`.
 */
export function finalizerProblems(name: string): string[] {
  return qualifiedNameProblems(name);
}
