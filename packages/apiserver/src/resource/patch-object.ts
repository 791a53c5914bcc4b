import { applyJsonPatch, applyMergePatch, isJsonObject, isPatchError, type Json, type JsonObject } from 'riata/object';
import { badRequest, modified, notFound, Refusal, unsupportedMediaType } from '../status/refusal.js';
import { metaOf, textOf, withMeta } from './metadata.js';
import type { ObjectStore, Written } from './object-store.js';
import { checkKind, readObject } from './read-object.js';
import type { Resource } from './resource.js';
import { type WriteContext, writerOf } from './write-context.js';

export type PatchKind = 'json' | 'merge' | 'strategic' | 'apply';

export interface PatchRequest {
  readonly kind: PatchKind;
  /** What is to be done; throws a `Refusal` if it cannot be read. Asked for once the object was found. */
  read(): Json;
  readonly subresource: string;
  /** Apply only: take conflicting fields over. */
  readonly force: boolean;
}

const maxOperations = 10_000;

/** Which patches a resource takes, by content type. */
export function patchTypesOf(resource: Resource): readonly string[] {
  const strategic = resource.schema.strategicPatch === undefined ? [] : ['application/strategic-merge-patch+json'];
  return ['application/json-patch+json', 'application/merge-patch+json', ...strategic, 'application/apply-patch+yaml'];
}

/** Changes an object by a patch of any form; an apply patch makes it if it is not there. */
export function patchObject(
  store: ObjectStore,
  resource: Resource,
  namespace: string,
  name: string,
  request: PatchRequest,
  context: WriteContext,
): Written {
  if (request.kind === 'apply') return applyObject(store, resource, namespace, name, request, context);
  let sentVersion = '';
  const make = (live: JsonObject): JsonObject => {
    const patched = patch(resource, live, request);
    if (!isJsonObject(patched)) throw badRequest('the patch does not leave an object');
    const read = readObject(resource, patched, context);
    sentVersion = textOf(metaOf(read).resourceVersion);
    if (sentVersion !== '' && sentVersion !== metaOf(live).resourceVersion) throw modified(resource, name);
    return read;
  };
  return store.update(resource, namespace, name, { subresource: request.subresource, make }, context);
}

function patch(resource: Resource, live: JsonObject, request: PatchRequest): Json {
  const { kind } = request;
  const body = request.read();
  try {
    if (kind === 'merge') return applyMergePatch(live, body);
    if (kind === 'json') return applyJsonPatch(live, operationsOf(body));
    const { strategicPatch } = resource.schema;
    if (strategicPatch === undefined) throw unsupportedMediaType(patchTypesOf(resource));
    if (!isJsonObject(body)) throw badRequest('a strategic merge patch is an object');
    return strategicPatch(live, body);
  } catch (error) {
    if (!isPatchError(error)) throw error;
    const message = 'the server rejected our request due to an error in our request';
    if (error.reason === 'invalid') throw badRequest(error.message);
    throw new Refusal(422, 'Invalid', message, {});
  }
}

/** An object that is not stored as such, e.g. a Scale, after a patch. */
export function patched(object: JsonObject, request: Pick<PatchRequest, 'kind' | 'read'>): JsonObject {
  const body = request.read();
  const { kind } = request;
  const result = kind === 'json' ? applyJsonPatch(object, operationsOf(body)) : applyMergePatch(object, body);
  if (!isJsonObject(result)) throw badRequest('the patch does not leave an object');
  return result;
}

function operationsOf(body: Json): Parameters<typeof applyJsonPatch>[1] {
  if (!Array.isArray(body)) throw badRequest('a JSON patch is a list of operations');
  if (body.length > maxOperations) {
    const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${body.length}`;
    throw new Refusal(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`, {});
  }
  return body as unknown as Parameters<typeof applyJsonPatch>[1];
}

function applyObject(
  store: ObjectStore,
  resource: Resource,
  namespace: string,
  name: string,
  request: PatchRequest,
  context: WriteContext,
): Written {
  const { force, subresource } = request;
  const body = request.read();
  if (!isJsonObject(body)) throw badRequest('what is applied is no object');
  if (metaOf(body).managedFields !== undefined) {
    throw badRequest('metadata.managedFields must be nil');
  }
  checkKind(resource, body);
  const identity = { name, namespace: namespace || undefined };
  const intent = withMeta({ ...body, apiVersion: resource.apiVersion, kind: resource.kind }, identity);
  const writer = writerOf(context, resource.apiVersion, subresource);
  const { tracking } = resource.schema;
  if (store.find(resource, namespace, name) === undefined) {
    if (subresource !== '') throw notFound(resource, name);
    const applied = readObject(resource, tracking.apply(undefined, intent, writer, force), context);
    return { object: store.create(resource, namespace, applied, context, true), created: true };
  }
  const sent = textOf(metaOf(intent).resourceVersion);
  const expected = sent === '' ? undefined : { resourceVersion: sent };
  const wanted = withMeta(intent, { resourceVersion: undefined });
  const make = (live: JsonObject) => readObject(resource, tracking.apply(live, wanted, writer, force), context);
  return store.update(resource, namespace, name, { subresource, make, expected, tracked: true }, context);
}
