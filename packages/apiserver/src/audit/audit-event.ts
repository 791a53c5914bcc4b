import type { Status } from 'riata/object';
import type { UserInfo } from '../authentication/user-info.js';
import type { AuditLevel, AuditStage } from './audit-policy.js';

/** What is recorded of a request at one stage (`audit.k8s.io/v1` `Event`). */
export interface AuditEvent {
  readonly kind: 'Event';
  readonly apiVersion: 'audit.k8s.io/v1';
  readonly level: AuditLevel;
  /** The `Audit-Id` header of the answer; the same for all stages. */
  readonly auditID: string;
  readonly stage: AuditStage;
  readonly requestURI: string;
  readonly verb: string;
  /** Empty for a request whose credentials were refused. */
  readonly user: Partial<UserInfo>;
  readonly impersonatedUser?: UserInfo;
  readonly authenticationMetadata?: { readonly impersonationConstraint?: string };
  readonly sourceIPs?: readonly string[];
  readonly userAgent?: string;
  readonly objectRef?: AuditObjectReference;
  readonly responseStatus?: Omit<Status, 'kind' | 'apiVersion'>;
  /** From level Request on: the object that was sent, or the patch. */
  readonly requestObject?: unknown;
  /** At level RequestResponse: the answer. */
  readonly responseObject?: unknown;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The object that a request is about. */
export interface AuditObjectReference {
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiGroup?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly subresource?: string;
}

/** Takes events as they happen. */
export interface AuditSink {
  /** Called in the order of the stages of a request. Errors are logged; the request continues. */
  write(event: AuditEvent): void;
}

/** An event as one line of JSON, as kube-apiserver's log has it. */
export function auditLine(event: AuditEvent): string {
  return `${JSON.stringify(event).replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}
