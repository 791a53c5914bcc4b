import { isJsonObject, type JsonObject, splitApiVersion } from 'riata/object';
import { unknownComplaint } from '../schema/strict-fields.js';
import { invalid } from '../status/field-error.js';
import { badRequest, invalidObject } from '../status/refusal.js';
import { atOnce, type Steps } from '../steps.js';
import { otherKind } from './other-kind.js';
import type { Resource } from './resource.js';
import type { WriteContext } from './write-context.js';

/** Thrown for an object that cannot be read as one of its kind. The message is what Go's decoder says. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
  /** The kind and the version that the object says it has. */
  readonly kind: string;
  readonly version: string;

  constructor(resource: Pick<Resource, 'kind' | 'version'>, message: string, { apiVersion, kind }: JsonObject = {}) {
    super(message);
    this.kind = typeof kind === 'string' && kind !== '' ? kind : resource.kind;
    this.version =
      typeof apiVersion === 'string' && apiVersion !== '' ? splitApiVersion(apiVersion).version : resource.version;
  }
}

/** The text that an object was read from. */
export interface SentBody {
  /** The JSON; undefined if it was YAML. */
  bodyText(): string | undefined;
  /** What a strict reading of the YAML complains about. */
  readonly yamlComplaint: string | undefined;
}

/**
 * An object from outside, as the schema knows it: unknown fields are left out, refused or warned about, as the caller
 * asked for. Throws 400.
 */
export function readObject(resource: Resource, sent: JsonObject, context: WriteContext): JsonObject {
  return atOnce(readSteps(resource, sent, context));
}

/** As {@link readObject}. With its text, fields that stand twice are noticed too. */
export function* readSteps(
  resource: Resource,
  sent: JsonObject,
  context: WriteContext,
  body?: SentBody,
): Steps<JsonObject> {
  try {
    return yield* decodeObject(resource, sent, context, function* (unknown) {
      const text = body?.bodyText();
      if (text !== undefined) return yield* resource.schema.complaints(text, unknown);
      const doubled = body?.yamlComplaint;
      return [...(doubled === undefined ? [] : [doubled]), ...unknown.map(unknownComplaint)];
    });
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    const { version, kind, message } = error;
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${resource.kind}: ${message}`);
  }
}

/** As {@link readSteps}; `complaints` are made of the unknown fields. Throws an {@link UnreadableError}. */
export function* decodeObject(
  resource: Resource,
  sent: JsonObject,
  context: WriteContext,
  complaints: (unknown: readonly string[]) => Steps<readonly string[]>,
): Steps<JsonObject> {
  checkKind(resource, sent);
  const { object, unknown } = yield* resource.schema.read({
    ...sent,
    apiVersion: resource.apiVersion,
    kind: resource.kind,
  });
  const all = context.fieldValidation === 'Ignore' ? [] : yield* complaints(unknown);
  if (all.length > 0 && context.fieldValidation === 'Strict') {
    throw new UnreadableError(resource, `strict decoding error: ${all.join(', ')}`);
  }
  if (context.fieldValidation === 'Warn') warnAbout(all, context);
  return object;
}

/** Tells complaints as warnings; one about several lines of YAML line by line. */
export function warnAbout(complaints: readonly string[], context: WriteContext): void {
  for (const complaint of complaints) {
    const [head = '', ...lines] = complaint.split('\n');
    for (const line of lines.length === 0 ? [head] : lines) context.warn(line.trim());
  }
}

/** What is sent may leave its kind out, but not be of another. */
function checkKind(resource: Resource, sent: JsonObject): void {
  const { apiVersion, kind } = sent;
  if (apiVersion === undefined || apiVersion === '' || kind === undefined || kind === '') return;
  if (apiVersion === resource.apiVersion && kind === resource.kind) return;
  if (resource.builtIn)
    throw new UnreadableError(resource, otherKind(resource, String(apiVersion), String(kind)), sent);
  if (apiVersion === resource.apiVersion) {
    const error = invalid('kind', kind, `must be ${resource.kind}`);
    const name = isJsonObject(sent.metadata) ? sent.metadata.name : '';
    throw invalidObject({ ...resource, kind: String(kind) }, typeof name === 'string' ? name : '', [error]);
  }
  throw badRequest(
    `the API version in the data (${String(apiVersion)}) does not match the expected API version (${resource.apiVersion})`,
  );
}
