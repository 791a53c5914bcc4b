import { keyOf } from '../../object/key.js';
import { describeObject, describeValue, type WithMetadata } from '../../object/with-metadata.js';
import { type DeletedFinalStateUnknown, isDeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';

/** Makes an object's key within a store (`cache.KeyFunc`). Must give the same key whenever it sees the same object. */
export type KeyFunc<in T> = (obj: T) => string;

/** An object has no key, so a store or queue cannot take it (`cache.KeyError`); `cause` says why. */
export class KeyError extends Error {
  /** The value without a key. */
  readonly obj: unknown;

  constructor(obj: unknown, cause: unknown) {
    const what = typeof obj === 'object' && obj !== null ? describeObject(obj) : describeValue(obj);
    super(`could not make a key for ${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'KeyError';
    this.obj = obj;
  }
}

/** The name under which informers keep {@link byNamespace} (`cache.NamespaceIndex`); listers look for it. */
export const namespaceIndex = 'namespace';

/** An index function by namespace (`MetaNamespaceIndexFunc`); objects without one are under `''`. */
export function byNamespace(obj: WithMetadata): string[] {
  return [obj.metadata?.namespace ?? ''];
}

/** As `keyOf`, and knows the key of a tombstone, too (`DeletionHandlingMetaNamespaceKeyFunc`): for `onDelete` handlers. */
export function deletionHandlingKeyOf(obj: WithMetadata | DeletedFinalStateUnknown<unknown>): string {
  return isDeletedFinalStateUnknown(obj) ? obj.key : keyOf(obj);
}

/** `keyFunc`, with a tombstone's own key, and every failure as a {@link KeyError}. */
export function keyed<T>(keyFunc: KeyFunc<T>): KeyFunc<T | DeletedFinalStateUnknown<T>> {
  return (obj) => {
    if (isDeletedFinalStateUnknown(obj)) return obj.key;
    try {
      return keyFunc(obj);
    } catch (error) {
      throw new KeyError(obj, error);
    }
  };
}

/** The default key function of stores; a value that is no Kubernetes object has no key. */
export const defaultKeyFunc: KeyFunc<unknown> = (obj) => {
  if (typeof obj !== 'object' || obj === null) {
    throw new TypeError(`expected an object with metadata, got ${describeValue(obj)}`);
  }
  return keyOf(obj);
};

/** The resourceVersion in an object's metadata; undefined if it has none, as tombstones. */
export function resourceVersionOf(obj: unknown): string | undefined {
  const version = (obj as { readonly metadata?: { readonly resourceVersion?: unknown } } | null)?.metadata
    ?.resourceVersion;
  return typeof version === 'string' ? version : undefined;
}
