import type { AuditedRequest } from '../audit/audited-request.js';
import { Refusal } from '../status/refusal.js';
import type { RequestInfo } from './request-info.js';
import { PlainRefusal } from './status-answer.js';
import type { VerbRequest } from './verb-handlers.js';

/** How verbs record what the audit event of a request shows. */
export function recordersOf(audited: AuditedRequest): Pick<VerbRequest<unknown>, 'annotate' | 'recordBody'> {
  return {
    annotate: (key, value, level) => audited.annotate(key, value, level),
    recordBody: (object) => audited.requestObject(object),
  };
}

/** Records why a request fails. */
export function recordFailure(audited: AuditedRequest, error: unknown, info: RequestInfo | undefined): void {
  if (error instanceof Refusal && error.status.code === 401) audited.refused(info, error.status);
  else if (error instanceof Refusal) audited.responseObject(error.status);
  else if (!(error instanceof PlainRefusal)) audited.panicked(error);
}
