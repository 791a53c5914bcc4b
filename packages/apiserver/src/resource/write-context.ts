import type { JsonObject } from 'riata/object';
import type { AdmissionOperation } from '../admission/admission.js';
import type { Steps } from '../steps.js';
import type { FieldWriter } from './fields/field-tracking.js';
import type { Resource } from './resource.js';

/** An object that is about to be written. */
export interface GuardedWrite {
  readonly resource: Resource;
  readonly namespace: string;
  readonly object: JsonObject;
  /** As it is stored; undefined for a new one. */
  readonly before: JsonObject | undefined;
}

/** What admission control does about one request. Everything throws a `Refusal` for what it refuses. */
export interface WriteAdmission {
  /** Whether `admit` needs the object with its managedFields. */
  needsManagedFields(operation: AdmissionOperation, object: JsonObject, oldObject: JsonObject | undefined): boolean;
  /** The mutating phase: gives back the object, changed or the same reference. */
  admit(operation: AdmissionOperation, object: JsonObject, oldObject: JsonObject | undefined): Steps<JsonObject>;
  /** The validating phase: the object is what is going to be stored. */
  validate(operation: AdmissionOperation, object: JsonObject, oldObject: JsonObject | undefined): Steps<void>;
  /** Right before the object is stored: nobody else writes in between. */
  commit?(operation: AdmissionOperation, object: JsonObject, oldObject: JsonObject | undefined): void;
  /** Both phases of a deletion. */
  admitDelete(oldObject: JsonObject): Steps<void>;
}

/** What the verbs have to know of a request that writes. */
export interface WriteContext {
  /** Everything is done but stored. */
  readonly dryRun: boolean;
  readonly fieldManager: string;
  /** What to do about unknown and duplicate fields. */
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** Says something to the caller that is no error. */
  warn(text: string): void;
  /** Who asks (`authentication.k8s.io/v1` `UserInfo`); undefined for the server itself. */
  readonly user?: JsonObject;
  /** Admission control. @default none: the server itself writes */
  readonly admission?: WriteAdmission | undefined;
  /** Refuses what would give away rights that the caller does not have. @default everything is taken */
  readonly guard?: (write: GuardedWrite) => void;
  /** Refuses to make an object by a write that is no plain creation. @default it is made */
  readonly confirmCreate?: () => void;
  /** The time of the request, RFC 3339, in whole seconds. */
  readonly now: string;
  /** The time of the request in milliseconds. */
  readonly nowMs: number;
}

export function writerOf(context: WriteContext, apiVersion: string, subresource = ''): FieldWriter {
  return { manager: context.fieldManager, apiVersion, subresource, nowMs: context.nowMs };
}
