import { equal, freeze, isJsonObject, type JsonObject, type KubeObject } from 'riata/object';
import type { Stored } from '../storage/storage.js';
import { inVersion } from './custom/in-version.js';
import type { SharedFields } from './fields/shared-fields.js';
import { metaOf, stringsOf, withMeta } from './metadata.js';
import type { Resource } from './resource.js';

/** Whether nothing keeps an object that is to go. */
export function isFinished(object: JsonObject): boolean {
  const { finalizers, deletionGracePeriodSeconds } = metaOf(object);
  const waits = typeof deletionGracePeriodSeconds === 'number' && deletionGracePeriodSeconds > 0;
  return stringsOf(finalizers).length === 0 && !waits && !hasSpecFinalizers(object);
}

/** Namespaces have finalizers of their own, in their spec. */
function hasSpecFinalizers(object: JsonObject): boolean {
  if (object.kind !== 'Namespace' || object.apiVersion !== 'v1') return false;
  return isJsonObject(object.spec) && stringsOf(object.spec.finalizers).length > 0;
}

/**
 * Whether there is nothing to store. A custom object is compared as it is stored: one that a newer definition shows with
 * other defaults, or stores under another version, is written anew even by a write that changes nothing.
 */
export function isUnchanged(resource: Resource, stored: Stored, live: JsonObject, object: JsonObject): boolean {
  if (resource.builtIn) return isSame(live, object);
  return isSame(stored.object as unknown as JsonObject, asStored(object, resource));
}

/** Whether two objects say the same; the revision is not part of what is said. */
function isSame(live: JsonObject, object: JsonObject): boolean {
  const strip = (o: JsonObject) => withMeta(o, { resourceVersion: undefined });
  return equal(strip(live), strip(object));
}

/** As it is stored: frozen, under the storage version, at its revision. */
export function atRevision(object: JsonObject, resource: Resource, revision: number, fields: SharedFields): KubeObject {
  const stamped = withMeta(asStored(object, resource), { resourceVersion: String(revision) });
  return freeze(fields.share(stamped) as unknown as KubeObject);
}

/** As it was stored last, at the revision of its end. */
export function removedAt(last: KubeObject, revision: number): KubeObject {
  return freeze({ ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } });
}

/** What is stored of an object, under the storage version. */
export function asStored(object: JsonObject, resource: Resource): JsonObject {
  const kept = resource.storable?.(object) ?? object;
  return inVersion(kept as unknown as KubeObject, resource.storedAs) as unknown as JsonObject;
}

/** As a dry run answers. */
export function answerOf(object: JsonObject, resource: Resource, revision?: number): KubeObject {
  const resourceVersion = revision === undefined ? undefined : String(revision);
  const shown = inVersion(object as unknown as KubeObject, resource.apiVersion) as unknown as JsonObject;
  return withMeta(shown, { resourceVersion }) as unknown as KubeObject;
}
