import type { JsonObject } from 'riata/object';
import { badRequest } from '../status/refusal.js';
import { otherKind } from './other-kind.js';
import type { Resource } from './resource.js';
import type { WriteContext } from './write-context.js';

/**
 * An object from outside, as the schema knows it: unknown fields are left out, refused or warned about, as the caller
 * asked for.
 */
export function readObject(resource: Resource, sent: JsonObject, context: WriteContext): JsonObject {
  checkKind(resource, sent);
  const { object, unknown } = resource.schema.read({ ...sent, apiVersion: resource.apiVersion, kind: resource.kind });
  if (unknown.length > 0 && context.fieldValidation === 'Strict') {
    const fields = unknown.map(unknownField).join(', ');
    throw badRequest(
      `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: strict decoding error: ${fields}`,
    );
  }
  if (context.fieldValidation === 'Warn') for (const path of unknown) context.warn(unknownField(path));
  return object;
}

/** What is sent may leave its kind out, but not be of another. */
export function checkKind(resource: Resource, { apiVersion, kind }: JsonObject): void {
  if (apiVersion === undefined || apiVersion === '' || kind === undefined || kind === '') return;
  if (apiVersion === resource.apiVersion && kind === resource.kind) return;
  if (resource.builtIn) throw badRequest(otherKind(resource, String(apiVersion), String(kind)));
  throw badRequest(
    `the API version in the data (${String(apiVersion)}) does not match the expected API version (${resource.apiVersion})`,
  );
}

function unknownField(path: string): string {
  return `unknown field ${JSON.stringify(path)}`;
}
