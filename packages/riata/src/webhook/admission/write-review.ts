import { Buffer } from 'node:buffer';
import { encodeJson } from '../../object/encode-json.js';
import type { Status } from '../../object/meta.js';
import type { JsonPatchOperation } from '../../object/patch/json-patch.js';
import type { AdmissionResponse, ReviewVersion } from './admission-review.js';

/** The answer to a body that was not a review: there is no uid and no version to repeat. */
export function writeMalformed(code: number, message: string): string {
  return JSON.stringify({ response: { uid: '', allowed: false, status: { metadata: {}, message, code } } });
}

/**
 * An `AdmissionReview` with a response (`Response.Complete`). Throws a `TypeError` for a patch that has no JSON form.
 */
export function writeReview(version: ReviewVersion, uid: string, response: AdmissionResponse): string {
  const { allowed, patches, warnings = [], auditAnnotations } = response;
  let text =
    `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/${version}","response":` +
    `{"uid":${JSON.stringify(uid)},"allowed":${allowed}`;
  if (patches !== undefined && patches.length > 0) {
    text += `,"patch":"${Buffer.from(encodePatch(patches)).toString('base64')}","patchType":"JSONPatch"`;
  } else if (response.patch !== undefined && response.patch !== '') {
    text += `,"patch":${JSON.stringify(response.patch)},"patchType":${JSON.stringify(response.patchType ?? 'JSONPatch')}`;
  }
  text += `,"status":${response.status === undefined ? '{"metadata":{},"code":200}' : writeStatus(response.status)}`;
  if (auditAnnotations !== undefined) text += `,"auditAnnotations":${JSON.stringify(auditAnnotations)}`;
  if (warnings.length > 0) text += `,"warnings":${JSON.stringify(warnings)}`;
  return `${text}}}`;
}

function writeStatus(status: Status): string {
  return JSON.stringify({ metadata: {}, ...status, code: status.code || 200 });
}

/** The JSON text of a patch. Integers past 2^53 are bigints in it. */
export function encodePatch(patches: readonly JsonPatchOperation[]): string {
  return `[${patches.map(encodeOperation).join(',')}]`;
}

function encodeOperation(operation: JsonPatchOperation): string {
  if (!('value' in operation)) return JSON.stringify(operation);
  const { op, path, value } = operation;
  try {
    return `{"op":"${op}","path":${JSON.stringify(path)},"value":${encodeJson(value)}}`;
  } catch (error) {
    throw new TypeError(`the change of ${path} cannot be sent: ${(error as Error).message}`, { cause: error });
  }
}
