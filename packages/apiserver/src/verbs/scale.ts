import {
  valueAt as fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  type KubeObject,
  type LabelSelector,
  selectorFrom,
  selectorFromLabels,
} from 'riata/object';
import { checkName } from '../resource/check-name.js';
import { checkUid, expectRevision } from '../resource/expectations.js';
import { track } from '../resource/fields/track.js';
import { metaOf, recordsOf, textOf, valueAt, withMeta } from '../resource/metadata.js';
import type { ObjectView } from '../resource/object-preparation.js';
import { keyFor, type ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import { invalid } from '../status/field-error.js';
import { internal, invalidObject } from '../status/refusal.js';
import type { Steps } from '../steps.js';

/** Sets the replicas of an object to what a Scale says, and answers with how it is scaled now. */
export function* rescale(
  store: ObjectStore,
  resource: Resource,
  namespace: string,
  name: string,
  scale: JsonObject,
  context: WriteContext,
): Steps<JsonObject> {
  const { resourceVersion, uid, name: sent } = metaOf(scale);
  checkName(textOf(sent), name);
  const replicas = Number(valueAt(scale, 'spec.replicas') ?? 0);
  const make = (live: JsonObject) => {
    const stored = live as unknown as KubeObject;
    if (textOf(uid) !== '') checkUid(resource, keyFor(namespace, name), textOf(uid), stored);
    expectRevision(resource, name, Number(stored.metadata.resourceVersion), textOf(resourceVersion));
    const scaled = withValue(live, scalePaths(resource).replicas, replicas);
    return track(resource, live, scaled, context, 'scale');
  };
  const change = { subresource: 'scale', make, tracked: true, view: scaleView(resource, name, scale) };
  return scaleOf(resource, (yield* store.updateSteps(resource, namespace, name, change, context)).object);
}

/** What admission control sees of a change of the scale. */
function scaleView(resource: Resource, name: string, sent: JsonObject): ObjectView {
  const { replicas: path } = scalePaths(resource);
  const show = (object: JsonObject) => scaleOf(resource, object as unknown as KubeObject);
  const withFields = (scale: JsonObject, { managedFields }: JsonObject, tracked: boolean) =>
    tracked ? withMeta(scale, { managedFields: scaleFields(managedFields, path) }) : scale;
  return {
    show,
    sent: (object, tracked) => withFields(sent, metaOf(object), tracked),
    stored: (object, tracked) => withFields(show(object), metaOf(object), tracked),
    apply(object, shown) {
      const replicas = Number(valueAt(shown, 'spec.replicas') ?? 0);
      // Custom objects are judged as a whole.
      if (replicas < 0 && resource.builtIn) {
        const kind = { group: 'autoscaling', plural: 'Scale', kind: 'Scale' };
        throw invalidObject(kind, name, [invalid('spec.replicas', replicas, 'must be greater than or equal to 0')]);
      }
      return withoutScaleTimes(replicas === valueAt(object, path) ? object : withValue(object, path, replicas));
    },
  };
}

/** Who has written the replicas of an object, as managedFields of its Scale. */
function scaleFields(managedFields: Json | undefined, path: string): readonly JsonObject[] | undefined {
  const fields = path.split('.').map((field) => `f:${field}`);
  const owns = ({ fieldsV1 }: JsonObject) =>
    fields.every((_, i) => fieldAt(fieldsV1, ...fields.slice(0, i + 1)) !== undefined);
  const fieldsV1 = { 'f:spec': { 'f:replicas': {} } };
  const entries = recordsOf(managedFields).filter(owns);
  return entries.length === 0
    ? undefined
    : entries.map((entry) => ({ ...entry, apiVersion: 'autoscaling/v1', fieldsV1 }));
}

/** The real server loses the time of the scaling manager, on the way from the Scale to the object and back. */
function withoutScaleTimes(object: JsonObject): JsonObject {
  const { managedFields } = metaOf(object);
  if (!Array.isArray(managedFields)) return object;
  const entries = managedFields.map((entry) => {
    if (!isJsonObject(entry) || entry.subresource !== 'scale') return entry;
    const { time: _, ...rest } = entry;
    return rest;
  });
  // Entries without a time come before the others of their operation.
  const rank = (entry: Json) =>
    isJsonObject(entry) ? `${textOf(entry.operation)} ${entry.time === undefined ? 0 : 1}` : '';
  entries.sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
  return withMeta(object, { managedFields: entries });
}

/** Where an object that can be scaled keeps what a Scale shows. */
function scalePaths(resource: Resource): { replicas: string; status: string; selector: string | undefined } {
  const custom = resource.rules.scale;
  return custom ?? { replicas: 'spec.replicas', status: 'status.replicas', selector: undefined };
}

/** How an object is scaled. */
export function scaleOf(resource: Resource, object: KubeObject): JsonObject {
  const json = object as unknown as JsonObject;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const paths = scalePaths(resource);
  const spec = valueAt(json, paths.replicas);
  if (spec === undefined && !resource.builtIn) {
    throw internal(`the spec replicas field ".${paths.replicas}" does not exist`);
  }
  const selector = paths.selector === undefined ? selectorText(resource, json) : valueAt(json, paths.selector);
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

/** The selector of a built-in kind; that of a ReplicationController has labels alone. */
function selectorText(resource: Resource, object: JsonObject): string {
  if (!resource.builtIn) return '';
  const selector = valueAt(object, 'spec.selector');
  if (!isJsonObject(selector)) return '';
  try {
    return resource.plural === 'replicationcontrollers'
      ? selectorFromLabels(selector as Record<string, string>).toString()
      : selectorFrom(selector as LabelSelector).toString();
  } catch (error) {
    throw internal(error instanceof Error ? error.message : String(error));
  }
}

/** The object with another value under a path of names. */
export function withValue(object: JsonObject, path: string, value: Json): JsonObject {
  const [first = '', ...rest] = path.split('.');
  if (rest.length === 0) return { ...object, [first]: value };
  const below = object[first];
  return { ...object, [first]: withValue(isJsonObject(below) ? below : {}, rest.join('.'), value) };
}
