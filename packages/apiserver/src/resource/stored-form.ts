import { equal, freeze, isJsonObject, type JsonObject, type KubeObject } from 'riata/object';
import type { Stored } from '../storage/storage.js';
import { inVersion } from './custom/in-version.js';
import type { SharedFields } from './fields/shared-fields.js';
import { metaOf, stringsOf, withMeta } from './metadata.js';
import type { Resource } from './resource.js';

/** Whether an object that is being deleted can be removed. */
export function isFinished(object: JsonObject): boolean {
  const { finalizers, deletionGracePeriodSeconds } = metaOf(object);
  const waits = typeof deletionGracePeriodSeconds === 'number' && deletionGracePeriodSeconds > 0;
  return stringsOf(finalizers).length === 0 && !waits && !hasSpecFinalizers(object);
}

/** The finalizers of an object; namespaces have more in their spec. */
function hasSpecFinalizers(object: JsonObject): boolean {
  if (object.kind !== 'Namespace' || object.apiVersion !== 'v1') return false;
  return isJsonObject(object.spec) && stringsOf(object.spec.finalizers).length > 0;
}

/**
 * Whether there is nothing to store. Custom objects are compared in storage form: a no-op write still stores an object
 * that a newer definition shows with other defaults or stores in another version.
 */
export function isUnchanged(resource: Resource, stored: Stored, live: JsonObject, object: JsonObject): boolean {
  if (resource.builtIn) return isSame(live, object);
  return isSame(stored.object as unknown as JsonObject, asStored(object, resource));
}

/** Whether two objects are equal but for their revision. */
function isSame(live: JsonObject, object: JsonObject): boolean {
  const strip = (o: JsonObject) => withMeta(o, { resourceVersion: undefined });
  return equal(strip(live), strip(object));
}

/** The object to store: frozen, in the storage version, with its revision. */
export function atRevision(object: JsonObject, resource: Resource, revision: number, fields: SharedFields): KubeObject {
  const stamped = withMeta(asStored(object, resource), { resourceVersion: String(revision) });
  return freeze(fields.share(stamped) as unknown as KubeObject);
}

/** The last stored state, with the revision of the removal. */
export function removedAt(last: KubeObject, revision: number): KubeObject {
  return freeze({ ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } });
}

/** The storage form of an object, in the storage version. */
export function asStored(object: JsonObject, resource: Resource): JsonObject {
  const kept = resource.storable?.(object) ?? object;
  return inVersion(kept as unknown as KubeObject, resource.storedAs) as unknown as JsonObject;
}

/** The response of a dry run. */
export function answerOf(object: JsonObject, resource: Resource, revision?: number): KubeObject {
  const resourceVersion = revision === undefined ? undefined : String(revision);
  const shown = inVersion(object as unknown as KubeObject, resource.apiVersion) as unknown as JsonObject;
  return withMeta(shown, { resourceVersion }) as unknown as KubeObject;
}
