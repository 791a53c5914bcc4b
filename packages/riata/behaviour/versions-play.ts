import { defineKind, withVersion } from 'riata/object';
import { z } from 'zod';

/** A kind with an old version, in a group of its own: v2 knows digests, v1 does not. */
export function versionedKind(group: string) {
  const v1Spec = z.object({ image: z.string(), replicas: z.int().default(1) });
  const First = defineKind({ group, version: 'v1', kind: 'Site', spec: v1Spec });
  const SiteV2 = defineKind({
    ...{ group, version: 'v2', kind: 'Site' },
    spec: z.object({
      image: z.object({ name: z.string(), tag: z.string(), digest: z.string().optional() }),
      replicas: z.int().default(1),
      size: z.int().optional(),
    }),
  });
  const Site = withVersion(SiteV2, 'v1', {
    spec: v1Spec,
    up: ({ spec: { image, replicas } }) => {
      const [name = '', tag = 'latest'] = image.split(':');
      if (name === 'bad') throw new Error('bad image');
      return { spec: { image: { name, tag }, replicas } };
    },
    down: ({ spec: { image, replicas } }) => ({ spec: { image: `${image.name}:${image.tag}`, replicas } }),
  });
  return { First, SiteV2, Site };
}
