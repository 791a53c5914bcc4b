import type { JsonObject } from 'riata/object';
import { recordOf } from '../../resource/metadata.js';
import { invalid } from '../../status/field-error.js';
import { checkNonNegative } from '../checks/basic-checks.js';
import type { KindRules } from '../kind-rules.js';

/** Fields of coordinated leader election, which is off: they are dropped. */
const unknown = ['strategy', 'preferredHolder'] as const;

export const leaseRules: KindRules = {
  prepare(object, before) {
    const [spec, old] = [recordOf(object.spec), recordOf(before?.spec)];
    const dropped = unknown.filter((field) => spec[field] !== undefined && old[field] === undefined);
    return dropped.length === 0 ? object : { ...object, spec: without(spec, dropped) };
  },
  validate(object) {
    const spec = recordOf(object.spec);
    const seconds = spec.leaseDurationSeconds;
    return [
      ...(typeof seconds === 'number' && seconds <= 0
        ? [invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
        : []),
      ...checkNonNegative(spec.leaseTransitions, 'spec.leaseTransitions'),
    ];
  },
};

function without(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}
