import type { JsonObject } from 'riata/object';
import type { AdmissionOperation } from '../admission/admission.js';
import type { Steps } from '../steps.js';
import type { FieldWriter } from './fields/field-tracking.js';
import type { Resource } from './resource.js';

/** An object to be written. */
export interface GuardedWrite {
  readonly resource: Resource;
  readonly namespace: string;
  readonly object: JsonObject;
  /** The stored object; undefined for a new one. */
  readonly before: JsonObject | undefined;
}

/** Admission control of one request. All methods throw a `Refusal` to deny it. */
export interface WriteAdmission {
  /** Whether `admit` needs the object with its managedFields. */
  needsManagedFields(operation: AdmissionOperation, object: JsonObject, oldObject: JsonObject | undefined): boolean;
  /** The mutating phase: returns the changed object, or the same reference. */
  admit(operation: AdmissionOperation, object: JsonObject, oldObject: JsonObject | undefined): Steps<JsonObject>;
  /** The validating phase, with the object that is going to be stored. */
  validate(operation: AdmissionOperation, object: JsonObject, oldObject: JsonObject | undefined): Steps<void>;
  /** Called right before the object is stored, without another write in between. */
  commit?(operation: AdmissionOperation, object: JsonObject, oldObject: JsonObject | undefined): void;
  /** Both phases of a deletion. */
  admitDelete(oldObject: JsonObject): Steps<void>;
}

/** The context of a write request. */
export interface WriteContext {
  /** Do everything except storing. */
  readonly dryRun: boolean;
  readonly fieldManager: string;
  /** How to treat unknown and duplicate fields. */
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** Sends a warning to the caller. */
  warn(text: string): void;
  /** The caller (`authentication.k8s.io/v1` `UserInfo`); undefined for the server itself. */
  readonly user?: JsonObject;
  /** Admission control. @default none, for the server's own writes */
  readonly admission?: WriteAdmission | undefined;
  /** Refuses privilege escalation by roles and bindings. @default no check */
  readonly guard?: (write: GuardedWrite) => void;
  /** Checks whether an update or apply may create the object. @default it may */
  readonly confirmCreate?: () => void;
  /** The time of the request in RFC 3339, in seconds. */
  readonly now: string;
  /** The time of the request in milliseconds. */
  readonly nowMs: number;
}

export function writerOf(context: WriteContext, apiVersion: string, subresource = ''): FieldWriter {
  return { manager: context.fieldManager, apiVersion, subresource, nowMs: context.nowMs };
}
