import type { JsonObject, KubeObject } from 'riata/object';
import { type Steps, wait } from '../../steps.js';
import type { Stored } from '../../storage/storage.js';
import type { Resource } from '../resource.js';
import { shownAs } from './in-version.js';

// Without a webhook that converts, none of these waits for anything.

/** A stored object as a resource shows it, converted anew: as the real server reads one object from its storage. */
export function* readStored({ object }: Pick<Stored, 'object'>, resource: Resource): Steps<KubeObject> {
  const { conversions, apiVersion } = resource;
  if (conversions !== undefined && object.apiVersion !== apiVersion) yield* wait(conversions.refresh([object]));
  return shownAs(object, resource);
}

/** What is stored of an object, before it gets its revision. */
export function* storableOf(object: JsonObject, { conversions }: Resource): Steps<JsonObject> {
  return conversions === undefined ? object : yield* wait(conversions.toStored(object));
}

/** Has objects converted that are about to be shown, those of a list all by one review. */
export function* converted(objects: Iterable<Stored>, { conversions }: Resource): Steps<void> {
  if (conversions === undefined) return;
  const missing = [...objects].map(({ object }) => object).filter((object) => conversions.needs(object));
  if (missing.length > 0) yield* wait(conversions.prepare(missing));
}
