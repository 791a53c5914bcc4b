import { getOwn } from '../value/own.js';
import type { CrdVersion, PrinterColumn, ScaleSubresource } from './crd-manifest.js';
import type { Problems } from './schema-error.js';
import type { StructuralSchema } from './structural-schema.js';

/** The options of one version of a kind besides its schema. */
export interface VersionFacts {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly hasStatus: boolean;
  readonly deprecated?: boolean | undefined;
  readonly deprecationWarning?: string | undefined;
  readonly printerColumns?: readonly PrinterColumn[] | undefined;
  readonly selectableFields?: readonly string[] | undefined;
  readonly scale?: ScaleSubresource | undefined;
}

/** One version as it stands in a CustomResourceDefinition. Reports everything that an API server would refuse. */
export function buildCrdVersion(facts: VersionFacts, schema: StructuralSchema, problems: Problems): CrdVersion {
  const { name, served, storage, deprecated, deprecationWarning, printerColumns, selectableFields, scale } = facts;
  checkColumns(printerColumns ?? [], problems);
  checkSelectable(selectableFields ?? [], schema, problems);
  if (scale !== undefined) checkScale(scale, facts.hasStatus, problems);
  if (deprecationWarning !== undefined && deprecated !== true) {
    problems.add('deprecationWarning', 'goes with deprecated: true');
  }
  return {
    name,
    served,
    storage,
    ...(deprecated === true ? { deprecated } : {}),
    ...(deprecationWarning === undefined ? {} : { deprecationWarning }),
    schema: { openAPIV3Schema: schema },
    ...(facts.hasStatus || scale !== undefined
      ? { subresources: { ...(facts.hasStatus ? { status: {} } : {}), ...(scale === undefined ? {} : { scale }) } }
      : {}),
    ...(printerColumns === undefined ? {} : { additionalPrinterColumns: printerColumns }),
    ...(selectableFields === undefined ? {} : { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
  };
}

const columnTypes: readonly string[] = ['integer', 'number', 'string', 'boolean', 'date'];

function checkColumns(columns: readonly PrinterColumn[], problems: Problems): void {
  for (const [index, { name, type, jsonPath }] of columns.entries()) {
    const path = `printerColumns[${index}]`;
    if (name === '') problems.add(path, 'must have a name');
    if (!columnTypes.includes(type)) problems.add(path, `type must be one of ${columnTypes.join(', ')}, got ${type}`);
    if (!jsonPath.startsWith('.'))
      problems.add(path, `jsonPath must be a path such as .spec.replicas, got ${jsonPath}`);
  }
}

const simplePath = /^(?:\.[A-Za-z_][\w-]*)+$/;

function checkScale(scale: ScaleSubresource, hasStatus: boolean, problems: Problems): void {
  const expects = [
    ['specReplicasPath', scale.specReplicasPath, ['.spec.']],
    ['statusReplicasPath', scale.statusReplicasPath, ['.status.']],
    ['labelSelectorPath', scale.labelSelectorPath, ['.spec.', '.status.']],
  ] as const;
  for (const [name, path, starts] of expects) {
    if (path === undefined) continue;
    if (!simplePath.test(path) || !starts.some((start) => path.startsWith(start))) {
      problems.add(`scale.${name}`, `must be a plain path below ${starts.join(' or ')}, got ${JSON.stringify(path)}`);
    }
  }
  if (!hasStatus) problems.add('scale', 'requires a status schema, which holds the number of replicas');
}

const selectableTypes: readonly unknown[] = ['string', 'boolean', 'integer'];

function checkSelectable(paths: readonly string[], schema: StructuralSchema, problems: Problems): void {
  if (paths.length > 8) problems.add('selectableFields', `a server accepts at most 8, got ${paths.length}`);
  for (const [index, path] of paths.entries()) {
    const at = `selectableFields[${index}]`;
    if (!simplePath.test(path)) {
      problems.add(at, `must be a plain path such as .spec.color, got ${JSON.stringify(path)}`);
      continue;
    }
    const field = fieldAt(schema, path);
    if (path.startsWith('.metadata.'))
      problems.add(at, 'metadata cannot be selected; metadata.name and metadata.namespace always work');
    else if (!selectableTypes.includes(field?.type)) {
      problems.add(at, `${path} is not a field of type string, boolean or integer`);
    }
  }
}

function fieldAt(schema: StructuralSchema, path: string): StructuralSchema | undefined {
  let at: StructuralSchema | undefined = schema;
  for (const name of path.slice(1).split('.')) {
    at = getOwn(at?.properties ?? {}, name) as StructuralSchema | undefined;
  }
  return at;
}
