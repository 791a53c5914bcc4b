import { defineKind, type KindOf } from 'riata';
import { z } from 'zod';

/** The CustomResourceDefinition is derived from these schemas; every status also has conditions. */
export const Site = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Site',
  spec: z.object({}),
  status: z.object({}),
});
export interface Site extends KindOf<typeof Site> {}
