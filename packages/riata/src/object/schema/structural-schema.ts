import type { Json } from '../json.js';

/** One validation in CEL (`x-kubernetes-validations`). `self` is the value that carries it, `oldSelf` its stored form. */
export interface CelRule {
  readonly rule: string;
  /** The message for a refused writer. */
  readonly message?: string;
  /** A CEL expression that gives the message. */
  readonly messageExpression?: string;
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  /** The field blamed, relative to the value, e.g. `.replicas`. */
  readonly fieldPath?: string;
  /** Makes `oldSelf` an optional, so that a rule using it runs on create too. */
  readonly optionalOldSelf?: boolean;
}

/** The extensions that an API server knows in a CRD's schema. */
export interface KubernetesExtensions {
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
  /** How writers share a list: as one value, as a set of scalars, or as a map by `x-kubernetes-list-map-keys`. */
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  /** How writers share an object: field by field, or as one value. */
  readonly 'x-kubernetes-map-type'?: 'granular' | 'atomic';
  /** Fields that the schema does not name are kept. */
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  /** The value is a whole Kubernetes object with `apiVersion`, `kind` and `metadata`. */
  readonly 'x-kubernetes-embedded-resource'?: true;
  readonly 'x-kubernetes-int-or-string'?: true;
}

/** Keywords that say which values are allowed, and nothing about the fields there are. */
export interface ValueValidation {
  readonly format?: string;
  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

/** The type names that a structural schema has. */
export type StructuralType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

/**
 * A schema as a CustomResourceDefinition carries it (`apiextensions/v1.JSONSchemaProps`), reduced to what a structural
 * schema may say. Plain JSON.
 */
export interface StructuralSchema extends ValueValidation, KubernetesExtensions {
  readonly type?: StructuralType;
  readonly description?: string;
  readonly default?: Json;
  readonly nullable?: boolean;
  readonly properties?: { readonly [name: string]: StructuralSchema };
  readonly required?: readonly string[];
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly allOf?: readonly StructuralSchema[];
  readonly anyOf?: readonly StructuralSchema[];
  readonly oneOf?: readonly StructuralSchema[];
  readonly not?: StructuralSchema;
}

/** The keywords that can be laid over one field of a schema: everything but the field's own structure. */
export type SchemaExtension = KubernetesExtensions &
  ValueValidation &
  Pick<StructuralSchema, 'description' | 'default' | 'nullable'>;

/** A {@link StructuralSchema} while it is being built. */
export type StructuralDraft = { -readonly [K in keyof StructuralSchema]: StructuralSchema[K] };

/** The names of {@link ValueValidation}, in the order in which they are written. */
export const validationKeywords = [
  'format',
  'enum',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const satisfies readonly (keyof ValueValidation)[];

/** The names of {@link KubernetesExtensions}. */
export const extensionKeywords = [
  'x-kubernetes-validations',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
] as const satisfies readonly (keyof KubernetesExtensions)[];

/** Copies the keywords of `names` that `from` has. */
export function copyKeywords(
  from: StructuralSchema,
  to: StructuralDraft,
  names: readonly (keyof StructuralSchema)[],
): void {
  for (const name of names) {
    if (from[name] !== undefined) Object.assign(to, { [name]: from[name] });
  }
}
