import { isJsonObject, type JsonObject, splitApiVersion } from 'riata/object';
import { unknownComplaint } from '../schema/strict-fields.js';
import { invalid } from '../status/field-error.js';
import { badRequest, invalidObject } from '../status/refusal.js';
import { atOnce, type Steps } from '../steps.js';
import { otherKind } from './other-kind.js';
import type { Resource } from './resource.js';
import type { WriteContext } from './write-context.js';

/** Thrown for an object that cannot be decoded as its kind, with the message of Go's decoder. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
  /** The kind and version in the object. */
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
  /** Errors of strict YAML parsing. */
  readonly yamlComplaint: string | undefined;
}

/**
 * Decodes an object by its schema: unknown fields are dropped, refused or reported as warnings, as the caller
 * requested. Throws 400.
 */
export function readObject(resource: Resource, sent: JsonObject, context: WriteContext): JsonObject {
  return atOnce(readSteps(resource, sent, context));
}

/** Like {@link readObject}. With the text, duplicate fields are found, too. */
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

/** Like {@link readSteps}; `complaints` formats the unknown fields. Throws an {@link UnreadableError}. */
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

/** Sends complaints as warnings; splits one about several lines of YAML into lines. */
export function warnAbout(complaints: readonly string[], context: WriteContext): void {
  for (const complaint of complaints) {
    const [head = '', ...lines] = complaint.split('\n');
    for (const line of lines.length === 0 ? [head] : lines) context.warn(line.trim());
  }
}

/** Allows a missing kind, but not a different one. */
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
