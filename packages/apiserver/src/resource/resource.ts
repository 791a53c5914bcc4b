import { type JsonObject, type KubeObject, type Scope, splitApiVersion } from 'riata/object';
import type { PrepareContext } from '../kinds/kind-rules.js';
import type { CrdVersion } from '../schema/crd/crd-object.js';
import type { NameRule } from '../schema/name-rules.js';
import type { FieldError } from '../status/field-error.js';
import type { Refusal, ResourceName } from '../status/refusal.js';
import type { Steps } from '../steps.js';
import type { StoredConversions } from './custom/stored-conversions.js';
import type { FieldTracking } from './fields/field-tracking.js';

/** A part of a resource that has its own path, e.g. `status`. */
export interface Subresource {
  readonly name: string;
  /** Group, version and kind of what is sent and answered. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** What a schema knows about the objects of a kind. All functions are pure and leave their argument alone. */
export interface ResourceSchema {
  /**
   * The object without what the schema does not know, and the paths of what was left out. Throws an `UnreadableError`
   * when it cannot be read at all: fields of the wrong type in a built-in kind.
   */
  read(object: JsonObject): Steps<{ readonly object: JsonObject; readonly unknown: readonly string[] }>;
  /** Complaints about the JSON text of an object: fields that stand twice, and, from `read`, those that are unknown. */
  complaints(text: string, unknown: readonly string[]): Steps<readonly string[]>;
  /** The object with its defaults filled in. */
  withDefaults(object: JsonObject): JsonObject;
  /** What is wrong with the object beyond its metadata; `before` is its stored form. */
  validate(object: JsonObject, before?: JsonObject, subresource?: string): Steps<readonly FieldError[]>;
  /** What the writer is told that is no error; after `validate` has looked at the same. */
  warnings?(object: JsonObject, before?: JsonObject): readonly string[];
  /** The status of a new object: what is written of one that says nothing. @default none */
  readonly emptyStatus?: JsonObject | undefined;
  /** How writers share its fields. */
  readonly tracking: FieldTracking;
  /** Applies a strategic merge patch; undefined where the kind takes none. */
  readonly strategicPatch?: (object: JsonObject, patch: JsonObject) => JsonObject;
  /** What such a patch led to, before it is read. Throws an `UnreadableError`. */
  readonly fromStrategicPatch?: (object: JsonObject) => JsonObject;
}

/** What is special about a kind, beyond its schema. */
export interface ResourceRules {
  /** Whether `metadata.generation` counts changes of the desired state. */
  readonly countsGenerations: boolean;
  /** Whether it counts changes of the annotations, too. @default false */
  readonly countsAnnotations?: boolean;
  /** Whether a change of labels is one of the desired state. @default false */
  readonly countsLabels?: boolean;
  /** Whether a PUT to a name that does not exist makes the object. @default false */
  readonly createsOnUpdate?: boolean;
  /** Whether a PUT without resourceVersion is taken. @default true */
  readonly updatesUnconditionally?: boolean;
  /** Fills in what belongs to the writer, beyond the schema's defaults. */
  readonly defaults?: (object: JsonObject) => JsonObject;
  /** What of the metadata a write to `status` does not reach: all of it, or these fields. @default all */
  readonly statusKeeps?: 'all' | readonly string[];
  /** Changes an object on its way in, after it was noted who writes what; `before` is undefined for a new one. */
  readonly prepare?: (object: JsonObject, before: JsonObject | undefined, context: PrepareContext) => JsonObject;
  /** As `check`, for what may take long. */
  readonly checkInSteps?: (
    object: JsonObject,
    before: JsonObject | undefined,
    subresource: string,
  ) => Steps<readonly FieldError[]>;
  /** What is wrong with it; in addition to the schema. */
  readonly check?: (object: JsonObject, before: JsonObject | undefined, subresource: string) => readonly FieldError[];
  /** What the writer is told that is no error; in addition to the schema. Not for writes to subresources. */
  readonly warnings?: (object: JsonObject, before: JsonObject | undefined) => readonly string[];
  /** As `warnings`, for writes of the status. */
  readonly statusWarnings?: (object: JsonObject) => readonly string[];
  /** Which names are allowed. @default DNS subdomains */
  readonly nameRule?: NameRule;
  /** Fields that selectors may name, beside `metadata.name` and `metadata.namespace`. */
  readonly fields?: (object: JsonObject) => Readonly<Record<string, string>>;
  /** The names of these fields: any other is refused. */
  readonly fieldNames?: readonly string[];
  /** How long an object may take to go, where nobody says. @default 0: gone at once */
  readonly gracePeriodSeconds?: (object: JsonObject, asked: number | undefined) => number;
  /** Whether the status of a new object may come with it. @default false: it begins empty */
  readonly takesStatusOnCreate?: boolean;
  /** What no writer owns, as paths by subresource. @default the status of the object, and all but it of its status */
  readonly resets?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** Tables whose object of the same key goes when one of these goes. */
  readonly removesAlso?: readonly string[];
  /** Why no object can be made now. */
  readonly refuseCreate?: (resource: ResourceName, name: string) => Refusal | undefined;
  /** Why an object cannot be deleted. */
  readonly refuseDelete?: (resource: ResourceName, name: string) => Refusal | undefined;
  /** What changes about an object once it is to be deleted and something keeps it. */
  readonly whenDeleting?: (object: JsonObject, now: string) => JsonObject;
  /** Whether a deletion answers with what was deleted, not with a Status. @default false */
  readonly answersDeleted?: boolean;
  /** What keeps every object of the kind from the first request to delete it until the server has cleared up. */
  readonly finalizersOnDelete?: readonly string[];
  /** Where the parts of a Scale are, as paths of names. @default `spec.replicas`, `status.replicas`, `spec.selector` */
  readonly scale?: { readonly replicas: string; readonly status: string; readonly selector: string | undefined };
  /** What becomes of dependents where nobody says. @default 'background' */
  readonly defaultPropagation?: 'background' | 'orphan';
}

/** One resource in one version: everything that the verbs have to know. */
export interface Resource extends ResourceName {
  readonly version: string;
  readonly apiVersion: string;
  readonly listKind: string;
  /** Whether it comes with the server. Items in lists of built-in kinds do not say what they are. */
  readonly builtIn: boolean;
  readonly singular: string;
  readonly scope: Scope;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly Subresource[];
  /** Says in which version it is stored, for discovery; undefined for what is not stored. */
  readonly storageVersionHash: string | undefined;
  /** Where its objects live: the same for all versions of a resource. */
  readonly table: string;
  /** The `apiVersion` that objects are stored under. */
  readonly storedAs: string;
  /** What everybody is told who uses it, because it is to go; of custom kinds only. */
  readonly deprecation?: string;
  /** What its definition says of this version; of custom kinds only. */
  readonly definition?: CrdVersion;
  /** The revision of that definition: what was made by an older one may not hold any more. */
  readonly definedAt?: string;
  /**
   * What it shows of a stored object, whatever `apiVersion` that names; of custom kinds only. An object that the current
   * definition leaves as it is stays the same reference.
   */
  readonly content?: (object: KubeObject) => KubeObject;
  /** What is stored of an object in its version; of custom kinds only. */
  readonly storable?: (object: JsonObject) => JsonObject;
  /** Converts objects by a webhook; of custom kinds whose definition asks for it. */
  readonly conversions?: StoredConversions | undefined;
  readonly schema: ResourceSchema;
  readonly rules: ResourceRules;
}

/** The kind that an invalid object is called by: that of the group that it is stored in, whichever it is asked for in. */
export function homeOf(resource: Resource): ResourceName {
  const { storedAs, plural, kind } = resource;
  const { group } = splitApiVersion(storedAs);
  return group === resource.group ? resource : { group, plural, kind };
}

/**
 * The resource by which the server itself changes the metadata of a stored object: in the version that it is stored in,
 * so that no webhook has to be there.
 */
export function resourceOfStored(resource: Resource, object: KubeObject): Resource {
  return resource.conversions?.asStored(object) ?? resource;
}

export function hasSubresource(resource: Resource, name: string): boolean {
  return resource.subresources.some((s) => s.name === name);
}

/** An object that somebody writes, with what its writer has left open. */
export function withDefaults(resource: Resource, object: JsonObject): JsonObject {
  const defaulted = resource.schema.withDefaults(object);
  return resource.rules.defaults?.(defaulted) ?? defaulted;
}
