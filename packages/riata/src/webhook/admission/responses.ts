import type { Status } from '../../object/meta.js';
import { createJsonPatch, type JsonPatch } from '../../object/patch/json-patch.js';
import type { AdmissionResponse } from './admission-review.js';

/** Allows a request (`admission.Allowed`). */
export function allowed(message = ''): AdmissionResponse {
  return validationResponse(true, message);
}

/** Denies a request as `Forbidden` (`admission.Denied`). */
export function denied(message = ''): AdmissionResponse {
  return validationResponse(false, message);
}

/** Allows a request with these changes (`admission.Patched`). */
export function patched(message: string, ...patches: JsonPatch): AdmissionResponse {
  return { ...validationResponse(true, message), patches };
}

/**
 * Denies a request since something went wrong (`admission.Errored`). The client sees the message: give a text of your own
 * rather than that of an error that you caught.
 */
export function errored(code: number, message: string | Error): AdmissionResponse {
  return { allowed: false, status: { code, message: typeof message === 'string' ? message : message.message } };
}

/** Allows or denies a request (`admission.ValidationResponse`). */
export function validationResponse(isAllowed: boolean, message = ''): AdmissionResponse {
  const status: Status = isAllowed ? { code: 200 } : { code: 403, reason: 'Forbidden' };
  return { allowed: isAllowed, status: message === '' ? status : { ...status, message } };
}

/** Allows a request with the changes from one object to another (`admission.PatchResponseFromRaw`). */
export function patchResponse(original: unknown, current: unknown): AdmissionResponse {
  const patches = createJsonPatch(original, current);
  return patches.length === 0 ? { allowed: true } : { allowed: true, patches, patchType: 'JSONPatch' };
}

/** The response with more warnings (`Response.WithWarnings`). */
export function withWarnings(response: AdmissionResponse, ...warnings: readonly string[]): AdmissionResponse {
  return { ...response, warnings: [...(response.warnings ?? []), ...warnings] };
}
