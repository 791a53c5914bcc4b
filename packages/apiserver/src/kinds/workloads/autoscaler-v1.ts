import type { JsonObject } from 'riata/object';
import { recordOf } from '../../resource/metadata.js';
import type { KindRules } from '../kind-rules.js';
import { autoscalerRules } from './autoscaler.js';
import { autoscalerFromV1, autoscalerToV1 } from './autoscaler-conversion.js';

/** The old version is judged as the new one. */
export const autoscalerV1Rules: KindRules = {
  defaults: (autoscaler) => autoscalerToV1(autoscalerFromV1(withMinimum(autoscaler))),
  validate: (now, before, subresource) =>
    autoscalerRules.validate?.(autoscalerFromV1(now), before && autoscalerFromV1(before), subresource) ?? [],
  validateStatus: (now, before) =>
    autoscalerRules.validateStatus?.(autoscalerFromV1(now), autoscalerFromV1(before)) ?? [],
};

function withMinimum(autoscaler: JsonObject): JsonObject {
  const spec = recordOf(autoscaler.spec);
  return spec.minReplicas === undefined ? { ...autoscaler, spec: { ...spec, minReplicas: 1 } } : autoscaler;
}
