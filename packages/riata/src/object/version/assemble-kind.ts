import { type KindRef, makeKind } from '../kind.js';
import type { KubeObject } from '../meta.js';
import type { CrdManifest, CrdVersion } from '../schema/crd-manifest.js';
import type { SchemaSource } from '../schema/infer-schema.js';
import { type ConvertedVersion, ObjectConverter } from './object-converter.js';

/** The kind that a definition's first version is used by, with a kind for each converted version. */
export function assembleKind(
  manifest: CrdManifest,
  others: readonly ConvertedVersion[],
  sources: Readonly<Record<string, SchemaSource>>,
): object {
  const { group, names, versions } = manifest.spec;
  const own = versions[0] as CrdVersion;
  const side = ({ name, schema }: CrdVersion) => ({
    name,
    apiVersion: `${group}/${name}`,
    schema: schema.openAPIV3Schema,
  });
  const converter = new ObjectConverter(names.kind, side(own), others);
  const make = (version: CrdVersion, olders: object): object => {
    const extra = {
      ...{
        schema: version.schema.openAPIV3Schema,
        source: sources[version.name],
        crd: () => manifest,
        versions: olders,
        converter,
      },
      convert: (object: KubeObject, to: KindRef) => converter.convert(object, to.apiVersion),
      named: () => made,
    };
    const facts = { ...names, group, version: version.name, scope: manifest.spec.scope };
    const made = makeKind({ ...facts, subresources: Object.keys(version.subresources ?? {}) }, extra);
    return made;
  };
  const converted = versions.filter(({ name }) => others.some((other) => other.name === name));
  return make(own, Object.freeze(Object.fromEntries(converted.map((version) => [version.name, make(version, {})]))));
}
