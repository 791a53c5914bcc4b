import type { StructuralDraft, StructuralSchema } from './structural-schema.js';

/** The schema of one condition, with the limits that `metav1.Condition` states. */
export const conditionSchema: StructuralSchema = {
  type: 'object',
  required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
  properties: {
    type: {
      type: 'string',
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    reason: {
      type: 'string',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    },
    message: { type: 'string', maxLength: 32768 },
  },
};

/** The fields that every status gets. */
export const addedStatusFields = {
  observedGeneration: { type: 'integer', format: 'int64' },
  conditions: {
    type: 'array',
    items: conditionSchema,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  },
} as const satisfies Record<string, StructuralSchema>;

/**
 * A status as it is stored: every field may be missing, for a controller fills it bit by bit, and conditions and the
 * observed generation have their place.
 */
export function statusSchema(own: StructuralSchema): StructuralSchema {
  const { required: _, ...rest } = own;
  const result: StructuralDraft = { ...rest, properties: { ...own.properties, ...addedStatusFields } };
  return result;
}
