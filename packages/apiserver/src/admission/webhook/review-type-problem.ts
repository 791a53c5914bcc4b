import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { base64Problem } from '../../schema/built-in/decode-typed.js';
import { mismatch } from '../../webhook-client/read-review.js';

/** The Go type of a field: its name in errors, and the fields of a struct, or the type of elements. */
interface GoField {
  readonly type: string;
  readonly fits: (value: Json) => boolean;
  readonly fields?: Readonly<Record<string, GoField>>;
  readonly elements?: GoField;
}

const isText = (value: Json) => typeof value === 'string';
const text = (type = 'string'): GoField => ({ type, fits: isText });
const integer: GoField = { type: 'int32', fits: (value) => Number.isInteger(value) };
const struct = (type: string, fields: Readonly<Record<string, GoField>>): GoField => ({
  ...{ type, fits: isJsonObject, fields },
});

const details = struct('v1.StatusDetails', {
  ...{ name: text(), group: text(), kind: text(), uid: text('types.UID'), retryAfterSeconds: integer },
});

const status = struct('v1.Status', {
  ...{ status: text(), message: text(), reason: text('v1.StatusReason'), details, code: integer },
});

const bytes: GoField = { type: '[]uint8', fits: (value) => isText(value) || Array.isArray(value) };

const reviewFields = (version: string): Readonly<Record<string, GoField>> => ({
  response: struct(`${version}.AdmissionResponse`, {
    uid: text('types.UID'),
    allowed: { type: 'bool', fits: (value) => typeof value === 'boolean' },
    status,
    patch: bytes,
    patchType: text(`${version}.PatchType`),
    auditAnnotations: { type: 'map[string]string', fits: isJsonObject, elements: text() },
    warnings: { type: '[]string', fits: Array.isArray, elements: text() },
  }),
});

/** Go's first complaint about a review whose fields have other types than those of an AdmissionReview. */
export function reviewTypeProblem(review: JsonObject, version: string): string | undefined {
  return problemIn(review, reviewFields(version), 'AdmissionReview', '');
}

function problemIn(
  object: JsonObject,
  fields: Readonly<Record<string, GoField>>,
  struct: string,
  path: string,
): string | undefined {
  for (const [name, value] of Object.entries(object)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined || value === undefined || value === null) continue;
    const problem = problemOf(value, field, struct, path === '' ? name : `${path}.${name}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOf(value: Json, field: GoField, struct: string, path: string): string | undefined {
  if (!field.fits(value)) return mismatch(value, struct, path, field.type);
  if (field === bytes) return isText(value) ? base64Problem(value as string) : undefined;
  const { fields, elements, type } = field;
  if (fields !== undefined) return problemIn(value as JsonObject, fields, type.slice(type.indexOf('.') + 1), path);
  if (elements === undefined) return undefined;
  const odd = Object.values(value as JsonObject).find(
    (one) => one !== undefined && one !== null && !elements.fits(one),
  );
  return odd === undefined ? undefined : mismatch(odd, struct, path, elements.type);
}
