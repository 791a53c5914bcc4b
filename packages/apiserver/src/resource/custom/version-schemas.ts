import {
  ApplyError,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  type MergeType,
  mergeTypeFromSchema,
  type StructuralSchema,
} from 'riata/object';
import { objectMetaSchema } from '../../schema/built-in/object-meta-schema.js';
import { withDefaults } from '../../schema/structural/defaults.js';
import { dropNulls } from '../../schema/structural/drop-nulls.js';
import { prune } from '../../schema/structural/prune.js';
import { textOf, valueAt } from '../metadata.js';

/**
 * The schemas of all versions of a definition, as objects pass them on the way to and from storage
 * (`crdConversionRESTOptionsGetter`): what is read gets the defaults of the version that it is stored in, as that stands
 * now, and loses what the version that is asked for does not have.
 */
export class VersionSchemas {
  /** By `apiVersion`. */
  readonly #schemas: ReadonlyMap<string, StructuralSchema>;
  readonly #preserves: boolean;
  readonly #storedAs: string;
  readonly #types = new Map<string, MergeType>();

  /** @param storedAs the `apiVersion` that objects are stored under */
  constructor(spec: JsonObject, storedAs: string) {
    const versions = (Array.isArray(spec.versions) ? spec.versions : []).filter(isJsonObject);
    this.#schemas = new Map(versions.map((v) => [`${textOf(spec.group)}/${textOf(v.name)}`, structuralSchemaOf(v)]));
    this.#preserves = spec.preserveUnknownFields === true;
    this.#storedAs = storedAs;
  }

  /** The versions that there are, as `apiVersion`. */
  get versions(): Iterable<string> {
    return this.#schemas.keys();
  }

  /** A stored object in the version that it is stored in, as that stands now. */
  decoded(object: JsonObject): JsonObject {
    const from = textOf(object.apiVersion);
    return withDefaults(this.trimmed(object, from), this.#schemas.get(from));
  }

  /** What a version shows of stored objects. Each is looked at once. */
  reader(apiVersion: string): (object: KubeObject) => KubeObject {
    const known = new WeakMap<KubeObject, KubeObject>();
    return (object) => {
      const before = known.get(object);
      if (before !== undefined) return before;
      const decoded = this.decoded(object as unknown as JsonObject);
      const shown = object.apiVersion === apiVersion ? decoded : this.trimmed(decoded, apiVersion);
      known.set(object, shown as unknown as KubeObject);
      return shown as unknown as KubeObject;
    };
  }

  /** What is stored of objects of a version. */
  writer(apiVersion: string): (object: JsonObject) => JsonObject {
    return apiVersion === this.#storedAs ? (object) => object : (object) => this.trimmed(object, this.#storedAs);
  }

  /** How fields of a version merge. Throws an `ApplyError` for one that the definition does not have. */
  mergeType(apiVersion: string): MergeType {
    const known = this.#types.get(apiVersion);
    if (known !== undefined) return known;
    const schema = this.#schemas.get(apiVersion);
    if (schema === undefined) {
      throw new ApplyError(500, `request to convert CR to an invalid group/version: ${apiVersion}`);
    }
    const type = mergeTypeFromSchema(withMetaSchema(schema), { preserveUnknownFields: this.#preserves });
    this.#types.set(apiVersion, type);
    return type;
  }

  /** Without what a version does not have, or does not allow to be null. */
  trimmed(object: JsonObject, apiVersion: string): JsonObject {
    if (this.#preserves) return object;
    const schema = this.#schemas.get(apiVersion);
    return dropNulls(prune(object, schema).object, schema);
  }
}

/** The schema of a version; without one, nothing is known of its objects. */
export function structuralSchemaOf(version: JsonObject): StructuralSchema {
  const given = valueAt(version, 'schema.openAPIV3Schema');
  return (isJsonObject(given) ? given : {}) as StructuralSchema;
}

/** Metadata merges as it does everywhere, whatever the schema says of it. */
function withMetaSchema(schema: StructuralSchema): StructuralSchema {
  const text: StructuralSchema = { type: 'string' };
  const own = inEmbedded(schema);
  const properties = { apiVersion: text, kind: text, ...own.properties, metadata: objectMetaSchema() };
  return { ...own, type: 'object', properties };
}

/** The same for all resources that are embedded somewhere below. */
function inEmbedded(schema: StructuralSchema): StructuralSchema {
  const { properties = {}, items, additionalProperties: more } = schema;
  const below = Object.entries(properties).map(([name, property]) => [
    name,
    property?.['x-kubernetes-embedded-resource'] === true ? withMetaSchema(property) : property && inEmbedded(property),
  ]);
  return {
    ...schema,
    ...(schema.properties === undefined ? {} : { properties: Object.fromEntries(below) }),
    ...(isSchema(items) ? { items: inEmbedded(items) } : {}),
    ...(isSchema(more) ? { additionalProperties: inEmbedded(more) } : {}),
  };
}

function isSchema(value: unknown): value is StructuralSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
