import type { JsonObject, KubeObject } from 'riata/object';
import type { NameRule } from '../schema/name-rules.js';
import type { FieldError } from '../status/field-error.js';
import type { Refusal, ResourceName } from '../status/refusal.js';
import type { ApplyDefaults, DefaultsTable } from './defaults-table.js';

/** The context in which the server prepares an object. */
export interface PrepareContext {
  /** The time of the request, RFC 3339. */
  readonly now: string;
  /** `''`: the object itself was written. */
  readonly subresource: string;
  /** Whether nothing is going to be stored. */
  readonly dryRun: boolean;
  /** Who writes (`authentication.k8s.io/v1` `UserInfo`); undefined for the server itself. */
  readonly user?: JsonObject | undefined;
  /** Warns the writer about something that is no longer visible once the object is prepared. */
  warn(text: string): void;
  /** The objects stored under `group/plural`, e.g. `/services`; in one namespace, or in all. */
  objects(table: string, namespace?: string): readonly KubeObject[];
}

/**
 * How upstream treats the objects of one built-in kind. Every function leaves its arguments alone, and answers with the
 * same reference when there is nothing to change. Objects have been read by their schema: members have their types, are
 * absent when Go's `omitempty` would leave them out, and structs that are no pointers are there.
 */
export interface KindRules {
  /**
   * The defaults of upstream's `SetDefaults_…`: applied to what a client writes (create, update, the result of every
   * patch) before ownership is tracked, never to stored objects. A function where a table is not enough.
   */
  readonly defaults?: DefaultsTable | ApplyDefaults;
  /**
   * The changes of admission, `PrepareForCreate` and `PrepareForUpdate`, after ownership is tracked; `before` is
   * undefined for a new object. A `Refusal` may be thrown.
   */
  readonly prepare?: (object: JsonObject, before: JsonObject | undefined, context: PrepareContext) => JsonObject;
  /** The problems of it, on create and on every update except of its status. Metadata is checked elsewhere. */
  readonly validate?: (
    object: JsonObject,
    before: JsonObject | undefined,
    subresource: string,
  ) => readonly FieldError[];
  /** The problems of the change from `before`, e.g. of an immutable field; not for writes of the status. */
  readonly validateUpdate?: (object: JsonObject, before: JsonObject, subresource: string) => readonly FieldError[];
  /** The problems of a write of the status. */
  readonly validateStatus?: (object: JsonObject, before: JsonObject) => readonly FieldError[];
  /** Warnings for the writer. Not for writes to subresources. */
  readonly warnings?: (object: JsonObject, before: JsonObject | undefined) => readonly string[];
  /** Whether `metadata.generation` counts changes of the annotations, too. @default false */
  readonly countsAnnotations?: boolean;
  /** As `warnings`, for writes of the status. */
  readonly statusWarnings?: (object: JsonObject) => readonly string[];
  /** Which names are allowed. @default DNS subdomains */
  readonly nameRule?: NameRule;
  /** Whether the status of a new object may come with it. @default false: it begins empty */
  readonly takesStatusOnCreate?: boolean;
  /**
   * Fields without owners, as paths by subresource. @default the status of the object, and everything but the status
   * for writes to it
   */
  readonly resets?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** Tables whose object of the same key goes when one of these goes. */
  readonly removesAlso?: readonly string[];
  /** Why an object cannot be deleted. */
  readonly refuseDelete?: (resource: ResourceName, name: string) => Refusal | undefined;
  /** Changes of an object whose deletion is requested while something keeps it. */
  readonly whenDeleting?: (object: JsonObject, now: string) => JsonObject;
}
