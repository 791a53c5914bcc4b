import { Event } from '../../kinds/generated/groups/core/v1.js';
import { isJsonObject } from '../../object/json.js';
import type { KubeObject, OwnerReference } from '../../object/meta.js';
import { redactAll } from '../../rest/chain/own-secrets.js';
import { isNotFound } from '../../rest/errors/error-guards.js';
import type { Clock } from '../../runtime/time/clock.js';
import type { EndpointAnswer, EndpointRequest, EndpointRoute } from '../probes/http-endpoint.js';
import { jsonAnswer, refused } from './json-answer.js';
import { masked } from './masking/masked.js';
import type { ShownKind, ShownObjects } from './shown-objects.js';
import type { Viewer, Viewers } from './viewer.js';
import type { WriteLog } from './write-log.js';

/** What {@link objectRoutes} need. */
export interface ObjectRoutesParts {
  readonly shown: ShownObjects;
  readonly viewers: Viewers;
  readonly writes: WriteLog | undefined;
  readonly clock: Clock;
  /** Takes secrets out of a text. */
  readonly mask: (text: string) => string;
}

const mostFound = 200;
const mostEvents = 100;
const mostOwned = 500;
const mostLevels = 5;

/** An object in the owner graph. */
interface GraphNode {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  /** The uid of its owner, of what is below the object; of what is above, of the object that it owns. */
  readonly of: string;
  readonly controller: boolean;
  /** False for an owner that does not exist, or is not cached. */
  readonly isKnown: boolean;
}

/** `/debug/objects` lists and finds cached objects by name, `/debug/object` shows one of them. */
export function objectRoutes(parts: ObjectRoutesParts): readonly (readonly [string, EndpointRoute])[] {
  const asViewer =
    (answer: (viewer: Viewer, request: EndpointRequest) => Promise<EndpointAnswer>): EndpointRoute =>
    async (request) => {
      const viewer = await parts.viewers.of(request.authorization, request);
      return viewer === undefined ? refused(401, 'the token is not known') : answer(viewer, request);
    };
  return [
    ['/debug/objects', asViewer((viewer, request) => listObjects(parts, viewer, request))],
    ['/debug/object', asViewer((viewer, request) => showObject(parts, viewer, request))],
  ];
}

/** Without a kind, the objects of all kinds whose names hold `q`, at most 200; with one, all of its objects. */
async function listObjects(
  { shown }: ObjectRoutesParts,
  viewer: Viewer,
  { query, signal }: EndpointRequest,
): Promise<EndpointAnswer> {
  const [kind, apiVersion, q] = [query.get('kind'), query.get('apiVersion') ?? 'v1', query.get('q')?.toLowerCase()];
  const cluster = query.get('cluster') ?? undefined;
  const kinds =
    kind === null ? shown.kinds : [shown.find(apiVersion, kind, cluster)].filter((each) => each !== undefined);
  if (kind !== null && kinds.length === 0) return refused(404, `kind ${apiVersion} ${kind} is not cached`);
  const found: unknown[] = [];
  const hidden: string[] = [];
  const most = kind === null ? mostFound : Number.POSITIVE_INFINITY;
  for (const each of kinds) {
    if (!each.isCached) continue;
    const refusal = await viewer.refusal({ verb: 'list', kind: each.kind, cluster: each.place.cluster }, { signal });
    if (refusal !== undefined) hidden.push(refusal);
    else for (const item of await matching(each, q, most - found.length, signal)) found.push(item);
  }
  return jsonAnswer({ objects: found, isWhole: found.length < most, hidden }, { isDense: true });
}

async function matching({ kind, place }: ShownKind, q: string | undefined, most: number, signal: AbortSignal) {
  const { items } = await place.cache.list(kind, { signal });
  const found: unknown[] = [];
  for (const { metadata } of items) {
    if (found.length >= most) break;
    const { name, namespace } = metadata;
    if (q !== undefined && !name.toLowerCase().includes(q) && !namespace?.toLowerCase().includes(q)) continue;
    const { cluster } = place;
    found.push({ ...(cluster && { cluster }), apiVersion: kind.apiVersion, kind: kind.kind, namespace, name });
  }
  return found;
}

async function showObject(
  { shown, writes, clock, mask }: ObjectRoutesParts,
  viewer: Viewer,
  { query, signal }: EndpointRequest,
): Promise<EndpointAnswer> {
  const [kindName, name] = [query.get('kind'), query.get('name')];
  const [apiVersion, namespace] = [query.get('apiVersion') ?? 'v1', query.get('namespace') || undefined];
  const cluster = query.get('cluster') || undefined;
  if (kindName === null || name === null) return refused(400, 'expects kind and name in the query');
  const found = shown.find(apiVersion, kindName, cluster);
  if (found === undefined) return refused(404, `kind ${apiVersion} ${kindName} is neither cached nor reconciled`);
  const { kind, place } = found;
  const wish = { kind, namespace, name, cluster };
  const refusal = await viewer.refusal({ ...wish, verb: 'get' }, { signal });
  if (refusal !== undefined) return refused(403, refusal);
  const key = (namespace === undefined ? { name } : { name, namespace }) as never;
  const seen = query.get('seen');
  if (seen !== null && (await cachedVersion(found, key, signal)) === seen) return jsonAnswer({ unchanged: true });
  const logged = redactAll(writes?.of({ cluster, apiVersion, kind: kindName, namespace, name }) ?? [], mask);
  let object: KubeObject;
  try {
    // With managedFields, which caches leave out.
    object = await place.client.get(kind, key, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return jsonAnswer({ object: null, writes: logged }, { status: 404 });
  }
  const [events, graph, patchRefusal] = await Promise.all([
    eventsOf(object, found, viewer, signal),
    graphOf(object, { shown, found, viewer, signal }),
    viewer.refusal({ ...wish, verb: 'patch' }, { signal }),
  ]);
  const actions = patchRefusal === undefined ? { allowed: true } : { allowed: false, reason: patchRefusal };
  writes?.conditions.note(object, clock.now());
  const conditionChanges = writes?.conditions.of(object.metadata.uid) ?? [];
  const texts = redactAll({ conditionChanges, ...events }, mask);
  const parts = { writes: logged, ...texts, ...graph, actions, viewer: viewer.name };
  return jsonAnswer({ object: withMaskedTexts(masked(object), mask), ...parts });
}

/** Conditions and Events repeat the texts of errors. */
function withMaskedTexts(object: KubeObject, mask: (text: string) => string): KubeObject {
  if (object.kind === 'Event') return redactAll(object, mask);
  const { status } = object as { readonly status?: unknown };
  if (!isJsonObject(status) || status.conditions === undefined) return object;
  return { ...object, status: { ...status, conditions: redactAll(status.conditions, mask) } } as KubeObject;
}

/** The resourceVersion that the cache has: what a page shows can be compared with it without a request. */
async function cachedVersion({ kind, place, isCached }: ShownKind, key: never, signal: AbortSignal) {
  if (!isCached) return undefined;
  return (await place.cache.find(kind, key, { signal }))?.metadata.resourceVersion;
}

async function eventsOf({ metadata }: KubeObject, { place }: ShownKind, viewer: Viewer, signal: AbortSignal) {
  const namespace = metadata.namespace ?? 'default';
  const refusal = await viewer.refusal({ verb: 'list', kind: Event, namespace, cluster: place.cluster }, { signal });
  if (refusal !== undefined) return { events: [], eventsProblem: refusal };
  try {
    const fieldSelector = `involvedObject.uid=${metadata.uid}`;
    const { items } = await place.client.list(Event, { namespace, fieldSelector, limit: mostEvents, signal });
    const shown = items.map(({ type, reason, message, count, source, reportingComponent, ...event }) => ({
      ...{ type, reason, message, count: count ?? event.series?.count ?? 1 },
      by: reportingComponent || source?.component,
      at: event.lastTimestamp ?? event.series?.lastObservedTime ?? event.eventTime ?? event.metadata.creationTimestamp,
    }));
    return { events: shown };
  } catch (error) {
    // An operator may lack the right to read events.
    return { events: [], eventsProblem: error instanceof Error ? error.message : String(error) };
  }
}

interface GraphParts {
  readonly shown: ShownObjects;
  readonly found: ShownKind;
  readonly viewer: Viewer;
  readonly signal: AbortSignal;
}

/** Owners up to the top, and owned objects as far as caches know them. */
async function graphOf(object: KubeObject, parts: GraphParts) {
  const { shown, found, viewer, signal } = parts;
  const { cluster } = found.place;
  const owners: GraphNode[] = [];
  let below: KubeObject[] = [object];
  for (let level = 0; level < mostLevels && below.length > 0; level += 1) {
    const above: KubeObject[] = [];
    for (const { metadata } of below) {
      for (const reference of metadata.ownerReferences ?? []) {
        const owner = await cachedOwner(reference, metadata.namespace, parts);
        owners.push(ownerNode(reference, metadata, owner));
        if (owner !== undefined) above.push(owner);
      }
    }
    below = above;
  }
  const children = new Map<string, { readonly item: KubeObject; readonly reference: OwnerReference }[]>();
  for (const { kind, place, isCached } of shown.kinds) {
    if (!isCached || place.cluster !== cluster) continue;
    if ((await viewer.refusal({ verb: 'list', kind, cluster }, { signal })) !== undefined) continue;
    for (const item of (await place.cache.list(kind, { signal })).items) {
      for (const reference of item.metadata.ownerReferences ?? []) {
        const { apiVersion, kind: name } = kind;
        const known = children.get(reference.uid) ?? [];
        known.push({ item: { ...item, apiVersion, kind: name }, reference });
        children.set(reference.uid, known);
      }
    }
  }
  const owned: GraphNode[] = [];
  const visit = (uid: string, level: number): void => {
    if (level === mostLevels) return;
    for (const { item, reference } of children.get(uid) ?? []) {
      if (owned.length === mostOwned) return;
      owned.push({ ...nodeOf(item), of: uid, controller: reference.controller === true, isKnown: true });
      visit(item.metadata.uid, level + 1);
    }
  };
  visit(object.metadata.uid, 0);
  return { owners, owned };
}

async function cachedOwner(
  { apiVersion, kind, name, uid }: OwnerReference,
  namespace: string | undefined,
  { shown, found, viewer, signal }: GraphParts,
): Promise<KubeObject | undefined> {
  const owner = shown.find(apiVersion, kind, found.place.cluster);
  if (owner === undefined || !owner.isCached) return undefined;
  const place = { ...(owner.kind.scope === 'Namespaced' && { namespace }), name };
  const wish = { verb: 'get', kind: owner.kind, ...place, cluster: owner.place.cluster } as const;
  // What is above an owner is known to those alone who may read it.
  if ((await viewer.refusal(wish, { signal })) !== undefined) return undefined;
  const key = place as never;
  const object = await owner.place.cache.find(owner.kind, key, { signal });
  return object?.metadata.uid === uid ? { ...object, apiVersion, kind } : undefined;
}

function ownerNode(reference: OwnerReference, of: KubeObject['metadata'], owner: KubeObject | undefined): GraphNode {
  const { apiVersion, kind, name, uid, controller = false } = reference;
  const namespace = owner === undefined ? of.namespace : owner.metadata.namespace;
  return {
    apiVersion,
    kind,
    name,
    uid,
    of: of.uid,
    controller,
    isKnown: owner !== undefined,
    ...(namespace && { namespace }),
  };
}

function nodeOf({ apiVersion, kind, metadata: { namespace, name, uid } }: KubeObject) {
  return { apiVersion, kind, name, uid, ...(namespace && { namespace }) };
}
