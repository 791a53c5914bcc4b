import { applyMergePatch, isJsonObject, isPatchError, type Json, type JsonObject } from 'riata/object';
import { writeJson } from '../http/body/write-json.js';
import { duplicateComplaints, stepComplaints, unknownComplaint } from '../schema/strict-fields.js';
import { invalid } from '../status/field-error.js';
import { goKind } from '../status/go-kind.js';
import { badRequest, conflict, invalidObject, notFound, Refusal, unsupportedMediaType } from '../status/refusal.js';
import { atOnce, type Steps } from '../steps.js';
import { checkName } from './check-name.js';
import { applyJsonPatchSteps, ImpossiblePatchError } from './json-patch-steps.js';
import { metaOf, textOf, withMeta } from './metadata.js';
import type { ObjectStore, Written } from './object-store.js';
import { decodeObject, readObject, UnreadableError, warnAbout } from './read-object.js';
import type { Resource } from './resource.js';
import { type WriteContext, writerOf } from './write-context.js';

export type PatchKind = 'json' | 'merge' | 'strategic' | 'apply';

export interface PatchRequest {
  readonly kind: PatchKind;
  /** Reads the patch once the object was found; throws a `Refusal` if it is malformed. */
  read(): Json;
  /** The JSON text of it; undefined if it was YAML. */
  text(): string | undefined;
  /** Errors of strict YAML parsing. */
  readonly yamlComplaint: string | undefined;
  readonly subresource: string;
  /** Apply only: take conflicting fields over. */
  readonly force: boolean;
}

const maxOperations = 10_000;

/** The patch types of a resource, by content type. */
export function patchTypesOf(resource: Resource): readonly string[] {
  const strategic = resource.schema.strategicPatch === undefined ? [] : ['application/strategic-merge-patch+json'];
  return ['application/json-patch+json', 'application/merge-patch+json', ...strategic, 'application/apply-patch+yaml'];
}

/** Patches an object; an apply patch creates a missing one. */
export function patchObject(
  store: ObjectStore,
  resource: Resource,
  namespace: string,
  name: string,
  request: PatchRequest,
  context: WriteContext,
): Steps<Written> {
  if (request.kind === 'apply') return applyObject(store, resource, namespace, name, request, context);
  const make = (live: JsonObject) => readPatched(resource, patchedObject(resource, live, request), context);
  const change = { subresource: request.subresource, make, expected: {} };
  return store.updateSteps(resource, namespace, name, change, context);
}

interface Patched {
  readonly object: JsonObject;
  readonly kind: PatchKind;
  /** What messages show. */
  readonly shown: () => string;
  readonly complaints: readonly string[];
}

function patchedObject(
  resource: Resource,
  live: JsonObject,
  request: Pick<PatchRequest, 'kind' | 'read' | 'text'>,
): Patched {
  const { kind } = request;
  const body = request.read();
  const text = request.text() ?? '{}';
  const complaints = atOnce(kind === 'json' ? stepComplaints(text) : duplicateComplaints(text));
  try {
    if (kind === 'strategic') {
      const { strategicPatch } = resource.schema;
      if (strategicPatch === undefined) throw unsupportedMediaType(patchTypesOf(resource));
      const change = isJsonObject(body) ? body : {};
      return { object: strategicPatch(live, change), kind, shown: () => goText(change), complaints };
    }
    const object =
      kind === 'merge' ? applyMergePatch(live, withoutNulls(body, false)) : applyJsonPatchSteps(live, stepsOf(body));
    if (!isJsonObject(object)) throw new ImpossiblePatchError('no object is left');
    // Go serializes the patched object with sorted fields, and reports the first that does not fit.
    const ordered = Object.fromEntries(
      Object.keys(object)
        .sort()
        .map((key) => [key, object[key] as Json]),
    );
    return { object: ordered, kind, shown: () => writeJson(ordered), complaints };
  } catch (error) {
    if (error instanceof ImpossiblePatchError || (isPatchError(error) && kind === 'json')) throw impossible();
    if (!isPatchError(error)) throw error;
    throw error.reason === 'invalid' ? badRequest(error.message) : impossible();
  }
}

/**
 * A merge patch as kube-apiserver applies it: null also removes members of objects within lists, which RFC 7386 would
 * take as they are.
 */
function withoutNulls(value: Json, inList: boolean): Json {
  if (Array.isArray(value)) return value.map((element) => withoutNulls(element, true));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => !inList || member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member as Json, inList)]));
}

function impossible(): Refusal {
  return new Refusal(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

function readPatched(resource: Resource, patched: Patched, context: WriteContext): JsonObject {
  const { kind, shown, complaints } = patched;
  const { fromStrategicPatch } = resource.schema;
  try {
    const object = kind === 'strategic' ? (fromStrategicPatch?.(patched.object) ?? patched.object) : patched.object;
    // biome-ignore lint/correctness/useYield: nothing to wait for.
    const all = function* (unknown: readonly string[]) {
      return [...complaints, ...unknown.map(unknownComplaint)];
    };
    return atOnce(decodeObject(resource, object, context, all));
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    throw invalidObject({ group: '', kind: '', plural: '' }, '', [invalid('patch', shown(), error.message)]);
  }
}

/** A value as Go prints it. */
function goText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isJsonObject(value)) return value === null ? '<nil>' : String(value);
  const members = Object.keys(value).sort();
  return `map[${members.map((name) => `${name}:${goText(value[name] as Json)}`).join(' ')}]`;
}

/** Patches an object that is not stored as such, e.g. a Scale. */
export function patchedAs(
  resource: Resource,
  object: JsonObject,
  request: Pick<PatchRequest, 'kind' | 'read' | 'text'>,
  context: WriteContext,
): JsonObject {
  // The subresource may accept other patch types than its resource.
  const kind = request.kind === 'strategic' || request.kind === 'json' ? request.kind : 'merge';
  return readPatched(resource, patchedObject(resource, object, { ...request, kind }), context);
}

function stepsOf(body: Json): readonly Json[] {
  const steps = Array.isArray(body) ? body : [];
  if (steps.length <= maxOperations) return steps;
  const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${steps.length}`;
  throw new Refusal(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`);
}

/** Reads the result of an apply. Unknown fields were refused before; custom kinds keep nulls for validation. */
function readApplied(resource: Resource, result: JsonObject, context: WriteContext): JsonObject {
  const quiet: WriteContext = { ...context, fieldValidation: 'Ignore' };
  if (resource.builtIn) return readObject(resource, result, quiet);
  const { apiVersion, kind, metadata = {} } = result;
  const read = readObject(resource, { apiVersion, kind, metadata } as JsonObject, quiet);
  return { ...result, metadata: metaOf(read) };
}

/** Reports duplicate keys in an apply patch, after it was applied successfully. */
function checkYaml({ yamlComplaint: found }: PatchRequest, context: WriteContext): void {
  if (found === undefined || context.fieldValidation === 'Ignore') return;
  if (context.fieldValidation === 'Strict') {
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${found}`);
  }
  warnAbout([found], context);
}

function otherType({ apiVersion, kind }: JsonObject): Refusal {
  return badRequest(`invalid object type: ${goKind(textOf(apiVersion), textOf(kind))}`);
}

/** Creates or updates; starts again if the object was created or deleted meanwhile. */
function* applyObject(
  store: ObjectStore,
  resource: Resource,
  namespace: string,
  name: string,
  request: PatchRequest,
  context: WriteContext,
): Steps<Written> {
  for (;;) {
    const isThere = store.find(resource, namespace, name) !== undefined;
    try {
      const apply = isThere ? applyToObject : applyNew;
      return yield* apply(store, resource, namespace, name, request, context);
    } catch (error) {
      const wasThere = error instanceof Refusal && (error.status.code === 409 || error.status.code === 404);
      if (!wasThere || (store.find(resource, namespace, name) !== undefined) === isThere) throw error;
    }
  }
}

/** The intent of an apply patch. Throws a `Refusal` if it does not fit the resource. */
function intentOf(resource: Resource, request: PatchRequest): JsonObject {
  const body = request.read();
  if (!isJsonObject(body)) throw badRequest('what is applied is no object');
  if (metaOf(body).managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  if (body.apiVersion !== resource.apiVersion || body.kind !== resource.kind) throw otherType(body);
  return body;
}

function* applyNew(
  store: ObjectStore,
  resource: Resource,
  namespace: string,
  name: string,
  request: PatchRequest,
  context: WriteContext,
): Steps<Written> {
  const { force, subresource } = request;
  const intent = intentOf(resource, request);
  if (subresource !== '') throw notFound(resource, name);
  const { uid } = metaOf(intent);
  if (textOf(uid) !== '') {
    const why = `uid mismatch: the provided object specified uid ${textOf(uid)}, and no existing object was found`;
    throw conflict(resource, name, why);
  }
  const fresh = withMeta(intent, { resourceVersion: undefined });
  const writer = writerOf(context, resource.apiVersion, subresource);
  const result = resource.schema.tracking.apply(undefined, fresh, writer, force);
  checkYaml(request, context);
  const applied = readApplied(resource, result, context);
  checkName(textOf(metaOf(applied).name), name);
  return { object: yield* store.createSteps(resource, namespace, applied, context, true), created: true };
}

function applyToObject(
  store: ObjectStore,
  resource: Resource,
  namespace: string,
  name: string,
  request: PatchRequest,
  context: WriteContext,
): Steps<Written> {
  const { force, subresource } = request;
  const intent = intentOf(resource, request);
  const writer = writerOf(context, resource.apiVersion, subresource);
  const sent = textOf(metaOf(intent).resourceVersion);
  const expected = sent === '' ? undefined : { resourceVersion: sent };
  const desired = withMeta(intent, { resourceVersion: undefined });
  const make = (live: JsonObject) => {
    const result = resource.schema.tracking.apply(live, desired, writer, force);
    checkYaml(request, context);
    return readApplied(resource, result, context);
  };
  return store.updateSteps(resource, namespace, name, { subresource, make, expected, tracked: true }, context);
}
