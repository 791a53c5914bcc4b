import { defineKind, type KindOf } from 'riata';
import { z } from 'zod';

/** Runs a container image. The CustomResourceDefinition is derived from these schemas. */
export const Site = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Site',
  spec: z.object({
    image: z.string().min(1).describe('The container image to run.'),
    replicas: z.int().min(0).max(100).default(1).describe('The number of Pods.'),
    zone: z.string().min(1).optional().describe('Where the Pods run; set on creation, then immutable.'),
  }),
  status: z.object({ availableReplicas: z.int() }),
  printerColumns: [
    { name: 'Image', type: 'string', jsonPath: '.spec.image' },
    { name: 'Available', type: 'integer', jsonPath: '.status.availableReplicas' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
export interface Site extends KindOf<typeof Site> {}
