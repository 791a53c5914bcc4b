import type { Informer } from '../cache/cache-informer.js';
import type { EventHandlerRegistration, ResourceEventHandler } from '../cache/informer/resource-event-handler.js';
import { type ObjectKey, splitKey } from '../object/key.js';
import type { KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { onAbort } from '../runtime/signals.js';
import type { HandlerRegistration, RegisterOptions } from '../shared/handler.js';
import { ownerKeys } from './owner-keys.js';

/** The name of a key that stands for all objects; no object is called so (`relatedresource.AllKey`). */
export const allKey = '_all_';

/**
 * Which objects have something to do with another one (`relatedresource.Resolver`). `object` is undefined when there is
 * none of that name any more; then it is called once more with the last that was known of it. What is thrown is tried
 * again.
 */
export type Resolver<R extends KubeObject = KubeObject> = (
  namespace: string,
  name: string,
  object: R | undefined,
) => readonly ObjectKey[] | undefined | Promise<readonly ObjectKey[] | undefined>;

/** What can have an object looked at: any controller (`relatedresource.Enqueuer`, `relatedresource.ClusterScopedEnqueuer`). */
export interface Enqueuer {
  enqueue(key: ObjectKey): void;
}

/**
 * What can be watched: a `TypedController` or a `SharedController` (`relatedresource.ControllerWrapper`). With a resolver
 * that takes any object, those of several kinds.
 */
export interface Watched<R extends KubeObject = KubeObject> extends Enqueuer {
  readonly informer: Pick<Informer<R>, 'addEventHandler'>;
  registerHandler(
    name: string,
    handler: (key: string, object: R | undefined) => Promise<undefined>,
    options?: RegisterOptions,
  ): HandlerRegistration;
}

/**
 * When an object of `watching` comes, changes or goes, has the objects looked at that `resolve` names
 * (`relatedresource.Watch`). After a change, `resolve` is asked about the object as it was, too: what it has lost is looked
 * at as well. Deletions that nobody saw (tombstones) count as any other.
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

/** As `watch`, for objects that are cluster-scoped: namespaces that `resolve` names don't count (`WatchClusterScoped`). */
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

/** Resolves to the owners of this kind, in any version, that an object refers to (`relatedresource.OwnerResolver`). */
function ownerResolver(owner: KindRef): Resolver {
  return (namespace, _, object) => ownerKeys(owner, namespace, object);
}

/**
 * Resolves to one key that stands for all (`relatedresource.TriggerAllKey`): the handlers of the controller are called
 * with the key {@link allKey} and no object.
 */
const triggerAllKey: Resolver = (_, name) => (name === allKey ? [] : [{ name: allKey }]);

/** Watch one kind to have objects of another one looked at (wrangler's `relatedresource`). */
export const relatedResource = Object.freeze({ watch, watchClusterScoped, ownerResolver, triggerAllKey, allKey });

function watchOne<R extends KubeObject>(
  name: string,
  resolve: Resolver<R>,
  enqueuer: Enqueuer,
  watched: Watched<R>,
  options: RegisterOptions,
): HandlerRegistration {
  /** Key → what its object was, where `resolve` has failed on that: the handler tries again. */
  const earlier = new Map<string, Set<R>>();
  const run = async (key: string, object: R | undefined) => {
    const { namespace = '', name: own } = splitKey(key);
    const keys = (await resolve(namespace, own, object)) ?? [];
    for (const found of keys) if (found.name !== '') enqueuer.enqueue(found);
  };
  const registration = watched.registerHandler(
    name,
    async (key, object) => {
      await run(key, object);
      const olds = earlier.get(key);
      for (const old of olds ?? []) {
        await run(key, old);
        olds?.delete(old);
      }
      if (olds?.size === 0) earlier.delete(key);
      return undefined;
    },
    options,
  );
  const handler: ResourceEventHandler<R> = {
    async onChange({ key, old, type }) {
      if (old === undefined || type === 'Sync') return;
      try {
        await run(key, old);
      } catch {
        const known = earlier.get(key) ?? new Set();
        earlier.set(key, known.add(old));
        watched.enqueue(splitKey(key));
      }
    },
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
  const aborted = onAbort(options.signal, () => earlier.clear());
  const remove = async () => {
    isRemoved = true;
    aborted[Symbol.dispose]();
    await Promise.all([registration.remove(), events?.remove()]);
    earlier.clear();
  };
  return { name, remove, [Symbol.asyncDispose]: remove };
}
