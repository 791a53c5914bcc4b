import { createHash } from 'node:crypto';
import {
  ApplyError,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  type StructuralSchema,
  splitApiVersion,
} from 'riata/object';
import { ruleChecker } from '../../cel/rules/check-rules.js';
import { IllTypedError } from '../../schema/built-in/decode-typed.js';
import type { CrdSpec, CrdVersion } from '../../schema/crd/crd-object.js';
import { finalizerWarnings } from '../../schema/finalizer-warnings.js';
import { duplicateComplaints, unknownComplaint } from '../../schema/strict-fields.js';
import { readCustomResource } from '../../schema/structural/read-custom-resource.js';
import { checkContent, checkStatusContent, type ScalePaths } from '../../schema/structural/validate-custom-resource.js';
import { withDefaults } from '../../schema/structural/with-defaults.js';
import type { FieldError } from '../../status/field-error.js';
import { forbiddenWrite, Refusal, type ResourceName } from '../../status/refusal.js';
import { atOnce, type Steps } from '../../steps.js';
import { customDeprecation } from '../built-in/deprecation.js';
import { statusApart, trackingOf } from '../fields/managed-fields.js';
import { metaOf, stringsOf, textOf, valueAt } from '../metadata.js';
import { UnreadableError } from '../read-object.js';
import type { Resource, ResourceRules, ResourceSchema, Subresource } from '../resource.js';
import { StoredConversions } from './stored-conversions.js';
import { structuralSchemaOf, VersionSchemas } from './version-schemas.js';
import { type ConversionParts, type WebhookConversion, WebhookConverter } from './webhook-converter.js';

const allVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

/**
 * The resources that an established CustomResourceDefinition serves, one per served version. Without `parts`, no
 * webhook is called.
 */
export function customResources(definition: JsonObject, parts?: ConversionParts): readonly Resource[] {
  const spec = isJsonObject(definition.spec) ? definition.spec : {};
  const versions = (Array.isArray(spec.versions) ? spec.versions : []).filter(isJsonObject);
  const group = textOf(spec.group);
  const stored = versions.find((v) => v.storage === true) ?? versions[0] ?? {};
  const storedAs = `${group}/${textOf(stored.name)}`;
  const schemas = new VersionSchemas(spec, storedAs);
  const served = versions.filter((v) => v.served === true);
  const converter = converterOf(spec, schemas, parts);
  if (converter === undefined) return served.map((v) => resourceOf(definition, spec, v, { storedAs, schemas }));
  const asStored = (object: KubeObject) => {
    const version = versions.find((v) => `${group}/${textOf(v.name)}` === object.apiVersion);
    return version && resourceOf(definition, spec, version, { storedAs: object.apiVersion, schemas });
  };
  return served.map((v) => {
    const apiVersion = `${group}/${textOf(v.name)}`;
    const conversions = new StoredConversions({ apiVersion, storedAs, converter, schemas, asStored });
    return resourceOf(definition, spec, v, { storedAs, schemas, conversions });
  });
}

function converterOf(spec: JsonObject, schemas: VersionSchemas, parts?: ConversionParts): WebhookConverter | undefined {
  const conversion = isJsonObject(spec.conversion) ? spec.conversion : {};
  if (parts === undefined || conversion.strategy !== 'Webhook' || !isJsonObject(conversion.webhook)) return undefined;
  return new WebhookConverter(parts, conversion.webhook as unknown as WebhookConversion, schemas.versions);
}

/** How the objects of all versions are stored and converted. */
interface Conversion {
  readonly storedAs: string;
  readonly schemas: VersionSchemas;
  /** Undefined if versions differ by their schemas only. */
  readonly conversions?: StoredConversions<Resource>;
}

/** The accepted names. */
function namesOf(definition: JsonObject, spec: JsonObject): JsonObject {
  const accepted = valueAt(definition, 'status.acceptedNames');
  if (isJsonObject(accepted) && textOf(accepted.plural) !== '') return accepted;
  return isJsonObject(spec.names) ? spec.names : {};
}

function resourceOf(
  definition: JsonObject,
  spec: JsonObject,
  version: JsonObject,
  { storedAs, schemas, conversions }: Conversion,
): Resource {
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
    storageVersionHash: hashOf(group, splitApiVersion(storedAs).version, kind),
    table: `${group}/${plural}`,
    deprecation: customDeprecation(spec as CrdSpec, version as CrdVersion),
    definition: version as CrdVersion,
    definedAt: textOf(metaOf(definition).resourceVersion),
    content: contentOf(apiVersion, schemas, conversions),
    storable: schemas.writer(apiVersion),
    conversions,
    rules: { ...rulesOf(version), refuseCreate: isTerminating(definition) ? refuseCreate : undefined },
    get schema() {
      schema ??= schemaOf(version, spec, apiVersion, kind, schemas, conversions);
      return schema;
    },
  };
}

/** Shows stored objects in a version. */
function contentOf(apiVersion: string, schemas: VersionSchemas, conversions: StoredConversions | undefined) {
  const read = schemas.reader(apiVersion);
  if (conversions === undefined) return read;
  return (object: KubeObject) => (object.apiVersion === apiVersion ? read(object) : conversions.shown(object));
}

function isTerminating(definition: JsonObject): boolean {
  return textOf(metaOf(definition).deletionTimestamp) !== '';
}

function refuseCreate(resource: ResourceName, name: string): Refusal {
  return forbiddenWrite(resource, name, 'create not allowed while custom resource definition is terminating');
}

/** The storage version hash, as upstream computes it: a truncated digest of group, version and kind. */
function hashOf(group: string, version: string, kind: string): string {
  const digest = createHash('sha256').update(`${group}/${version}/${kind}`).digest();
  return digest.subarray(0, 8).toString('base64');
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

function schemaOf(
  version: JsonObject,
  spec: JsonObject,
  apiVersion: string,
  kind: string,
  schemas: VersionSchemas,
  conversions: StoredConversions | undefined,
): ResourceSchema {
  const schema = structuralSchemaOf(version);
  const preserves = spec.preserveUnknownFields === true;
  const hasStatus = isJsonObject(version.subresources) && version.subresources.status !== undefined;
  const scale = valueAt(version, 'subresources.scale');
  const findings = ruleChecker(schema);
  const rules = {
    schema,
    scale: isJsonObject(scale) ? (scale as unknown as ScalePaths) : undefined,
    rules:
      findings &&
      function* (object: JsonObject, old: JsonObject | undefined): Steps<readonly FieldError[]> {
        return (yield* findings(object, old)).errors;
      },
  };
  return {
    // biome-ignore lint/correctness/useYield: nothing to wait for.
    *read(object) {
      return preserves ? { object, unknown: [] } : readCustom(object, schema, apiVersion, kind);
    },
    *complaints(text, unknown) {
      return [...(yield* duplicateComplaints(text)), ...unknown.map(unknownComplaint)];
    },
    withDefaults: (object) => withDefaults(object, schema),
    validate: (object, before, subresource) =>
      subresource === 'status' && before !== undefined
        ? checkStatusContent(object, before, rules)
        : checkContent(object, before, rules),
    warnings: (object, before) => [
      ...finalizerWarnings(metaOf(object), before && metaOf(before)),
      ...(before && findings ? atOnce(findings(object, before)).warnings : []),
    ],
    tracking: trackingOf({
      apiVersion,
      kind,
      type: schemas.mergeType(apiVersion),
      versions: (other) => ({
        type: schemas.mergeType(other),
        ...(conversions && { convert: (object: JsonObject) => trackedAs(object, other, conversions) }),
      }),
      resetFields: statusApart(hasStatus),
    }),
  };
}

/** Converts an object for managedFields of another version; an update continues without those that fail. */
function trackedAs(object: JsonObject, apiVersion: string, conversions: StoredConversions): JsonObject {
  try {
    return conversions.known(object, apiVersion);
  } catch (error) {
    throw error instanceof Refusal ? new ApplyError(500, error.message) : error;
  }
}

function readCustom(object: JsonObject, schema: StructuralSchema, apiVersion: string, kind: string) {
  try {
    return readCustomResource(object, schema);
  } catch (error) {
    if (!(error instanceof IllTypedError)) throw error;
    throw new UnreadableError({ kind, version: splitApiVersion(apiVersion).version }, error.message);
  }
}
