import type { EventHandlerRegistration, ResourceEventHandler } from '../cache/informer/resource-event-handler.js';
import type { Informer } from '../cache/informer.js';
import { failureFields } from '../controller/loop/failure-fields.js';
import { splitApiVersion } from '../object/gvk.js';
import { type ObjectKey, splitKey } from '../object/key.js';
import type { KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { onAbort } from '../runtime/signals.js';
import type { HandlerContext, HandlerRegistration, RegisterOptions } from '../shared/shared-controller-handler.js';

/** The name of the key that stands for all objects; no object can have it (`relatedresource.AllKey`). */
export const allKey = '_all_';

/** How long `resolve` is retried for a version that is not the current one: nothing newer will come of it. */
const giveUpMs = 180_000;
/** Earlier versions of one object that are kept for a retry. */
const mostVersions = 10;

/**
 * Names the objects that are related to another one (`relatedresource.Resolver`). `object` is undefined when it was
 * deleted; then the resolver is called a second time with its last known version. If it throws, it is retried with
 * backoff while the object exists; for a deleted object, and for an earlier version, for three minutes.
 */
export type Resolver<R extends KubeObject = KubeObject> = (
  namespace: string,
  name: string,
  object: R | undefined,
) => readonly ObjectKey[] | undefined | Promise<readonly ObjectKey[] | undefined>;

/** Enqueues keys: any controller (`relatedresource.Enqueuer`, `relatedresource.ClusterScopedEnqueuer`). */
export interface Enqueuer {
  enqueue(key: ObjectKey): void;
}

/**
 * A controller whose objects are watched: a `TypedController` or a `SharedController` (`relatedresource.ControllerWrapper`).
 * If the resolver accepts any object, they may be of several kinds.
 */
export interface Watched<R extends KubeObject = KubeObject> extends Enqueuer {
  readonly informer: Pick<Informer<R>, 'addEventHandler'>;
  registerHandler(
    name: string,
    handler: (key: string, object: R | undefined, context: Pick<HandlerContext, 'clock' | 'log'>) => Promise<undefined>,
    options?: RegisterOptions,
  ): HandlerRegistration;
}

/**
 * Enqueues the keys that `resolve` returns when an object of `watching` is added, changed or deleted
 * (`relatedresource.Watch`). After a change, `resolve` is also called with the previous version, so that objects it no
 * longer refers to are enqueued as well. Missed deletions (tombstones) count as deletions.
 *
 * @example
 * relatedResource.watch('pods-of-foo', relatedResource.ownerResolver(Foo), foos, [controllers.for(Pod)], { signal });
 */
function watch<R extends KubeObject>(
  name: string,
  resolve: Resolver<R>,
  enqueuer: Enqueuer,
  watching: readonly Watched<R>[],
  options: RegisterOptions = {},
): HandlerRegistration {
  const registrations = watching.map((watched) => watchOne(name, resolve, enqueuer, watched, options));
  const remove = async () => {
    await Promise.all(registrations.map((registration) => registration.remove()));
  };
  return { name, remove, [Symbol.asyncDispose]: remove };
}

/** As `watch`, for cluster-scoped objects: namespaces that `resolve` returns are ignored (`WatchClusterScoped`). */
function watchClusterScoped<R extends KubeObject>(
  name: string,
  resolve: Resolver<R>,
  enqueuer: Enqueuer,
  watching: readonly Watched<R>[],
  options: RegisterOptions = {},
): HandlerRegistration {
  const cluster: Enqueuer = { enqueue: (key) => enqueuer.enqueue({ name: key.name }) };
  return watch(name, resolve, cluster, watching, options);
}

/**
 * Resolves to the owners of this kind, in any version, that an object refers to (`relatedresource.OwnerResolver`). It goes by
 * the owner references alone, as garbage collection does: a copy that a user made with these references enqueues the owner,
 * too. That costs a run that changes nothing, since membership of a desired set is decided by the set's own marks.
 */
function ownerResolver(owner: KindRef): Resolver {
  return (namespace, _, object) =>
    (object?.metadata.ownerReferences ?? [])
      .filter(({ apiVersion, kind }) => kind === owner.kind && splitApiVersion(apiVersion).group === owner.group)
      .map(({ name }) => (owner.scope === 'Namespaced' ? { namespace, name } : { name }));
}

/** Resolves to one key for all objects (`relatedresource.TriggerAllKey`): handlers get {@link allKey} and no object. */
const triggerAllKey: Resolver = (_, name) => (name === allKey ? [] : [{ name: allKey }]);

/** Watches one kind to enqueue objects of another one (wrangler's `relatedresource`). */
export const relatedResource = Object.freeze({ watch, watchClusterScoped, ownerResolver, triggerAllKey, allKey });

function watchOne<R extends KubeObject>(
  name: string,
  resolve: Resolver<R>,
  enqueuer: Enqueuer,
  watched: Watched<R>,
  options: RegisterOptions,
): HandlerRegistration {
  /** By key: versions of the object that `resolve` failed for, and since when; undefined: that it was deleted. */
  const unresolved = new Map<string, Map<R | undefined, number | undefined>>();
  /** By key: the resource version that `resolve` fails for now. Nothing was enqueued for it, so no newer one has to undo it. */
  const refused = new Map<string, string>();
  const note = (key: string, version: R | undefined, sinceMs: number | undefined) => {
    const versions = unresolved.get(key) ?? new Map<R | undefined, number | undefined>();
    unresolved.set(key, versions.set(version, sinceMs));
    // The oldest is the one that others may have acted on; of the rest the newest count.
    if (versions.size > mostVersions) versions.delete([...versions.keys()][1]);
  };
  const run = async (key: string, object: R | undefined) => {
    const { namespace = '', name: own } = splitKey(key);
    const keys = (await resolve(namespace, own, object)) ?? [];
    for (const found of keys) if (found.name !== '') enqueuer.enqueue(found);
  };
  const registration = watched.registerHandler(
    name,
    async (key, object, { clock, log }) => {
      const earlier = [...(unresolved.get(key)?.keys() ?? [])].filter((version) => version && version !== object);
      const failures: unknown[] = [];
      // Separately: one that fails must not keep the others from being resolved.
      for (const version of [object, ...earlier]) {
        try {
          await run(key, version);
          unresolved.get(key)?.delete(version);
          if (version === object) refused.delete(key);
        } catch (error) {
          const nowMs = clock.monotonic();
          const sinceMs = unresolved.get(key)?.get(version) ?? nowMs;
          if (version !== undefined && version === object) {
            refused.set(key, version.metadata.resourceVersion);
            failures.push(error);
          } else if (nowMs - sinceMs < giveUpMs) {
            note(key, version, sinceMs);
            failures.push(error);
          } else {
            unresolved.get(key)?.delete(version);
            log.error('resolver failed for an object that is gone or replaced, gave up', failureFields(error));
          }
        }
      }
      if (object !== undefined) unresolved.get(key)?.delete(undefined);
      else refused.delete(key);
      if (unresolved.get(key)?.size === 0) unresolved.delete(key);
      if (failures.length > 0) throw failures[0];
      return undefined;
    },
    options,
  );
  const handler: ResourceEventHandler<R> = {
    async onChange({ key, old, type }) {
      if (old === undefined || type === 'Sync' || refused.get(key) === old.metadata.resourceVersion) return;
      try {
        await run(key, old);
      } catch {
        note(key, old, undefined);
        watched.enqueue(splitKey(key));
      }
    },
  };
  const forget = () => {
    unresolved.clear();
    refused.clear();
  };
  let events: EventHandlerRegistration | undefined;
  let isRemoved = false;
  const begin = () => {
    if (!isRemoved && !options.signal?.aborted) {
      events = watched.informer.addEventHandler(handler, { name, signal: options.signal });
    }
  };
  if (options.transaction === undefined) begin();
  else options.transaction.add(begin);
  const aborted = onAbort(options.signal, forget);
  const remove = async () => {
    isRemoved = true;
    aborted[Symbol.dispose]();
    await Promise.all([registration.remove(), events?.remove()]);
    forget();
  };
  return { name, remove, [Symbol.asyncDispose]: remove };
}
