import type { JsonObject, KubeObject, Status } from 'riata/object';
import { requestToken, type TokenParts } from '../authentication/token-request.js';
import type { PatchRequest } from '../resource/patch-object.js';
import { patchedAs } from '../resource/patch-object.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import type { Steps } from '../steps.js';
import { bindPod } from './bind-pod.js';
import { type EvictionParts, evict } from './evict.js';
import { rescale, scaleOf } from './scale.js';

/** A write to a subresource. `as` is what the body is read as. */
type Write<B, R> = (
  at: { readonly resource: Resource; readonly as: Resource; readonly namespace: string; readonly name: string },
  body: B,
  context: WriteContext,
) => R;

/** Subresources that are things of their own; all others are views of the object. */
export interface SubresourceHandlers {
  readonly get: Readonly<Record<string, (resource: Resource, object: KubeObject) => JsonObject>>;
  readonly create: Readonly<Record<string, Write<JsonObject, Steps<JsonObject | Status>>>>;
  readonly replace: Readonly<Record<string, Write<JsonObject, Steps<JsonObject>>>>;
  readonly patch: Readonly<Record<string, Write<Pick<PatchRequest, 'kind' | 'read' | 'text'>, Steps<JsonObject>>>>;
}

/** What the subresources work with. */
export interface SubresourceParts extends EvictionParts, TokenParts {}

export function subresourceHandlers(parts: SubresourceParts): SubresourceHandlers {
  const { store } = parts;
  return {
    get: { scale: scaleOf },
    replace: {
      scale: ({ resource, namespace, name }, scale, context) =>
        rescale(store, resource, namespace, name, scale, context),
    },
    patch: {
      *scale({ resource, as, namespace, name }, patch, context) {
        const scale = scaleOf(resource, yield* store.getSteps(resource, namespace, name));
        return yield* rescale(store, resource, namespace, name, patchedAs(as, scale, patch, context), context);
      },
    },
    create: {
      binding: ({ resource, namespace, name }, binding, context) =>
        bindPod(store, resource, namespace, name, binding, context),
      eviction: ({ resource, namespace, name }, eviction, context) =>
        evict(parts, resource, namespace, name, eviction, context),
      token: ({ resource, as, namespace, name }, request, context) =>
        requestToken(parts, { accounts: resource, as, namespace, name }, request, context),
    },
  };
}
