import type { Json } from '../object/json.js';
import type { KubeObject } from '../object/meta.js';
import { createJsonPatch, type JsonPatchOperation } from '../object/patch/json-patch.js';
import { createMergePatch } from '../object/patch/merge-patch.js';

/** Part of an object, where null removes what is there. */
export type MergeBody<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [P in keyof T]?: MergeBody<T[P]> | null }
    : T;

/** What a merge patch may say of an object. */
export type MergePatchBody<R extends KubeObject> = MergeBody<Omit<R, 'apiVersion' | 'kind'>>;

/**
 * A change to an object, as plain data (`client.Patch`, `client.RawPatch`): JSON patch (RFC 6902), merge patch
 * (RFC 7386), strategic merge patch (built-in kinds only) or an apply patch. `mergeFrom` and `jsonPatchFrom` make one
 * from two versions of an object.
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

/** The merge patch that turns `before` into `after` (`client.MergeFrom`). Lists are replaced whole. */
export function mergeFrom<R extends KubeObject>(before: R, after: R, options: PatchFromOptions = {}): Patch<R> {
  const body = createMergePatch(asJson(before), asJson(after)) as MergePatchBody<R>;
  return { type: 'merge', body: options.optimisticLock ? lock(body, before) : body };
}

/** The JSON patch that turns `before` into `after`; with the lock, it begins with a test of the resourceVersion. */
export function jsonPatchFrom<R extends KubeObject>(before: R, after: R, options: PatchFromOptions = {}): Patch<R> {
  const operations = createJsonPatch(asJson(before), asJson(after));
  if (!options.optimisticLock) return { type: 'json', body: operations };
  const test = { op: 'test', path: '/metadata/resourceVersion', value: before.metadata.resourceVersion } as const;
  return { type: 'json', body: [test, ...operations] };
}

function lock<R extends KubeObject>(body: MergePatchBody<R>, before: R): MergePatchBody<R> {
  const { metadata } = body as { metadata?: object };
  return { ...body, metadata: { ...metadata, resourceVersion: before.metadata.resourceVersion } } as MergePatchBody<R>;
}

/** Interfaces have no index signature, so that the compiler does not see that an object is JSON. */
function asJson(object: object): Json {
  return object as Json;
}
