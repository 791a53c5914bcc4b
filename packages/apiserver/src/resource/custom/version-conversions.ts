import type { JsonObject } from 'riata/object';
import { eventFromCore, eventToCore } from '../../kinds/events/event-conversion.js';
import { autoscalerFromV1, autoscalerToV1 } from '../../kinds/workloads/autoscaler-conversion.js';

type Convert = (object: JsonObject) => JsonObject;

/** Conversions of built-in kinds whose versions differ by more than `apiVersion`. */
export const versionConversions: Readonly<Record<string, Readonly<Record<string, Convert>>>> = {
  v1: { 'events.k8s.io/v1': eventFromCore },
  'events.k8s.io/v1': { v1: eventToCore },
  'autoscaling/v1': { 'autoscaling/v2': autoscalerFromV1 },
  'autoscaling/v2': { 'autoscaling/v1': autoscalerToV1 },
};
