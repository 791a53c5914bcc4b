import type { JsonObject } from 'riata/object';
import { metaOf, stringsOf, withMeta } from '../../resource/metadata.js';

/** What keeps storage that is in use, by resource. */
export const protectionFinalizers = {
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  persistentvolumes: 'kubernetes.io/pv-protection',
} as const;

/** A new object with what keeps it while it is in use (admission's `StorageObjectInUseProtection`). */
export function withProtection(object: JsonObject, resource: keyof typeof protectionFinalizers): JsonObject {
  const finalizers = stringsOf(metaOf(object).finalizers);
  const own = protectionFinalizers[resource];
  return finalizers.includes(own) ? object : withMeta(object, { finalizers: [...finalizers, own] });
}
