import { formatTime, isJsonObject, type Json, type JsonObject, type KubeObject, type Status } from 'riata/object';
import { checkName } from '../resource/check-name.js';
import { deleteObject } from '../resource/delete-object.js';
import { metaOf, textOf, valueAt, withMeta } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import { type PatchRequest, patched } from '../resource/patch-object.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import { badRequest, conflict, internal, statusOf } from '../status/refusal.js';

type Write<B> = (
  resource: Resource,
  namespace: string,
  name: string,
  body: B,
  context: WriteContext,
) => KubeObject | JsonObject | Status;

/** Subresources that are things of their own; all others are views of the object. */
export interface SubresourceHandlers {
  readonly get: Readonly<Record<string, (resource: Resource, object: KubeObject) => JsonObject>>;
  readonly create: Readonly<Record<string, Write<JsonObject>>>;
  readonly replace: Readonly<Record<string, Write<JsonObject>>>;
  readonly patch: Readonly<Record<string, Write<Pick<PatchRequest, 'kind' | 'read'>>>>;
}

export function subresourceHandlers(store: ObjectStore): SubresourceHandlers {
  const rescale: Write<JsonObject> = (resource, namespace, name, scale, context) => {
    checkName(textOf(metaOf(scale).name), name);
    const replicas = valueAt(scale, 'spec.replicas') ?? 0;
    if (typeof replicas !== 'number') throw badRequest('spec.replicas of a Scale is a number');
    const { resourceVersion, uid } = metaOf(scale);
    const expected = { resourceVersion: textOf(resourceVersion), uid: textOf(uid) };
    const make = (live: JsonObject) => withValue(live, scalePaths(resource).replicas, replicas);
    const change = { subresource: 'scale', make, expected: textOf(resourceVersion) === '' ? undefined : expected };
    return scaleOf(resource, store.update(resource, namespace, name, change, context).object);
  };
  return {
    get: { scale: scaleOf },
    replace: { scale: rescale },
    patch: {
      scale: (resource, namespace, name, patch, context) => {
        const scale = scaleOf(resource, store.get(resource, namespace, name));
        return rescale(resource, namespace, name, patched(scale, patch), context);
      },
    },
    create: {
      binding: (resource, namespace, name, binding, context) => {
        const node = textOf(valueAt(binding, 'target.name'));
        const make = (pod: JsonObject) => bind(resource, pod, node, context);
        store.update(resource, namespace, name, { subresource: 'binding', make }, context);
        return statusOf('Success', 201);
      },
      eviction: (resource, namespace, name, eviction, context) => {
        const options = isJsonObject(eviction.deleteOptions) ? eviction.deleteOptions : {};
        const seconds = options.gracePeriodSeconds;
        const request = typeof seconds === 'number' ? { gracePeriodSeconds: seconds } : {};
        deleteObject(store, resource, namespace, name, request, context);
        return statusOf('Success', 201);
      },
    },
  };
}

/** Where an object that can be scaled keeps what a Scale shows. */
function scalePaths(resource: Resource): { replicas: string; status: string; selector: string | undefined } {
  const custom = resource.rules.scale;
  return custom ?? { replicas: 'spec.replicas', status: 'status.replicas', selector: undefined };
}

function scaleOf(resource: Resource, object: KubeObject): JsonObject {
  const json = object as unknown as JsonObject;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const paths = scalePaths(resource);
  const spec = valueAt(json, paths.replicas);
  if (spec === undefined && !resource.builtIn) {
    throw internal(`the spec replicas field ".${paths.replicas}" does not exist`);
  }
  const selector = paths.selector === undefined ? selectorText(json) : valueAt(json, paths.selector);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: typeof spec === 'number' && spec !== 0 ? { replicas: spec } : {},
    status: {
      replicas: Number(valueAt(json, paths.status) ?? 0),
      ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
    },
  };
}

function selectorText(object: JsonObject): string {
  const labels = valueAt(object, 'spec.selector.matchLabels') ?? valueAt(object, 'spec.selector');
  if (!isJsonObject(labels)) return '';
  return Object.entries(labels)
    .filter(([, value]) => typeof value === 'string')
    .map(([key, value]) => `${key}=${String(value)}`)
    .sort()
    .join(',');
}

/** The object with another value under a path of names. */
function withValue(object: JsonObject, path: string, value: Json): JsonObject {
  const [first = '', ...rest] = path.split('.');
  if (rest.length === 0) return { ...object, [first]: value };
  const below = object[first];
  return { ...object, [first]: withValue(isJsonObject(below) ? below : {}, rest.join('.'), value) };
}

function bind(resource: Resource, pod: JsonObject, node: string, context: WriteContext): JsonObject {
  const { name, deletionTimestamp } = metaOf(pod);
  if (textOf(deletionTimestamp) !== '') {
    throw conflict(resource, textOf(name), `pod ${textOf(name)} is being deleted, cannot be assigned to a host`);
  }
  const before = textOf(valueAt(pod, 'spec.nodeName'));
  if (before !== '') {
    throw conflict(resource, textOf(name), `pod ${textOf(name)} is already assigned to node "${before}"`);
  }
  const conditions = valueAt(pod, 'status.conditions');
  const others = (Array.isArray(conditions) ? conditions : []).filter(
    (c) => !isJsonObject(c) || c.type !== 'PodScheduled',
  );
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: formatTime(context.nowMs),
  };
  const bound = withValue(pod, 'spec.nodeName', node);
  return withMeta(withValue(bound, 'status.conditions', [...others, scheduled]), {});
}
