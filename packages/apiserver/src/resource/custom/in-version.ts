import type { JsonObject, KubeObject } from 'riata/object';
import { kindParts } from '../load-kind-parts.js';
import type { Resource } from '../resource.js';

const converted = new WeakMap<KubeObject, KubeObject>();

/** The parts of a resource that decide how it shows stored objects. */
export type ShownAs = Pick<Resource, 'apiVersion' | 'content'>;

/** A stored object as a resource shows it. */
export function shownAs(object: KubeObject, { apiVersion, content }: ShownAs): KubeObject {
  return inVersion(content?.(object) ?? object, apiVersion);
}

/**
 * Converts the object to a version of its kind. Custom kinds may have different schemas per version: {@link shownAs}.
 */
export function inVersion(object: KubeObject, apiVersion: string): KubeObject {
  if (object.apiVersion === apiVersion) return object;
  // Objects to convert were written before, so the parts are loaded.
  const convert = kindParts().versionConversions[object.apiVersion]?.[apiVersion];
  if (convert === undefined) return { ...object, apiVersion };
  const known = converted.get(object);
  if (known?.apiVersion === apiVersion) return known;
  const made = convert(object as unknown as JsonObject) as unknown as KubeObject;
  converted.set(object, made);
  return made;
}

/** Whether converting the object to a version changes more than `apiVersion`. */
export function differsIn(object: KubeObject, apiVersion: string): boolean {
  if (object.apiVersion === apiVersion) return false;
  return kindParts().versionConversions[object.apiVersion]?.[apiVersion] !== undefined;
}
