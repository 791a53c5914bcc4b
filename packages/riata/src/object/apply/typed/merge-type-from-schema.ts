import type { Json } from '../../json.js';
import { once } from '../../value/once.js';
import { getOwn } from '../../value/own.js';
import {
  atomicType,
  deducedType,
  type FieldType,
  type ListType,
  type MapType,
  type MergeType,
  type ScalarType,
} from './merge-type.js';

/** The parts of an OpenAPI v3 or structural schema that say how values merge. Others may be there. */
export interface MergeSchema {
  readonly $ref?: string;
  readonly allOf?: readonly MergeSchema[];
  readonly type?: string;
  readonly format?: string;
  readonly default?: Json;
  readonly properties?: { readonly [name: string]: MergeSchema | undefined };
  readonly additionalProperties?: MergeSchema | boolean;
  readonly items?: MergeSchema;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
}

/** Facts that are not in a schema. */
export interface MergeSchemaOptions {
  /** Looks up what a `$ref` says, e.g. `#/components/schemas/io.k8s.api.core.v1.PodSpec`. */
  readonly resolve?: (ref: string) => MergeSchema | undefined;
  /** Whether fields that are not declared are kept everywhere, as in CRDs with `preserveUnknownFields`. @default false */
  readonly preserveUnknownFields?: boolean;
}

/**
 * How objects of this schema merge (upstream's `schemaconv`): list types and keys, atomic and granular maps, and the
 * defaults of key fields. Only what is used is ever read, so schemas may be large and refer to themselves. Throws an
 * `Error` when a `$ref` is met that `resolve` does not know, or a list type that is not known.
 */
export function mergeTypeFromSchema(schema: MergeSchema, options: MergeSchemaOptions = {}): MergeType {
  const reader = new SchemaReader(options);
  return reader.typeOf(schema, options.preserveUnknownFields ?? false);
}

// Their schemas say too little: upstream knows them by name as well.
const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const rawExtension = 'io.k8s.apimachinery.pkg.runtime.RawExtension';

class SchemaReader {
  readonly #options: MergeSchemaOptions;
  readonly #named = new Map<string, MergeType>();

  constructor(options: MergeSchemaOptions) {
    this.#options = options;
  }

  typeOf(schema: MergeSchema, preserve: boolean): MergeType {
    const ref = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined);
    return ref === undefined ? this.#inline(schema, preserve) : this.#reference(ref, schema['x-kubernetes-map-type']);
  }

  #reference(ref: string, mapType: string | undefined): MergeType {
    const known = `${mapType ?? ''} ${ref}`;
    let type = this.#named.get(known);
    if (type === undefined) {
      const base = this.#target(ref);
      type = mapType === undefined ? base : withMapType(base, mapType);
      this.#named.set(known, type);
    }
    return type;
  }

  #target(ref: string): MergeType {
    const name = ref.slice(ref.lastIndexOf('/') + 1);
    if (name === quantity) return { scalar: 'untyped' };
    if (name === rawExtension) return atomicType;
    const schema = this.#options.resolve?.(ref);
    if (schema === undefined) throw new Error(`schema reference ${ref}: the resolver knows no such schema`);
    return this.typeOf(schema, this.#options.preserveUnknownFields ?? false);
  }

  #inline(schema: MergeSchema, inherited: boolean): MergeType {
    const preserve = inherited || schema['x-kubernetes-preserve-unknown-fields'] === true;
    switch (schema.type ?? '') {
      case '':
        return { scalar: 'untyped', list: this.#list(schema, preserve), map: this.#map(schema, preserve) };
      case 'object':
        return { map: this.#map(schema, preserve) };
      case 'array':
        return { list: this.#list(schema, preserve) };
      default:
        return { scalar: scalarOf(schema) };
    }
  }

  #list(schema: MergeSchema, preserve: boolean): ListType {
    const { items } = schema;
    return {
      ...listKind(schema),
      items: once(() => (items === undefined ? atomicType : this.typeOf(items, preserve))),
    };
  }

  #map(schema: MergeSchema, preserve: boolean): MapType {
    const { properties = {}, additionalProperties: values } = schema;
    const fields = new Map<string, FieldType>();
    const declared = Object.keys(properties).length > 0;
    return {
      atomic: schema['x-kubernetes-map-type'] === 'atomic',
      declared,
      field: (name) => {
        const known = fields.get(name);
        if (known !== undefined) return known;
        const property = getOwn(properties, name) as MergeSchema | undefined;
        if (property === undefined) return undefined;
        const field = { type: this.typeOf(property, preserve), default: property.default };
        fields.set(name, field);
        return field;
      },
      values: once(() => {
        if (values === undefined) return preserve || !declared ? deducedType : undefined;
        if (typeof values === 'boolean') return values ? deducedType : undefined;
        return this.typeOf(values, preserve);
      }),
    };
  }
}

function scalarOf({ type, format }: MergeSchema): ScalarType {
  if (type === 'integer' || type === 'number') return 'numeric';
  if (type === 'boolean') return 'boolean';
  return type === 'string' && (format === undefined || format === '' || format === 'byte') ? 'string' : 'untyped';
}

function listKind(schema: MergeSchema): Pick<ListType, 'kind' | 'keys'> {
  const type = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (type !== undefined) {
    if (type === 'atomic' || type === 'set') return { kind: type, keys: [] };
    if (type === 'map' && keys.length > 0) return { kind: 'map', keys };
    throw new Error(
      `x-kubernetes-list-type: expected "atomic", "set" or "map" with x-kubernetes-list-map-keys, got "${type}"`,
    );
  }
  const strategy = schema['x-kubernetes-patch-strategy'];
  if (strategy !== 'merge' && strategy !== 'merge,retainKeys') return { kind: 'atomic', keys: [] };
  const key = schema['x-kubernetes-patch-merge-key'];
  return key === undefined ? { kind: 'set', keys: [] } : { kind: 'map', keys: [key] };
}

/** A reference may say of a map that it is atomic, or not, against what the map's own schema says. */
function withMapType(type: MergeType, mapType: string): MergeType {
  return type.map === undefined ? type : { ...type, map: { ...type.map, atomic: mapType === 'atomic' } };
}
