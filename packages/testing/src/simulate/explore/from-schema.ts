import type { Json, KubeObject, StructuralSchema } from 'riata/object';
import { optionNames, refuseUnknownOptions } from 'riata/runtime';
import type { Definition } from '../../install-definitions.js';
import type { InstallableKind } from '../../test-environment-options.js';
import { type FieldChange, readablePath } from '../run/field-change.js';
import { type DrawValues, schemaChanges } from './schema-changes.js';

/** Options of {@link fromSchema}. */
export interface FromSchemaOptions {
  /** Fields that are not changed, with all below them, as `spec.storage`. @default none */
  readonly skip?: readonly string[];
  /** Values to try for a field instead of drawn ones: `{ 'spec.host': ['a.example.com'] }`. @default none */
  readonly values?: Readonly<Record<string, readonly Json[]>>;
}

const fromSchemaOptionNames = optionNames<FromSchemaOptions>({ skip: true, values: true });

/** Changes of objects of one kind, for the option `changes` of `simulate`. */
export interface SpecChanges {
  readonly group: string;
  readonly kind: string;
  /** Changes of single fields, from what the object is now. @internal */
  readonly of: (object: KubeObject, draw: DrawValues) => readonly FieldChange[];
}

/** What `fromSchema` takes: a kind of `defineKind`, or a CustomResourceDefinition. */
export type SchemaSource = InstallableKind | Definition;

const notChanged: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/**
 * Draws changes of the spec from the schema of a kind: optional fields removed and set, boundaries, other values of enums,
 * lists reordered, keys of maps added and removed. `simulate` makes each when the story is over, checks that the
 * controllers converge, undoes it, and checks that everything is as before. Requires the package `fast-check`.
 *
 * @example
 * simulate({ kinds: [Site], run: [sites], story, changes: fromSchema(Site) });
 */
export function fromSchema(source: SchemaSource, options: FromSchemaOptions = {}): SpecChanges {
  refuseUnknownOptions('fromSchema', options, fromSchemaOptionNames);
  const { skip = [], values = {} } = options;
  const { group, kind, properties } = schemaOf(source);
  const isSkipped = ({ path }: FieldChange) => {
    const readable = readablePath(path);
    return skip.some((each) => readable === each || readable.startsWith(`${each}.`) || readable.startsWith(`${each}[`));
  };
  const given = ({ path, value }: FieldChange): readonly FieldChange[] => {
    const chosen = value === undefined ? undefined : values[readablePath(path)];
    return chosen?.map((each) => ({ path, value: each })) ?? [{ path, ...(value !== undefined && { value }) }];
  };
  return {
    ...{ group, kind },
    of: (object, draw) => {
      const found: FieldChange[] = [];
      const changeable = Object.fromEntries(Object.entries(properties).filter(([name]) => !notChanged.has(name)));
      const whole = { type: 'object', properties: changeable, required: Object.keys(changeable) } as const;
      const seen = new Set<string>();
      for (const change of schemaChanges(whole, object as unknown as Json, [], draw)) {
        for (const each of isSkipped(change) ? [] : given(change)) {
          const id = JSON.stringify([each.path, each.value]);
          if (!seen.has(id)) found.push(each);
          seen.add(id);
        }
      }
      return found;
    },
  };
}

interface SourceSchema {
  readonly group: string;
  readonly kind: string;
  readonly properties: NonNullable<StructuralSchema['properties']>;
}

interface DefinitionVersion {
  readonly name: string;
  readonly storage?: boolean;
  readonly schema?: { readonly openAPIV3Schema?: StructuralSchema };
}

function schemaOf(source: SchemaSource): SourceSchema {
  const definition = 'crd' in source ? source.crd() : source;
  const { group, names, versions } = definition.spec;
  const all = versions as readonly DefinitionVersion[];
  const wanted = 'crd' in source ? all.find(({ name }) => name === source.version) : all.find(({ storage }) => storage);
  const { properties } = (wanted ?? all[0])?.schema?.openAPIV3Schema ?? {};
  if (properties === undefined || Object.keys(properties).every((name) => notChanged.has(name))) {
    throw new TypeError(`fromSchema: the schema of ${names.kind} has no fields to change besides metadata and status`);
  }
  return { group, kind: names.kind, properties };
}
