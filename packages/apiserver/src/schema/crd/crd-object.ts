import type { CelRule, Json, StructuralSchema } from 'riata/object';

/** A schema as a CRD may carry it: structural, or to be refused. */
export interface SchemaProps
  extends Omit<
    StructuralSchema,
    | 'type'
    | 'properties'
    | 'items'
    | 'additionalProperties'
    | 'allOf'
    | 'anyOf'
    | 'oneOf'
    | 'not'
    | 'x-kubernetes-list-type'
    | 'x-kubernetes-map-type'
    | 'x-kubernetes-preserve-unknown-fields'
    | 'x-kubernetes-validations'
  > {
  readonly id?: string;
  readonly $schema?: string;
  readonly $ref?: string;
  readonly title?: string;
  readonly type?: string;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, SchemaProps>>;
  readonly items?: SchemaProps | readonly SchemaProps[];
  readonly additionalProperties?: SchemaProps | boolean;
  readonly allOf?: readonly SchemaProps[];
  readonly anyOf?: readonly SchemaProps[];
  readonly oneOf?: readonly SchemaProps[];
  readonly not?: SchemaProps;
  readonly patternProperties?: Readonly<Record<string, SchemaProps>>;
  readonly dependencies?: Readonly<Record<string, SchemaProps | readonly string[]>>;
  readonly additionalItems?: SchemaProps | boolean;
  readonly definitions?: Readonly<Record<string, SchemaProps>>;
  readonly externalDocs?: Json;
  readonly example?: Json;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly (Omit<CelRule, 'reason'> & { readonly reason?: string })[];
}

export interface CrdNames {
  readonly plural?: string;
  readonly singular?: string;
  readonly kind?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export interface CrdScale {
  readonly specReplicasPath?: string;
  readonly statusReplicasPath?: string;
  readonly labelSelectorPath?: string;
}

export interface CrdSubresources {
  readonly status?: object;
  readonly scale?: CrdScale;
}

export interface CrdColumn {
  readonly name?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath?: string;
}

export interface CrdVersion {
  readonly name?: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: SchemaProps };
  readonly subresources?: CrdSubresources;
  readonly additionalPrinterColumns?: readonly CrdColumn[];
  readonly selectableFields?: readonly { readonly jsonPath?: string }[];
}

export interface CrdConversion {
  readonly strategy?: string;
  readonly webhook?: {
    readonly conversionReviewVersions?: readonly string[];
    readonly clientConfig?: {
      readonly url?: string;
      readonly service?: {
        readonly name?: string;
        readonly namespace?: string;
        readonly path?: string;
        readonly port?: number;
      };
      readonly caBundle?: string;
    };
  };
}

export interface CrdSpec {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: CrdNames;
  readonly versions?: readonly CrdVersion[] | null;
  readonly conversion?: CrdConversion;
  readonly preserveUnknownFields?: boolean;
}

/** A CustomResourceDefinition after it was read by its own schema and given its defaults, so that all types fit. */
export interface CrdObject {
  readonly metadata?: { readonly [name: string]: Json | undefined };
  readonly spec?: CrdSpec;
  readonly status?: {
    readonly acceptedNames?: CrdNames;
    readonly storedVersions?: readonly string[];
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
  };
}
