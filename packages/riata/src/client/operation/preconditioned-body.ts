import { isJsonObject, type Json } from '../../object/json.js';
import { patchTypes } from '../../rest/rest-client.js';
import type { Preconditions } from '../options.js';
import type { Operation } from './operation.js';

/** The body of an operation with its preconditions added, in the form of its verb; its own preconditions stay. */
export function preconditionedBody(operation: Operation): unknown {
  const { verb, body, preconditions } = operation;
  if (preconditions === undefined) return body;
  if (verb === 'delete' || verb === 'deletecollection') return deletionBody(body, preconditions);
  if (verb === 'update') return withMeta(body, preconditions);
  if (verb !== 'patch') return body;
  return operation.contentType === patchTypes.json ? jsonPatch(body, preconditions) : withMeta(body, preconditions);
}

function deletionBody(body: unknown, preconditions: Preconditions): unknown {
  const options = isJsonObject(body) ? body : { apiVersion: 'v1', kind: 'DeleteOptions' };
  const own = isJsonObject(options.preconditions) ? options.preconditions : {};
  return { ...options, preconditions: { ...preconditions, ...own } };
}

function withMeta(body: unknown, { uid, resourceVersion }: Preconditions): unknown {
  if (!isJsonObject(body)) return body;
  const own = isJsonObject(body.metadata) ? body.metadata : {};
  const metadata: Record<string, unknown> = { ...own };
  if (uid !== undefined) metadata.uid ??= uid;
  if (resourceVersion !== undefined) metadata.resourceVersion ??= resourceVersion;
  return { ...body, metadata };
}

/** Setting the resourceVersion is what the server compares; a `test` would be answered as a mistake, not a conflict. */
function jsonPatch(body: unknown, { resourceVersion }: Preconditions): unknown {
  if (!Array.isArray(body) || resourceVersion === undefined) return body;
  const path = '/metadata/resourceVersion';
  if (body.some((step: Json) => isJsonObject(step) && step.path === path)) return body;
  return [...body, { op: 'replace', path, value: resourceVersion }];
}
