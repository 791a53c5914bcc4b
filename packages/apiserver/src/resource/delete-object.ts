import { formatTime, type JsonObject, type KubeObject, parseTime, type Status } from 'riata/object';
import { notSupported } from '../status/field-error.js';
import { badRequest, conflict, invalidObject, notFound, type Refusal, statusOf } from '../status/refusal.js';
import { atOnce, type Steps } from '../steps.js';
import type { Stored } from '../storage/storage.js';
import { readStored } from './custom/conversion-steps.js';
import { inVersion } from './custom/in-version.js';
import { metaOf, stringsOf, textOf, withMeta } from './metadata.js';
import type { ObjectStore } from './object-store.js';
import { homeOf, type Resource } from './resource.js';
import { isFinished } from './stored-form.js';
import type { WriteContext } from './write-context.js';

/** Options of a deletion (`metav1.DeleteOptions`). */
export interface DeleteRequest {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
}

const orphanFinalizer = 'orphan';
const foregroundFinalizer = 'foregroundDeletion';

/**
 * Deletes an object, or sets its deletionTimestamp while finalizers or a grace period keep it. Returns the object in
 * the second case and for kinds with graceful deletion, else a Status.
 */
export function deleteObject(
  store: ObjectStore,
  resource: Resource,
  namespace: string,
  name: string,
  request: DeleteRequest,
  context: WriteContext,
): KubeObject | Status {
  return atOnce(deleteSteps(store, resource, namespace, name, request, context));
}

/** Like {@link deleteObject}. Repeats admission if the object has changed meanwhile. */
export function* deleteSteps(
  store: ObjectStore,
  resource: Resource,
  namespace: string,
  name: string,
  request: DeleteRequest,
  context: WriteContext,
): Steps<KubeObject | Status> {
  for (;;) {
    const stored = store.find(resource, namespace, name);
    if (stored === undefined) throw notFound(resource, name);
    checkRequest(request);
    const refusal =
      resource.rules.refuseDelete?.(resource, name) ?? preconditionRefusal(resource, stored.object, request);
    if (refusal !== undefined) throw refusal;
    const live = (yield* readStored(stored, resource)) as unknown as JsonObject;
    if (context.admission !== undefined && !isPending(resource, stored.object, request)) {
      yield* context.admission.admitDelete(live);
    }
    if (store.find(resource, namespace, name)?.revision !== stored.revision) continue;
    const deleted = yield* deleteStored(store, resource, stored, live, request, context);
    if (deleted !== undefined) return deleted;
  }
}

/** Whether a graceful deletion is in progress and this request does not shorten it; then admission is skipped. */
function isPending({ rules }: Resource, object: KubeObject, { gracePeriodSeconds }: DeleteRequest): boolean {
  if (rules.gracePeriodSeconds === undefined) return false;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === 0) return false;
  return gracePeriodSeconds === undefined || gracePeriodSeconds >= deletionGracePeriodSeconds;
}

/** Returns undefined if the object has changed meanwhile and nothing was done. */
function* deleteStored(
  store: ObjectStore,
  resource: Resource,
  stored: Stored,
  shown: JsonObject,
  request: DeleteRequest,
  context: WriteContext,
): Steps<KubeObject | Status | undefined> {
  // Custom objects are written through the requested version, built-in ones in their storage version.
  const live = resource.builtIn ? (stored.object as unknown as JsonObject) : shown;
  const marked = mark(resource, live, request, context);
  if (isFinished(marked)) {
    const last = context.dryRun ? stored.object : store.remove(resource, stored);
    return resource.rules.answersDeleted ? deletedObject(resource, last, marked) : removedStatus(resource, last);
  }
  const next = resource.rules.whenDeleting?.(marked, context.now) ?? marked;
  return yield* store.replaceSteps(resource, stored, next, context);
}

/** The object with deletion timestamp and grace period. */
function mark(resource: Resource, live: JsonObject, request: DeleteRequest, context: WriteContext): JsonObject {
  const meta = metaOf(live);
  const already = textOf(meta.deletionTimestamp) !== '';
  const own = already ? [] : (resource.rules.finalizersOnDelete ?? []);
  const finalizers = withPropagation(resource, [...new Set([...stringsOf(meta.finalizers), ...own])], request);
  const asked = resource.rules.gracePeriodSeconds?.(live, request.gracePeriodSeconds) ?? 0;
  const before = Number(meta.deletionGracePeriodSeconds ?? 0);
  // A second deletion can only shorten the grace period.
  const grace = already ? Math.min(before, asked) : asked;
  if (already && grace === before) return withMeta(live, { finalizers: orNone(finalizers) });
  const generation = typeof meta.generation === 'number' ? meta.generation + 1 : undefined;
  const startMs = already ? parseTime(textOf(meta.deletionTimestamp)) - before * 1000 : context.nowMs;
  return withMeta(live, {
    finalizers: orNone(finalizers),
    deletionTimestamp: formatTime(startMs + grace * 1000),
    deletionGracePeriodSeconds: grace,
    generation: already ? meta.generation : generation,
  });
}

/** Sets or removes the finalizers by which the garbage collector orphans or awaits dependents. */
function withPropagation(
  resource: Resource,
  finalizers: readonly string[],
  { propagationPolicy, orphanDependents }: DeleteRequest,
): readonly string[] {
  const others = finalizers.filter((f) => f !== orphanFinalizer && f !== foregroundFinalizer);
  if (propagationPolicy === 'Orphan' || orphanDependents === true) return [...others, orphanFinalizer];
  if (propagationPolicy === 'Foreground') return [...others, foregroundFinalizer];
  if (propagationPolicy === 'Background' || orphanDependents === false) return others;
  // Without a policy, that of an earlier deletion stays.
  if (others.length !== finalizers.length) return finalizers;
  return resource.rules.defaultPropagation === 'orphan' ? [...finalizers, orphanFinalizer] : finalizers;
}

function checkRequest({ propagationPolicy, orphanDependents }: DeleteRequest): void {
  const options = { group: 'meta.k8s.io', plural: 'DeleteOptions', kind: 'DeleteOptions' };
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    throw badRequest('orphanDependents and propagationPolicy cannot be both set');
  }
  const known = ['Foreground', 'Background', 'Orphan'];
  if (propagationPolicy !== undefined && !known.includes(propagationPolicy)) {
    const error = notSupported('propagationPolicy', propagationPolicy, [...known, 'nil']);
    throw invalidObject(options, '', [error]);
  }
}

function preconditionRefusal(
  resource: Resource,
  object: KubeObject,
  { preconditions = {} }: DeleteRequest,
): Refusal | undefined {
  const { uid, resourceVersion, name } = object.metadata;
  const failed = (what: string, asked: string, is: string, why: string) => {
    const message = `the ${what} in the precondition (${asked}) does not match the ${what} in record (${is}). ${why}`;
    return conflict({ ...homeOf(resource), plural: resource.kind }, name, message);
  };
  if (preconditions.uid !== undefined && preconditions.uid !== uid) {
    return failed('UID', preconditions.uid, uid, 'The object might have been deleted and then recreated');
  }
  if (preconditions.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    const asked = preconditions.resourceVersion;
    return failed('ResourceVersion', asked, resourceVersion, 'The object might have been modified');
  }
  return undefined;
}

/** The deleted object, with a deletion timestamp for kinds with graceful deletion. */
function deletedObject(resource: Resource, last: KubeObject, marked: JsonObject): KubeObject {
  const { resourceVersion } = last.metadata;
  const graceful = resource.rules.gracePeriodSeconds !== undefined;
  const object = graceful ? (withMeta(marked, { resourceVersion }) as unknown as KubeObject) : last;
  return inVersion(object, resource.apiVersion);
}

function removedStatus(resource: Resource, object: KubeObject): Status {
  const { name, uid } = object.metadata;
  const group = resource.group === '' ? {} : { group: resource.group };
  return statusOf('Success', undefined, undefined, undefined, { name, ...group, kind: resource.plural, uid });
}

function orNone(list: readonly string[]): readonly string[] | undefined {
  return list.length === 0 ? undefined : list;
}
