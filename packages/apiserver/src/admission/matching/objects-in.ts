import type { JsonObject, KubeObject } from 'riata/object';
import { shownAs } from '../../resource/custom/in-version.js';
import type { Resource } from '../../resource/resource.js';
import { asStored } from '../../resource/stored-form.js';
import type { AdmissionAttributes } from '../admission.js';
import type { MatchedResource } from './request-matcher.js';

/** The objects of a request in the version by which it was matched (`admission.NewVersionedAttributes`). */
export function objectsIn(
  { resource: to }: MatchedResource,
  { resource: from, object, oldObject, subresource, kind }: AdmissionAttributes,
): { readonly object: JsonObject | undefined; readonly oldObject: JsonObject | undefined } {
  // The body of a subresource, such as a Scale, is the same in all versions.
  if (to === from || (subresource !== '' && kind.kind !== from.kind)) return { object, oldObject };
  return { object: object && converted(object, from, to), oldObject: oldObject && converted(oldObject, from, to) };
}

/** An object in another version of its kind. Throws `MissingConversion` where a webhook has to convert it first. */
export function converted(object: JsonObject, from: Resource, to: Resource): JsonObject {
  if (from.conversions !== undefined) return from.conversions.known(object, to.apiVersion);
  return shownAs(asStored(object, from) as unknown as KubeObject, to) as unknown as JsonObject;
}
