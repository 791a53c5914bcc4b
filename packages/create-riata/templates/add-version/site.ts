import { defineKind, type KindOf, withVersion } from 'riata';
import { z } from 'zod';

const stored = defineKind({ group: 'example.com', version: 'v1', kind: 'Site', spec: z.object({}) });

/** As `riata add version` leaves the kind; it edits the module that is there instead of writing this one. */
export const Site = withVersion(stored, 'v2', {
  spec: z.object({}),
  up: ({ spec }) => ({ spec }),
  down: ({ spec }) => ({ spec }),
});
export interface Site extends KindOf<typeof Site> {}
