import { type Kind, makeKind } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import type { CrdManifest, CrdVersion } from '../../object/schema/crd-manifest.js';
import type { StructuralSchema } from '../../object/schema/structural-schema.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { typeName } from './type-name.js';
import { commentLines, fieldLines, hasListMap, quoted, type TypeSide } from './type-text.js';

/** Options of {@link typesFromCrds}. */
export interface TypesFromCrdsOptions {
  /** Which version of each kind gets the plain name; others are called `FooV1beta1`. @default the one that is stored */
  readonly version?: string;
  /** Where the types of riata come from. @default 'riata/object' */
  readonly importFrom?: string;
}

export const typesFromCrdsOptionNames = optionNames<TypesFromCrdsOptions>({ version: true, importFrom: true });

/**
 * A TypeScript module for the kinds of CustomResourceDefinitions: for each served version the type of what is read, of
 * what is written where that differs (fields that have a default may be left out then), and a `Kind` to use it by. The
 * same text for the same definitions.
 *
 * Kinds whose names are no identifiers, are reserved, or are used by the text itself get another one: `MyKind` for
 * `My-Kind`, `stringKind` for `string`. Whatever a definition says, it ends up in literals and comments, never in code.
 * Throws a `TypeError` if two kinds would have one name, or if a definition lacks a name or has an unknown scope.
 *
 * ```ts
 * await writeFile('foo.ts', typesFromCrds(await crdsFromDirectory('config/crd')));
 * ```
 */
export function typesFromCrds(crds: Iterable<CrdManifest>, options: TypesFromCrdsOptions = {}): string {
  refuseUnknownOptions('typesFromCrds', options, typesFromCrdsOptionNames);
  const taken = new Map<string, string>();
  const imports = new Set<string>();
  const parts = [...crds].flatMap((crd) => {
    checkDefinition(crd);
    const plain = plainVersion(crd, options.version);
    return crd.spec.versions
      .filter(({ served }) => served)
      .map((version) => {
        const { kind } = crd.spec.names;
        const name = version === plain ? typeName(kind) : typeName(kind, version.name);
        for (const type of [name, `${name}Write`]) {
          const other = taken.get(type);
          if (other !== undefined) {
            throw new TypeError(
              `typesFromCrds: ${crd.metadata.name} and ${other} would both be named ${type}; generate two files`,
            );
          }
          taken.set(type, crd.metadata.name);
        }
        for (const type of ['makeKind', 'type Kind', 'type WriteMeta', `type ${metaOf(crd)}`]) imports.add(type);
        if (hasListMap({ type: 'object', properties: bodyOf(schemaOf(version)) })) imports.add('type ListMap');
        return kindText(name, crd, version);
      });
  });
  const header = '// Generated from CustomResourceDefinitions. Do not edit; generate it again instead.\n';
  if (parts.length === 0) return `${header}export {};\n`;
  const names = [...imports].sort(byName).join(', ');
  return `${header}import { ${names} } from ${quoted(options.importFrom ?? 'riata/object')};\n\n${parts.join('\n')}`;
}

/** No server has checked the contents of files. */
function checkDefinition({ metadata, spec }: CrdManifest): void {
  const what = `typesFromCrds: ${metadata.name}`;
  const { group, scope, names, versions } = spec;
  const texts = { 'spec.group': group, 'spec.names.kind': names.kind, 'spec.names.plural': names.plural };
  const all = [
    ...Object.entries(texts),
    ...versions.map(({ name }, at) => [`spec.versions[${at}].name`, name] as const),
  ];
  for (const [path, text] of all) {
    if (typeof text !== 'string' || text === '') {
      throw new TypeError(`${what}: ${path} must be a non-empty string, got ${JSON.stringify(text)}`);
    }
  }
  if (scope !== 'Namespaced' && scope !== 'Cluster') {
    throw new TypeError(`${what}: spec.scope must be 'Namespaced' or 'Cluster', got ${JSON.stringify(scope)}`);
  }
}

const metaOf = ({ spec }: CrdManifest) => (spec.scope === 'Namespaced' ? 'NamespacedMeta' : 'ClusterMeta');
const schemaOf = ({ schema }: CrdVersion): StructuralSchema => schema?.openAPIV3Schema ?? { type: 'object' };

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

function plainVersion({ spec }: CrdManifest, desired: string | undefined): CrdVersion | undefined {
  return spec.versions.find(({ name }) => name === desired) ?? spec.versions.find(({ storage }) => storage);
}

function kindText(name: string, crd: CrdManifest, version: CrdVersion): string {
  const { group, names, scope } = crd.spec;
  const schema = schemaOf(version);
  const [read, write] = [bodyLines(schema, 'read'), bodyLines(schema, 'write')];
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
    `  readonly metadata: ${metaOf(crd)};`,
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
  const lines = fieldLines({ ...schema, properties: bodyOf(schema) }, side, '  ');
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) lines.push('  readonly [field: string]: unknown;');
  return lines;
}

/** The fields of an object besides those that all have. */
function bodyOf({ properties = {} }: StructuralSchema): NonNullable<StructuralSchema['properties']> {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = properties;
  return rest;
}

function listFact(name: string, list: readonly string[] | undefined): string[] {
  return list === undefined || list.length === 0 ? [] : [`${name}: [${list.map(quoted).join(', ')}]`];
}

const byName = (a: string, b: string): number => (a.replace('type ', '') < b.replace('type ', '') ? -1 : 1);
