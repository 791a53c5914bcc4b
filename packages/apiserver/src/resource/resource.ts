import { type JsonObject, type KubeObject, type Scope, splitApiVersion } from 'riata/object';
import type { PrepareContext } from '../kinds/kind-rules.js';
import type { CrdVersion } from '../schema/crd/crd-object.js';
import type { NameRule } from '../schema/name-rules.js';
import type { FieldError } from '../status/field-error.js';
import type { Refusal, ResourceName } from '../status/refusal.js';
import type { Steps } from '../steps.js';
import type { StoredConversions } from './custom/stored-conversions.js';
import type { FieldTracking } from './fields/field-tracking.js';

/** A subresource, e.g. `status`. */
export interface Subresource {
  readonly name: string;
  /** Group, version and kind of request and response. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** The schema of a kind. All functions are pure and never change their arguments. */
export interface ResourceSchema {
  /**
   * The object without unknown fields, and their paths. Throws an `UnreadableError` for fields of the wrong type in a
   * built-in kind.
   */
  read(object: JsonObject): Steps<{ readonly object: JsonObject; readonly unknown: readonly string[] }>;
  /** Messages about duplicate fields in the JSON text of an object, and about the unknown fields that `read` found. */
  complaints(text: string, unknown: readonly string[]): Steps<readonly string[]>;
  /** The object with defaults. */
  withDefaults(object: JsonObject): JsonObject;
  /** Validates the object, except for its metadata; `before` is the stored object. */
  validate(object: JsonObject, before?: JsonObject, subresource?: string): Steps<readonly FieldError[]>;
  /** Warnings for the writer; called after `validate`. */
  warnings?(object: JsonObject, before?: JsonObject): readonly string[];
  /** The initial status of a new object. @default none */
  readonly emptyStatus?: JsonObject | undefined;
  /** Tracks field ownership. */
  readonly tracking: FieldTracking;
  /** Applies a strategic merge patch; undefined if the kind does not support them. */
  readonly strategicPatch?: (object: JsonObject, patch: JsonObject) => JsonObject;
  /** Checks the result of such a patch before it is decoded. Throws an `UnreadableError`. */
  readonly fromStrategicPatch?: (object: JsonObject) => JsonObject;
}

/** The rules of a kind, beyond its schema. */
export interface ResourceRules {
  /** Whether changes of the desired state increment `metadata.generation`. */
  readonly countsGenerations: boolean;
  /** Whether changes of annotations increment it, too. @default false */
  readonly countsAnnotations?: boolean;
  /** Whether changes of labels increment it, too. @default false */
  readonly countsLabels?: boolean;
  /** Whether PUT creates a missing object. @default false */
  readonly createsOnUpdate?: boolean;
  /** Whether PUT without resourceVersion is allowed. @default true */
  readonly updatesUnconditionally?: boolean;
  /** Sets fields that the writer owns, beyond the schema's defaults. */
  readonly defaults?: (object: JsonObject) => JsonObject;
  /** The metadata that a write to `status` cannot change: all of it, or these fields. @default all */
  readonly statusKeeps?: 'all' | readonly string[];
  /** Prepares an object, after managedFields were computed; `before` is undefined for a new one. */
  readonly prepare?: (object: JsonObject, before: JsonObject | undefined, context: PrepareContext) => JsonObject;
  /** Like `check`, for checks that may take long. */
  readonly checkInSteps?: (
    object: JsonObject,
    before: JsonObject | undefined,
    subresource: string,
  ) => Steps<readonly FieldError[]>;
  /** Validates the object, in addition to the schema. */
  readonly check?: (object: JsonObject, before: JsonObject | undefined, subresource: string) => readonly FieldError[];
  /** Warnings for the writer, in addition to the schema's. Not for writes to subresources. */
  readonly warnings?: (object: JsonObject, before: JsonObject | undefined) => readonly string[];
  /** Like `warnings`, for writes of the status. */
  readonly statusWarnings?: (object: JsonObject) => readonly string[];
  /** The rule for names. @default DNS subdomains */
  readonly nameRule?: NameRule;
  /** Selectable fields, besides `metadata.name` and `metadata.namespace`. */
  readonly fields?: (object: JsonObject) => Readonly<Record<string, string>>;
  /** The names of the selectable fields; others are refused. */
  readonly fieldNames?: readonly string[];
  /** Default grace period. @default 0: deleted at once */
  readonly gracePeriodSeconds?: (object: JsonObject, asked: number | undefined) => number;
  /** Whether a new object may come with a status. @default false: its status starts empty */
  readonly takesStatusOnCreate?: boolean;
  /** Paths that no manager owns, by subresource. @default the status for the object, everything else for `status` */
  readonly resets?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** Tables whose object with the same key is deleted together with one of these. */
  readonly removesAlso?: readonly string[];
  /** Why an object cannot be created now. */
  readonly refuseCreate?: (resource: ResourceName, name: string) => Refusal | undefined;
  /** Why an object cannot be deleted. */
  readonly refuseDelete?: (resource: ResourceName, name: string) => Refusal | undefined;
  /** Changes an object when its deletion starts but something keeps it. */
  readonly whenDeleting?: (object: JsonObject, now: string) => JsonObject;
  /** Whether a deletion returns the deleted object instead of a Status. @default false */
  readonly answersDeleted?: boolean;
  /** The finalizer that the server adds on deletion and removes after its cleanup. */
  readonly finalizersOnDelete?: readonly string[];
  /** The paths of a Scale's fields. @default `spec.replicas`, `status.replicas`, `spec.selector` */
  readonly scale?: { readonly replicas: string; readonly status: string; readonly selector: string | undefined };
  /** Default propagation policy. @default 'background' */
  readonly defaultPropagation?: 'background' | 'orphan';
}

/** One resource in one version, with everything that the verbs need. */
export interface Resource extends ResourceName {
  readonly version: string;
  readonly apiVersion: string;
  readonly listKind: string;
  /** Whether it is built in. List items of built-in kinds have no `apiVersion` and `kind`. */
  readonly builtIn: boolean;
  readonly singular: string;
  readonly scope: Scope;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly Subresource[];
  /** The storage version hash for discovery; undefined for resources that are not stored. */
  readonly storageVersionHash: string | undefined;
  /** The table of its objects, shared by all versions of a resource. */
  readonly table: string;
  /** The `apiVersion` of stored objects. */
  readonly storedAs: string;
  /** The deprecation warning for users; of custom kinds only. */
  readonly deprecation?: string;
  /** This version in the definition; of custom kinds only. */
  readonly definition?: CrdVersion;
  /** The revision of the definition; results of an older one may be stale. */
  readonly definedAt?: string;
  /**
   * Shows a stored object of any `apiVersion`; of custom kinds only. Returns the same reference if the current
   * definition changes nothing.
   */
  readonly content?: (object: KubeObject) => KubeObject;
  /** The storage form of an object; of custom kinds only. */
  readonly storable?: (object: JsonObject) => JsonObject;
  /** Converts objects with a webhook; of custom kinds that have one. */
  readonly conversions?: StoredConversions<Resource> | undefined;
  readonly schema: ResourceSchema;
  readonly rules: ResourceRules;
}

/** The kind in errors about an invalid object: that of the group in which it is stored. */
export function homeOf(resource: Resource): ResourceName {
  const { storedAs, plural, kind } = resource;
  const { group } = splitApiVersion(storedAs);
  return group === resource.group ? resource : { group, plural, kind };
}

/**
 * The resource for the server's own changes of metadata: in the object's stored version, so that no webhook is needed.
 */
export function resourceOfStored(resource: Resource, object: KubeObject): Resource {
  return resource.conversions?.asStored(object) ?? resource;
}

export function hasSubresource(resource: Resource, name: string): boolean {
  return resource.subresources.some((s) => s.name === name);
}

/** A written object with defaults. */
export function withDefaults(resource: Resource, object: JsonObject): JsonObject {
  const defaulted = resource.schema.withDefaults(object);
  return resource.rules.defaults?.(defaulted) ?? defaulted;
}
