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
import { dropNulls } from '../../schema/structural/drop-nulls.js';
import { prune } from '../../schema/structural/prune.js';
import { withDefaults } from '../../schema/structural/with-defaults.js';
import { textOf, valueAt } from '../metadata.js';

/**
 * Applies the schemas of all versions of a definition on the way to and from storage
 * (`crdConversionRESTOptionsGetter`): an object that is read gets the current defaults of its stored version, and loses
 * fields that the requested version does not have.
 */
export class VersionSchemas {
  /** By `apiVersion`. */
  readonly #schemas: ReadonlyMap<string, StructuralSchema>;
  readonly #preserves: boolean;
  readonly #storedAs: string;
  readonly #types = new Map<string, MergeType>();

  /** @param storedAs the `apiVersion` of the storage version */
  constructor(spec: JsonObject, storedAs: string) {
    const versions = (Array.isArray(spec.versions) ? spec.versions : []).filter(isJsonObject);
    this.#schemas = new Map(versions.map((v) => [`${textOf(spec.group)}/${textOf(v.name)}`, structuralSchemaOf(v)]));
    this.#preserves = spec.preserveUnknownFields === true;
    this.#storedAs = storedAs;
  }

  /** All versions, as `apiVersion`. */
  get versions(): Iterable<string> {
    return this.#schemas.keys();
  }

  /** A stored object in its stored version, by the current schema. */
  decoded(object: JsonObject): JsonObject {
    const from = textOf(object.apiVersion);
    return withDefaults(this.trimmed(object, from), this.#schemas.get(from));
  }

  /** Shows stored objects in a version. Each is converted once. */
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

  /** Returns the storage form of objects of a version. */
  writer(apiVersion: string): (object: JsonObject) => JsonObject {
    return apiVersion === this.#storedAs ? (object) => object : (object) => this.trimmed(object, this.#storedAs);
  }

  /** The merge type of a version. Throws an `ApplyError` for an unknown version. */
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

  /** Drops fields that a version does not have, or that must not be null. */
  trimmed(object: JsonObject, apiVersion: string): JsonObject {
    if (this.#preserves) return object;
    const schema = this.#schemas.get(apiVersion);
    return dropNulls(prune(object, schema).object, schema);
  }
}

/** The schema of a version; without one, anything is allowed. */
export function structuralSchemaOf(version: JsonObject): StructuralSchema {
  const given = valueAt(version, 'schema.openAPIV3Schema');
  return (isJsonObject(given) ? given : {}) as StructuralSchema;
}

/** Merges metadata as for any kind, whatever the schema says. */
function withMetaSchema(schema: StructuralSchema): StructuralSchema {
  const text: StructuralSchema = { type: 'string' };
  const own = inEmbedded(schema);
  const properties = { apiVersion: text, kind: text, ...own.properties, metadata: objectMetaSchema() };
  return { ...own, type: 'object', properties };
}

/** The same for embedded resources. */
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
