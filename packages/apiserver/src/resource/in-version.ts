import type { JsonObject, KubeObject } from 'riata/object';
import { eventFromCore, eventToCore } from '../kinds/events/event-conversion.js';
import { autoscalerFromV1, autoscalerToV1 } from '../kinds/workloads/autoscaler-conversion.js';

type Convert = (object: JsonObject) => JsonObject;

/** Built-in kinds whose versions differ by more than their name, from the one version to the other. */
const conversions: Readonly<Record<string, Readonly<Record<string, Convert>>>> = {
  v1: { 'events.k8s.io/v1': eventFromCore },
  'events.k8s.io/v1': { v1: eventToCore },
  'autoscaling/v1': { 'autoscaling/v2': autoscalerFromV1 },
  'autoscaling/v2': { 'autoscaling/v1': autoscalerToV1 },
};

const converted = new WeakMap<KubeObject, KubeObject>();

/** The object under a version of its kind. Of custom kinds, versions differ by no more than the name. */
export function inVersion(object: KubeObject, apiVersion: string): KubeObject {
  if (object.apiVersion === apiVersion) return object;
  const convert = conversions[object.apiVersion]?.[apiVersion];
  if (convert === undefined) return { ...object, apiVersion };
  const known = converted.get(object);
  if (known?.apiVersion === apiVersion) return known;
  const made = convert(object as unknown as JsonObject) as unknown as KubeObject;
  converted.set(object, made);
  return made;
}

/** Whether bringing the object to a version takes more than to name it. */
export function differsIn(object: KubeObject, apiVersion: string): boolean {
  return object.apiVersion !== apiVersion && conversions[object.apiVersion]?.[apiVersion] !== undefined;
}
