import { defineKind, type KindOf, withVersion } from 'riata';
import { z } from 'zod';

const group = 'guarded-sites.riata.dev';
const replicas = z.int().min(0).max(100).default(1);
const tag = z.string().regex(/^[\w.-]+$/);
const host = z.string().regex(/^[a-z0-9.-]+$/);

/** v2, the version that is stored. */
const stored = defineKind({
  ...{ group, version: 'v2', kind: 'Site' },
  spec: z.object({
    image: z.object({ name: z.string().regex(/^[\w./-]+$/), tag: tag.optional() }),
    zone: z.string().optional(),
    ...{ replicas, host },
  }),
  status: z.object({ availableReplicas: z.int() }),
  printerColumns: [
    { name: 'Host', type: 'string', jsonPath: '.spec.host' },
    { name: 'Zone', type: 'string', jsonPath: '.spec.zone' },
    { name: 'Available', type: 'integer', jsonPath: '.status.availableReplicas' },
  ],
});

/** A web site in a zone. v1 knows no zones, and writes the image as one string. */
export const Site = withVersion(stored, 'v1', {
  spec: z.object({ image: z.string().regex(/^[\w./-]+(:[\w.-]+)?$/), replicas, host }),
  deprecated: true,
  up: ({ spec: { image, ...rest } }) => {
    const [name = '', tag] = image.split(':');
    return { spec: { ...rest, image: { name, tag } } };
  },
  down: ({ spec: { image, replicas, host } }) => ({
    spec: { replicas, host, image: image.tag === undefined ? image.name : `${image.name}:${image.tag}` },
  }),
});
export interface Site extends KindOf<typeof Site> {}
