import { defineKind, withVersion } from 'riata/object';

const text = { type: 'string' } as const;
const v1Spec = { type: 'object', properties: { image: text }, required: ['image'] } as const;
const v2Spec = { type: 'object', properties: { name: text, tag: text }, required: ['name', 'tag'] } as const;
const names = { group: 'migration.riata.dev', kind: 'Site' } as const;

/** The kind before it had a second version. */
export const FirstSite = defineKind({ ...names, version: 'v1', spec: v1Spec });

/** The kind whose stored objects are migrated to v2. */
export const Site = withVersion(defineKind({ ...names, version: 'v2', spec: v2Spec }), 'v1', {
  spec: v1Spec,
  up: ({ spec: { image } }) => {
    const [name = '', tag = 'latest'] = image.split(':');
    return { spec: { name, tag } };
  },
  down: ({ spec: { name, tag } }) => ({ spec: { image: `${name}:${tag}` } }),
});
