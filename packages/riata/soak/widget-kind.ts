import { defineKind } from 'riata/object';
import { z } from 'zod';

/** What the operator under chaos takes care of. */
export const Widget = defineKind({
  group: 'chaos.riata.dev',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.int() }),
  status: z.object({ size: z.int() }),
});
