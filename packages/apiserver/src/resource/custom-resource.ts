import { isJsonObject, type JsonObject, mergeTypeFromSchema, type StructuralSchema } from 'riata/object';
import { IllTypedError } from '../schema/built-in/decode-typed.js';
import { objectMetaSchema } from '../schema/built-in/object-meta-schema.js';
import { withDefaults } from '../schema/structural/defaults.js';
import { readCustomResource } from '../schema/structural/read-custom-resource.js';
import { checkContent, type ScalePaths } from '../schema/structural/validate-custom-resource.js';
import { badRequest } from '../status/refusal.js';
import { statusApart, trackingOf } from './managed-fields.js';
import { stringsOf, textOf, valueAt } from './metadata.js';
import type { Resource, ResourceRules, ResourceSchema, Subresource } from './resource.js';

const allVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

/** The resources that an established CustomResourceDefinition serves, one per served version. */
export function customResources(definition: JsonObject): readonly Resource[] {
  const spec = isJsonObject(definition.spec) ? definition.spec : {};
  const versions = (Array.isArray(spec.versions) ? spec.versions : []).filter(isJsonObject);
  const group = textOf(spec.group);
  const stored = versions.find((v) => v.storage === true) ?? versions[0] ?? {};
  return versions
    .filter((v) => v.served === true)
    .map((v) => resourceOf(definition, spec, v, `${group}/${textOf(stored.name)}`));
}

/** Names as the server has accepted them. */
function namesOf(definition: JsonObject, spec: JsonObject): JsonObject {
  const accepted = valueAt(definition, 'status.acceptedNames');
  if (isJsonObject(accepted) && textOf(accepted.plural) !== '') return accepted;
  return isJsonObject(spec.names) ? spec.names : {};
}

function resourceOf(definition: JsonObject, spec: JsonObject, version: JsonObject, storedAs: string): Resource {
  const names = namesOf(definition, spec);
  const [group, plural, kind] = [textOf(spec.group), textOf(names.plural), textOf(names.kind)];
  const name = textOf(version.name);
  const apiVersion = `${group}/${name}`;
  const subresources = subresourcesOf(version, group, name, kind);
  let schema: ResourceSchema | undefined;
  return {
    ...{ group, plural, kind, apiVersion, storedAs, subresources },
    builtIn: false,
    version: name,
    listKind: textOf(names.listKind) || `${kind}List`,
    singular: textOf(names.singular) || kind.toLowerCase(),
    scope: spec.scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
    shortNames: stringsOf(names.shortNames),
    categories: stringsOf(names.categories),
    verbs: allVerbs,
    table: `${group}/${plural}`,
    rules: rulesOf(version),
    get schema() {
      schema ??= schemaOf(version, spec, apiVersion, kind);
      return schema;
    },
  };
}

function subresourcesOf(version: JsonObject, group: string, name: string, kind: string): Subresource[] {
  const given = isJsonObject(version.subresources) ? version.subresources : {};
  const verbs = ['get', 'patch', 'update'];
  const found: Subresource[] = [];
  if (given.status !== undefined) found.push({ name: 'status', group, version: name, kind, verbs });
  if (given.scale !== undefined) {
    found.push({ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs });
  }
  return found;
}

function rulesOf(version: JsonObject): ResourceRules {
  const selectable = Array.isArray(version.selectableFields) ? version.selectableFields : [];
  const fieldNames = selectable.filter(isJsonObject).map((field) => textOf(field.jsonPath).replace(/^\./, ''));
  return {
    countsGenerations: true,
    updatesUnconditionally: false,
    fieldNames,
    scale: scaleOf(version),
    fields: (object) => Object.fromEntries(fieldNames.map((field) => [field, printed(valueAt(object, field))])),
  };
}

function scaleOf(version: JsonObject): ResourceRules['scale'] {
  const scale = valueAt(version, 'subresources.scale');
  if (!isJsonObject(scale)) return undefined;
  const path = (value: unknown) => textOf(value).replace(/^\./, '');
  const selector = path(scale.labelSelectorPath);
  return {
    replicas: path(scale.specReplicasPath),
    status: path(scale.statusReplicasPath),
    selector: selector === '' ? undefined : selector,
  };
}

function printed(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}

function schemaOf(version: JsonObject, spec: JsonObject, apiVersion: string, kind: string): ResourceSchema {
  const given = isJsonObject(version.schema) ? version.schema.openAPIV3Schema : undefined;
  const schema = (isJsonObject(given) ? given : {}) as StructuralSchema;
  const preserves = spec.preserveUnknownFields === true;
  const hasStatus = isJsonObject(version.subresources) && version.subresources.status !== undefined;
  const scale = valueAt(version, 'subresources.scale');
  const rules = { schema, scale: isJsonObject(scale) ? (scale as unknown as ScalePaths) : undefined };
  return {
    read: (object) => (preserves ? { object, unknown: [] } : readCustom(object, schema, kind)),
    withDefaults: (object) => withDefaults(object, schema),
    validate: (object, before) => checkContent(object, before, rules),
    tracking: trackingOf({
      apiVersion,
      kind,
      type: mergeTypeFromSchema(withMetaSchema(schema), { preserveUnknownFields: preserves }),
      resetFields: statusApart(hasStatus),
    }),
  };
}

function readCustom(object: JsonObject, schema: StructuralSchema, kind: string) {
  try {
    return readCustomResource(object, schema);
  } catch (error) {
    if (!(error instanceof IllTypedError)) throw error;
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): ${error.message}`);
  }
}

/** Metadata merges as it does everywhere, whatever the schema says of it. */
function withMetaSchema(schema: StructuralSchema): StructuralSchema {
  const text: StructuralSchema = { type: 'string' };
  const properties = { apiVersion: text, kind: text, ...schema.properties, metadata: objectMetaSchema() };
  return { ...schema, type: 'object', properties };
}
