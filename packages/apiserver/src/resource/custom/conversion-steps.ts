import type { JsonObject, KubeObject } from 'riata/object';
import { type Steps, wait } from '../../steps.js';
import type { Stored } from '../../storage/storage.js';
import type { Resource } from '../resource.js';
import { shownAs } from './in-version.js';

// Without a conversion webhook, none of these functions waits.

/**
 * A stored object as a resource shows it, always converted again, as kube-apiserver does when it reads a single object.
 */
export function* readStored({ object }: Pick<Stored, 'object'>, resource: Resource): Steps<KubeObject> {
  const { conversions, apiVersion } = resource;
  if (conversions !== undefined && object.apiVersion !== apiVersion) yield* wait(conversions.refresh([object]));
  return shownAs(object, resource);
}

/** The storage form of an object, before it gets its revision. */
export function* storableOf(object: JsonObject, { conversions }: Resource): Steps<JsonObject> {
  return conversions === undefined ? object : yield* wait(conversions.toStored(object));
}

/** Converts the objects that are about to be shown, all with one review. */
export function* converted(objects: Iterable<Stored>, { conversions }: Resource): Steps<void> {
  if (conversions === undefined) return;
  const missing = [...objects].map(({ object }) => object).filter((object) => conversions.needs(object));
  if (missing.length > 0) yield* wait(conversions.prepare(missing));
}
