import { builtinPatchSchema } from '../kinds/builtin-patch-schema.js';
import { isJsonObject, type Json } from '../object/json.js';
import type { KubeObject } from '../object/meta.js';
import { createStrategicMergePatch } from '../object/patch/create-strategic-merge-patch.js';
import { createJsonPatch, type JsonPatchOperation } from '../object/patch/json-patch.js';
import { createMergePatch } from '../object/patch/merge-patch.js';
import { unsafeNumbers } from '../object/scan/unsafe-numbers.js';
import { lossOf, refuseLossy } from '../object/value/lossy.js';
import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';

/** Part of an object, where null removes what is there. */
export type MergeBody<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [P in keyof T]?: MergeBody<T[P]> | null }
    : T;

/** The body of a merge patch. */
export type MergePatchBody<R extends KubeObject> = MergeBody<Omit<R, 'apiVersion' | 'kind'>>;

/**
 * A change to an object, as plain data (`client.Patch`, `client.RawPatch`): JSON patch (RFC 6902), merge patch
 * (RFC 7386), strategic merge patch (built-in kinds only) or an apply patch. `mergeFrom`, `strategicMergeFrom` and
 * `jsonPatchFrom` make one from two versions of an object.
 */
export type Patch<R extends KubeObject = KubeObject> =
  | { readonly type: 'json'; readonly body: readonly JsonPatchOperation[] }
  | { readonly type: 'merge'; readonly body: MergePatchBody<R> }
  | { readonly type: 'strategic'; readonly body: object }
  | { readonly type: 'apply'; readonly body: object };

/** How a patch is made from two versions. */
export interface PatchFromOptions {
  /** Refuse with a conflict if the object changed since `before` was read (`MergeFromWithOptimisticLock`). @default false */
  readonly optimisticLock?: boolean;
}

export const patchFromOptionNames = optionNames<PatchFromOptions>({ optimisticLock: true });

/**
 * The merge patch that turns `before` into `after` (`client.MergeFrom`). Lists are replaced whole. Throws a
 * `LossyObjectError` if a list to be replaced holds an integer past 2^53 that was not read exactly.
 */
export function mergeFrom<R extends KubeObject>(before: R, after: R, options: PatchFromOptions = {}): Patch<R> {
  refuseUnknownOptions('mergeFrom', options, patchFromOptionNames);
  const body = locked(createMergePatch(asJson(before), asJson(after)), before, options);
  return { type: 'merge', body: exact(body, after) as MergePatchBody<R> };
}

/**
 * The strategic merge patch that turns `before` into `after` (`client.StrategicMergeFrom`): elements of keyed lists are
 * changed one by one. Throws a `TypeError` for kinds that are not built in, as servers do not take it for these.
 */
export function strategicMergeFrom<R extends KubeObject>(
  before: R,
  after: R,
  options: PatchFromOptions = {},
): Patch<R> {
  refuseUnknownOptions('strategicMergeFrom', options, patchFromOptionNames);
  const schema = builtinPatchSchema(before);
  if (schema === undefined) {
    throw new TypeError(
      `strategicMergeFrom: ${before.apiVersion} ${before.kind} is not a built-in kind; servers accept strategic merge patches ` +
        'of built-in kinds only; use mergeFrom',
    );
  }
  const body = locked(createStrategicMergePatch(before, after, schema), before, options);
  return { type: 'strategic', body: exact(body, after) as object };
}

/**
 * The JSON patch that turns `before` into `after`. With the lock it also writes the resourceVersion of `before`, which
 * gives a conflict as in a merge patch; a failed `test` would come back as 422 without saying why.
 */
export function jsonPatchFrom<R extends KubeObject>(before: R, after: R, options: PatchFromOptions = {}): Patch<R> {
  refuseUnknownOptions('jsonPatchFrom', options, patchFromOptionNames);
  const operations = exact(createJsonPatch(asJson(before), asJson(after)), after);
  if (!options.optimisticLock) return { type: 'json', body: operations };
  const pin = { op: 'add', path: '/metadata/resourceVersion', value: versionOf(before) } as const;
  return { type: 'json', body: [...operations, pin] };
}

function locked(body: Json, before: KubeObject, options: PatchFromOptions): Json {
  if (!options.optimisticLock || !isJsonObject(body)) return body;
  const metadata = isJsonObject(body.metadata) ? body.metadata : {};
  return { ...body, metadata: { ...metadata, resourceVersion: versionOf(before) } };
}

function versionOf({ kind, metadata }: KubeObject): string {
  if (metadata.resourceVersion) return metadata.resourceVersion;
  const name = JSON.stringify(metadata.name);
  throw new TypeError(
    `patch of ${kind} ${name}: optimisticLock requires an object that was read from the server; it has no resourceVersion`,
  );
}

/** Refuses a patch that would write an integer back which was rounded when it was read. */
function exact<B>(body: B, after: object): B {
  const isRounded = lossOf(after)?.reasons.some(({ reason }) => reason === 'unsafe-integer') ?? false;
  if (!isRounded) return body;
  // A bigint was put there by the caller, who knows its value.
  const text = JSON.stringify(body, (_key, value: unknown) => (typeof value === 'bigint' ? 0 : value));
  if (unsafeNumbers(text).length > 0) refuseLossy(after, 'patch');
  return body;
}

/** Interfaces have no index signature, so that the compiler does not see that an object is JSON. */
function asJson(object: object): Json {
  return object as Json;
}
