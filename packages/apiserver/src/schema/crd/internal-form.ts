import { equal, isJsonObject, type Json } from 'riata/object';
import type { CrdColumn, CrdSpec, CrdSubresources, CrdVersion, SchemaProps } from './crd-object.js';

/**
 * A CRD's spec in the form that the real server validates: common parts of all versions are at the top, once. Messages
 * use these paths: `spec.validation.openAPIV3Schema`.
 */
export interface InternalSpec {
  readonly versions: readonly CrdVersion[];
  readonly validation: CrdVersion['schema'];
  readonly subresources: CrdSubresources | undefined;
  readonly additionalPrinterColumns: readonly CrdColumn[];
  readonly selectableFields: NonNullable<CrdVersion['selectableFields']>;
}

export function internalForm({ versions }: CrdSpec): InternalSpec {
  const list = versions ?? [];
  const shared = {
    schema: common(list, 'schema'),
    subresources: common(list, 'subresources'),
    additionalPrinterColumns: common(list, 'additionalPrinterColumns'),
    selectableFields: common(list, 'selectableFields'),
  };
  const own = list.map((version) => {
    const copy: Record<string, unknown> = { ...version };
    for (const [name, same] of Object.entries(shared)) if (same !== undefined) delete copy[name];
    return copy as CrdVersion;
  });
  return {
    versions: own,
    validation: shared.schema?.value,
    subresources: shared.subresources?.value,
    additionalPrinterColumns: shared.additionalPrinterColumns?.value ?? [],
    selectableFields: shared.selectableFields?.value ?? [],
  };
}

/** The value of this member that all versions share; undefined if they differ. */
function common<K extends keyof CrdVersion>(
  versions: readonly CrdVersion[],
  name: K,
): { readonly value: CrdVersion[K] } | undefined {
  const value = versions[0]?.[name];
  const same = versions.every((version) => equal((version[name] ?? null) as Json, (value ?? null) as Json));
  return same ? { value } : undefined;
}

/** The members of a schema as the server's Go struct has them, with the value that stands for an absent one. */
const schemaMembers: readonly (readonly [name: string, key: string, zero: Json])[] = [
  ['ID', 'id', ''],
  ['Schema', '$schema', ''],
  ['Ref', '$ref', null],
  ['Description', 'description', ''],
  ['Type', 'type', ''],
  ['Nullable', 'nullable', false],
  ['Format', 'format', ''],
  ['Title', 'title', ''],
  ['Default', 'default', null],
  ['Maximum', 'maximum', null],
  ['ExclusiveMaximum', 'exclusiveMaximum', false],
  ['Minimum', 'minimum', null],
  ['ExclusiveMinimum', 'exclusiveMinimum', false],
  ['MaxLength', 'maxLength', null],
  ['MinLength', 'minLength', null],
  ['Pattern', 'pattern', ''],
  ['MaxItems', 'maxItems', null],
  ['MinItems', 'minItems', null],
  ['UniqueItems', 'uniqueItems', false],
  ['MultipleOf', 'multipleOf', null],
  ['Enum', 'enum', null],
  ['MaxProperties', 'maxProperties', null],
  ['MinProperties', 'minProperties', null],
  ['Required', 'required', null],
  ['Items', 'items', null],
  ['AllOf', 'allOf', null],
  ['OneOf', 'oneOf', null],
  ['AnyOf', 'anyOf', null],
  ['Not', 'not', null],
  ['Properties', 'properties', null],
  ['AdditionalProperties', 'additionalProperties', null],
  ['PatternProperties', 'patternProperties', null],
  ['Dependencies', 'dependencies', null],
  ['AdditionalItems', 'additionalItems', null],
  ['Definitions', 'definitions', null],
  ['ExternalDocs', 'externalDocs', null],
  ['Example', 'example', null],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', null],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', false],
  ['XIntOrString', 'x-kubernetes-int-or-string', false],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', null],
  ['XListType', 'x-kubernetes-list-type', null],
  ['XMapType', 'x-kubernetes-map-type', null],
  ['XValidations', 'x-kubernetes-validations', null],
];

/** The Go names of the members that a schema has. */
export function membersOf(schema: SchemaProps): string[] {
  return schemaMembers
    .filter(([, key, zero]) => {
      const value = (schema as Record<string, Json | undefined>)[key];
      return value !== undefined && !equal(value, zero);
    })
    .map(([name]) => name);
}

/** A schema as the server prints it in an error. */
export function printedSchema(schema: SchemaProps): Json {
  const printed: Record<string, Json> = {};
  for (const [name, key, zero] of schemaMembers) {
    const value = (schema as Record<string, Json | undefined>)[key];
    printed[name] = value === undefined ? zero : printedMember(name, value);
  }
  return printed;
}

function printedMember(name: string, value: Json): Json {
  const schema = (given: Json) => printedSchema(given as unknown as SchemaProps);
  const each = (given: Json) =>
    isJsonObject(given)
      ? Object.fromEntries(Object.entries(given).map(([key, one]) => [key, schema(one as Json)]))
      : given;
  switch (name) {
    case 'Items':
      return Array.isArray(value)
        ? { Schema: null, JSONSchemas: value.map(schema) }
        : { Schema: value === null ? null : schema(value), JSONSchemas: null };
    case 'AllOf':
    case 'OneOf':
    case 'AnyOf':
      return (value as readonly Json[]).map(schema);
    case 'Not':
      return schema(value);
    case 'Properties':
    case 'PatternProperties':
    case 'Definitions':
      return each(value);
    case 'AdditionalProperties':
    case 'AdditionalItems':
      return isJsonObject(value) ? { Allows: true, Schema: schema(value) } : { Allows: value, Schema: null };
    default:
      return value;
  }
}

/** The versions as the server prints them in an error. */
export function printedVersions(versions: readonly CrdVersion[]): Json {
  return versions.map((version) => {
    const schema = version.schema?.openAPIV3Schema;
    const { subresources } = version;
    return {
      Name: version.name ?? '',
      Served: version.served ?? false,
      Storage: version.storage ?? false,
      Deprecated: version.deprecated ?? false,
      DeprecationWarning: version.deprecationWarning ?? null,
      Schema: version.schema === undefined ? null : { OpenAPIV3Schema: schema ? printedSchema(schema) : null },
      Subresources: subresources
        ? { Status: subresources.status ? {} : null, Scale: printedScale(subresources) }
        : null,
      AdditionalPrinterColumns:
        version.additionalPrinterColumns?.map((column) => ({
          Name: column.name ?? '',
          Type: column.type ?? '',
          Format: column.format ?? '',
          Description: column.description ?? '',
          Priority: column.priority ?? 0,
          JSONPath: column.jsonPath ?? '',
        })) ?? null,
      SelectableFields: version.selectableFields?.map(({ jsonPath = '' }) => ({ JSONPath: jsonPath })) ?? null,
    };
  });
}

function printedScale({ scale }: CrdSubresources): Json {
  if (scale === undefined) return null;
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = null } = scale;
  return {
    SpecReplicasPath: specReplicasPath,
    StatusReplicasPath: statusReplicasPath,
    LabelSelectorPath: labelSelectorPath,
  };
}
