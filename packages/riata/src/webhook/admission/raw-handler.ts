import type { Client } from '../../client/interfaces.js';
import type { JsonPatchOperation } from '../../object/patch/json-patch.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { AdmissionRequest, AdmissionResponse } from './admission-review.js';
import { errored } from './responses.js';

/** What a raw handler gets besides the request. */
export interface RawContext {
  /** As in `AdmissionCall`. */
  readonly client: Client;
  /** Aborts shortly before the API server stops waiting. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Reviews a request as it is on the wire (`admission.Handler`). */
export type RawHandler = (
  request: AdmissionRequest,
  context: RawContext,
) => AdmissionResponse | PromiseLike<AdmissionResponse>;

/**
 * One handler out of several that patch (`admission.MultiMutatingHandler`): called in order, the first denial ends it. All
 * see the object as it came in, so their patches have to be disjoint; `mutates` has no such limit.
 */
export function multiMutatingHandler(...handlers: readonly RawHandler[]): RawHandler {
  return async (request, context) => {
    const patches: JsonPatchOperation[] = [];
    const warnings: string[] = [];
    for (const handler of handlers) {
      const response = await handler(request, context);
      if (!response.allowed) return response;
      const { patchType } = response;
      if (patchType !== undefined && patchType !== 'JSONPatch') {
        return errored(500, `unexpected patch type ${patchType}; use JSONPatch`);
      }
      patches.push(...(response.patches ?? []));
      warnings.push(...(response.warnings ?? []));
    }
    return { allowed: true, status: { code: 200 }, patches, warnings };
  };
}

/** One handler out of several that validate (`admission.MultiValidatingHandler`): in order, the first denial ends it. */
export function multiValidatingHandler(...handlers: readonly RawHandler[]): RawHandler {
  return async (request, context) => {
    const warnings: string[] = [];
    for (const handler of handlers) {
      const response = await handler(request, context);
      if (!response.allowed) return response;
      warnings.push(...(response.warnings ?? []));
    }
    return { allowed: true, status: { code: 200 }, warnings };
  };
}
