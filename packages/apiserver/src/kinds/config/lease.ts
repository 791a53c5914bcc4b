import type { JsonObject } from 'riata/object';
import { recordOf } from '../../resource/metadata.js';
import { checkNonNegative, checkPositive } from '../checks/basic-checks.js';
import type { KindRules } from '../kind-rules.js';

/** Fields of coordinated leader election, which is off: whoever sets them is not heard. */
const unheard = ['strategy', 'preferredHolder'] as const;

export const leaseRules: KindRules = {
  prepare(object, before) {
    const [spec, old] = [recordOf(object.spec), recordOf(before?.spec)];
    const dropped = unheard.filter((field) => spec[field] !== undefined && old[field] === undefined);
    return dropped.length === 0 ? object : { ...object, spec: without(spec, dropped) };
  },
  validate(object) {
    const spec = recordOf(object.spec);
    return [
      ...checkPositive(spec.leaseDurationSeconds, 'spec.leaseDurationSeconds'),
      ...checkNonNegative(spec.leaseTransitions, 'spec.leaseTransitions'),
    ];
  },
};

function without(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}
