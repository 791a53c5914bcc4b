import type { Scope } from '../kind.js';
import type { StructuralSchema } from './structural-schema.js';

/** A column of `kubectl get` (`apiextensions/v1.CustomResourceColumnDefinition`). */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'integer' | 'number' | 'string' | 'boolean' | 'date';
  /** Where the value is, e.g. `.spec.replicas`. */
  readonly jsonPath: string;
  readonly description?: string;
  readonly format?: string;
  /** Above 0: shown by `-o wide` only. */
  readonly priority?: number;
}

/** Where the scale subresource finds its numbers (`apiextensions/v1.CustomResourceSubresourceScale`). */
export interface ScaleSubresource {
  /** Below `.spec`. */
  readonly specReplicasPath: string;
  /** Below `.status`. */
  readonly statusReplicasPath: string;
  /** Below `.spec` or `.status`; a string field. Autoscalers need it. */
  readonly labelSelectorPath?: string;
}

/** How the server turns objects of one version into another (`apiextensions/v1.CustomResourceConversion`). */
export type CrdConversion =
  | { readonly strategy: 'None' }
  | {
      readonly strategy: 'Webhook';
      readonly webhook: {
        readonly conversionReviewVersions: readonly string[];
        readonly clientConfig: {
          readonly url?: string;
          readonly service?: {
            readonly namespace: string;
            readonly name: string;
            readonly path?: string;
            readonly port?: number;
          };
          readonly caBundle?: string;
        };
      };
    };

/** One version in a CustomResourceDefinition (`apiextensions/v1.CustomResourceDefinitionVersion`). */
export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly subresources?: { readonly status?: Readonly<Record<string, never>>; readonly scale?: ScaleSubresource };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** A CustomResourceDefinition to be written, as {@link defineKind} makes it: plain JSON, frozen. */
export interface CrdManifest {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: {
    /** `<plural>.<group>` */
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly group: string;
    readonly scope: Scope;
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly versions: readonly CrdVersion[];
    readonly conversion: CrdConversion;
  };
}
