import { type Kind, makeKind } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import type { CrdManifest, CrdVersion } from '../../object/schema/custom-resource-definition.js';
import type { StructuralSchema } from '../../object/schema/structural-schema.js';
import { commentLines, fieldLines, quoted, type TypeSide } from './type-text.js';

/** Options of {@link typesFromCrds}. */
export interface TypesFromCrdsOptions {
  /** Which version of each kind gets the plain name; others are called `FooV1beta1`. @default the one that is stored */
  readonly version?: string;
  /** Where the types of riata come from. @default 'riata/object' */
  readonly importFrom?: string;
}

/**
 * A TypeScript module for the kinds of CustomResourceDefinitions: for each served version the type of what is read, of
 * what is written where that differs (fields that have a default may be left out then), and a `Kind` to use it by. The
 * same text for the same definitions. Throws a `TypeError` if two kinds would have one name.
 *
 * ```ts
 * await writeFile('foo.ts', typesFromCrds(await crdsFromDirectory('config/crd')));
 * ```
 */
export function typesFromCrds(crds: Iterable<CrdManifest>, options: TypesFromCrdsOptions = {}): string {
  const taken = new Map<string, string>();
  const parts = [...crds].flatMap((crd) => {
    const plain = plainVersion(crd, options.version);
    return crd.spec.versions
      .filter(({ served }) => served)
      .map((version) => {
        const name = version === plain ? crd.spec.names.kind : `${crd.spec.names.kind}${capital(version.name)}`;
        const other = taken.get(name);
        if (other !== undefined) {
          throw new TypeError(
            `typesFromCrds: ${crd.metadata.name} and ${other} would both be called ${name}; write two files`,
          );
        }
        taken.set(name, crd.metadata.name);
        return kindText(name, crd, version);
      });
  });
  const body = parts.join('\n');
  const names = ['ClusterMeta', 'Kind', 'ListMap', 'NamespacedMeta', 'WriteMeta'].filter((name) => {
    return new RegExp(`\\b${name}\\b`).test(body);
  });
  const imports = ['makeKind', ...names.map((name) => `type ${name}`)].sort(byName).join(', ');
  return `// Made from CustomResourceDefinitions: make it again rather than changing it.\nimport { ${imports} } from ${quoted(options.importFrom ?? 'riata/object')};\n\n${body}`;
}

/** A kind of unknown shape, by its definition: for programs that learn of kinds as they run. @throws if it has no such version */
export function kindFromCrd(
  crd: CrdManifest,
  version?: string,
): Kind<KubeObject & { readonly [field: string]: unknown }> {
  const found = plainVersion(crd, version);
  if (found === undefined || (version !== undefined && found.name !== version)) {
    throw new TypeError(
      `kindFromCrd: ${crd.metadata.name} has no version ${JSON.stringify(version ?? 'that is stored')}`,
    );
  }
  const { group, names, scope } = crd.spec;
  const subresources = Object.keys(found.subresources ?? {});
  return makeKind(
    { group, ...names, version: found.name, scope, subresources },
    { schema: found.schema?.openAPIV3Schema },
  );
}

function plainVersion({ spec }: CrdManifest, wanted: string | undefined): CrdVersion | undefined {
  return spec.versions.find(({ name }) => name === wanted) ?? spec.versions.find(({ storage }) => storage);
}

function kindText(name: string, { spec }: CrdManifest, version: CrdVersion): string {
  const { group, names, scope } = spec;
  const schema: StructuralSchema = version.schema?.openAPIV3Schema ?? { type: 'object' };
  const [read, write] = [bodyLines(schema, 'read'), bodyLines(schema, 'write')];
  const meta = scope === 'Namespaced' ? 'NamespacedMeta' : 'ClusterMeta';
  const hasWrite = read.join('\n') !== write.join('\n');
  const facts = [
    ...[`group: ${quoted(group)}`, `version: ${quoted(version.name)}`, `kind: ${quoted(names.kind)}`],
    ...[`plural: ${quoted(names.plural)}`, `singular: ${quoted(names.singular ?? names.kind.toLowerCase())}`],
    `scope: ${quoted(scope)}`,
    ...listFact('shortNames', names.shortNames),
    ...listFact('categories', names.categories),
    ...listFact('subresources', Object.keys(version.subresources ?? {})),
  ];
  return [
    ...commentLines(schema.description, ''),
    `export interface ${name} {`,
    `  readonly apiVersion: ${quoted(`${group}/${version.name}`)};`,
    `  readonly kind: ${quoted(names.kind)};`,
    `  readonly metadata: ${meta};`,
    ...read,
    '}',
    '',
    `/** What is written where a ${name} is read. */`,
    `export interface ${name}Write {`,
    '  readonly metadata: WriteMeta;',
    ...(hasWrite ? write : read),
    '}',
    '',
    `export const ${name}: Kind<${name}, ${name}Write, ${quoted(scope)}> = makeKind({`,
    ...facts.map((fact) => `  ${fact},`),
    '});',
    '',
  ].join('\n');
}

function bodyLines(schema: StructuralSchema, side: TypeSide): string[] {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...properties } = schema.properties ?? {};
  const lines = fieldLines({ ...schema, properties }, side, '  ');
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) lines.push('  readonly [field: string]: unknown;');
  return lines;
}

function listFact(name: string, list: readonly string[] | undefined): string[] {
  return list === undefined || list.length === 0 ? [] : [`${name}: [${list.map(quoted).join(', ')}]`];
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const byName = (a: string, b: string): number => (a.replace('type ', '') < b.replace('type ', '') ? -1 : 1);
