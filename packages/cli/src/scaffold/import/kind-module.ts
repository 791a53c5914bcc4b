import { kindNames } from 'create-riata';
import { type CrdManifest, type CrdVersion, pluralOf, type StructuralSchema } from 'riata/object';
import { literalOf } from '../example-spec.js';
import { zodText } from './zod-text.js';

/** The module of a kind, and what its author has to know. */
export interface KindModule {
  readonly text: string;
  readonly notes: readonly string[];
}

/** Fields that every object, or every status of `defineKind`, has. */
const ownFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status']);
const addedStatus = ['conditions', 'observedGeneration'] as const;

/** A module that defines a kind with the schemas of its CustomResourceDefinition. Throws if it stores no version. */
export function kindModule({ metadata, spec }: CrdManifest): KindModule {
  const notes: string[] = [];
  const { group, names, scope, versions, conversion } = spec as CrdManifest['spec'] & {
    conversion?: { strategy: string };
  };
  const stored = versions.find(({ storage }) => storage);
  if (stored === undefined) throw new TypeError(`${metadata.name}: no version is stored`);
  const others = versions.filter((each) => each !== stored && each.served);
  const lines = [
    `group: ${literalOf(group)},`,
    `version: ${literalOf(stored.name)},`,
    `kind: ${literalOf(names.kind)},`,
    ...(scope === 'Cluster' ? ["scope: 'Cluster',"] : []),
    ...(names.plural === pluralOf(names.kind) ? [] : [`plural: ${literalOf(names.plural)},`]),
    ...(names.singular === undefined || names.singular === names.kind.toLowerCase()
      ? []
      : [`singular: ${literalOf(names.singular)},`]),
    ...(names.shortNames === undefined ? [] : [`shortNames: ${literalOf(names.shortNames)},`]),
    ...(names.categories === undefined ? [] : [`categories: ${literalOf(names.categories)},`]),
    ...versionLines(stored, '  ', notes),
    ...(others.length === 0
      ? []
      : [
          'versions: [',
          ...others.flatMap((each) => [
            '  {',
            `    name: ${literalOf(each.name)},`,
            ...versionLines(each, '      ', notes).map((line) => `    ${line}`),
            '  },',
          ]),
          '],',
        ]),
  ];
  if (others.length > 0) {
    const how =
      conversion?.strategy === 'Webhook'
        ? 'the Go operator converts them by a webhook'
        : 'the server changes only apiVersion';
    notes.push(`is also served as ${others.map(({ name }) => name).join(', ')}; ${how}. To convert, use withVersion`);
  }
  const { description } = schemaOf(stored);
  const { kind } = kindNames(names.kind);
  const comment = (description ?? `A ${kind} of ${group}.`).replaceAll('*/', '* /').replace(/\s+/g, ' ');
  const text = `import { defineKind, type KindOf } from 'riata';
import { z } from 'zod';

/** ${comment} */
export const ${kind} = defineKind({
${lines.map((line) => `  ${line}`).join('\n')}
});
export interface ${kind} extends KindOf<typeof ${kind}> {}
`;
  return { text, notes };
}

const schemaOf = ({ schema }: CrdVersion): StructuralSchema => schema?.openAPIV3Schema ?? { type: 'object' };

function versionLines(version: CrdVersion, indent: string, notes: string[]): string[] {
  const { properties = {}, required = [] } = schemaOf(version);
  const beside = Object.keys(properties).filter((name) => !ownFields.has(name));
  if (beside.length > 0)
    notes.push(`${version.name}: fields beside spec and status were left out: ${beside.join(', ')}`);
  if (!required.includes('spec'))
    notes.push(`${version.name}: spec is required now; objects without one must get an empty one first`);
  const spec = zodText(properties.spec ?? { type: 'object' }, 'spec', indent);
  const status = zodText(properties.status ?? { type: 'object' }, 'status', indent, addedStatus);
  for (const dropped of [...spec.dropped, ...status.dropped]) notes.push(`${version.name}: left out: ${dropped}`);
  const hasStatus = version.subresources?.status !== undefined;
  const { additionalPrinterColumns: columns, selectableFields, subresources, deprecated, deprecationWarning } = version;
  return [
    `spec: ${spec.text},`,
    ...(hasStatus ? [`status: ${status.text},`] : []),
    ...(columns === undefined ? [] : ['printerColumns: [', ...columns.map((each) => `  ${literalOf(each)},`), '],']),
    ...(subresources?.scale === undefined ? [] : [`scale: ${literalOf(subresources.scale)},`]),
    ...(selectableFields === undefined
      ? []
      : [`selectableFields: ${literalOf(selectableFields.map(({ jsonPath }) => jsonPath))},`]),
    ...(deprecated ? ['deprecated: true,'] : []),
    ...(deprecationWarning === undefined ? [] : [`deprecationWarning: ${literalOf(deprecationWarning)},`]),
  ];
}
