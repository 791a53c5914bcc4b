import type { Change } from '../../cache/informer/change.js';
import type { Duration } from '../../object/duration.js';
import { splitApiVersion } from '../../object/gvk.js';
import { clusterKey } from '../../object/key.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject, OwnerReference } from '../../object/meta.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { shownBriefly } from '../define/assert-kind.js';
import { distinctRequests, type Request, requestFor } from '../loop/request.js';

/** Enqueues a key, at once or after some time. The priority is that of the change unless given. */
export type Enqueue = (request: Request, options?: { readonly priority?: number; readonly after?: Duration }) => void;

/**
 * Which keys a change leads to (`handler.EventHandler`). May take its time: the next change waits, for 30 seconds at most.
 * If it throws or rejects, that is logged, other objects pass, and it is called again with what is the newest state of the
 * object by then: no change is lost by a mistake.
 */
export type EventHandler<T extends KubeObject = KubeObject> = (
  change: Change<T>,
  enqueue: Enqueue,
) => void | Promise<void>;

/** The object itself (`handler.EnqueueRequestForObject`). */
export function enqueueRequestForObject(): EventHandler {
  return (change, enqueue) => enqueue(requestFor(change));
}

/** Options of {@link enqueueRequestForOwner}. */
export interface OwnerOptions {
  /** Only the one owner that manages the object (`OnlyControllerOwner`). @default true */
  readonly onlyController?: boolean;
}

export const ownerOptionNames = optionNames<OwnerOptions>({ onlyController: true });

/**
 * The owners of this kind, of the object as it was and as it is: an owner that lost it hears of that, too
 * (`handler.EnqueueRequestForOwner`). Any version of the kind will do.
 */
export function enqueueRequestForOwner(owner: KindRef, options: OwnerOptions = {}): EventHandler {
  refuseUnknownOptions('enqueueRequestForOwner', options, ownerOptionNames);
  const { onlyController = true } = options;
  const isOwner = (reference: OwnerReference) =>
    reference.kind === owner.kind &&
    splitApiVersion(reference.apiVersion).group === owner.group &&
    (!onlyController || reference.controller === true);
  const ownersOf = (object: KubeObject | undefined): Request[] => {
    const namespace = owner.scope === 'Namespaced' ? object?.metadata.namespace : undefined;
    const references = object?.metadata.ownerReferences ?? [];
    return references.filter(isOwner).map(({ name }) => clusterKey({ namespace, name }));
  };
  return ({ old, new: now }, enqueue) => {
    const owners = ownersOf(now);
    if (old?.metadata.ownerReferences !== now?.metadata.ownerReferences) owners.push(...ownersOf(old));
    for (const request of distinctRequests(owners)) enqueue(request);
  };
}

/**
 * Enqueues the keys that `map` returns for the object, before and after the change
 * (`handler.EnqueueRequestsFromMapFunc`): an object that it no longer refers to is reconciled, too. A key of both is
 * enqueued once.
 */
export function enqueueRequestsFromMap<T extends KubeObject>(
  map: (object: T) => Iterable<Request> | Promise<Iterable<Request>>,
): EventHandler<T> {
  return ({ old, new: now }, enqueue) => {
    const given = (old === now ? [now] : [now, old]).flatMap((object) => (object === undefined ? [] : [map(object)]));
    const takeAll = (answers: readonly unknown[]) => {
      for (const request of distinctRequests(answers.flatMap(keysIn))) enqueue(request);
    };
    // Together: otherwise the first key may already run when the other is added, and would run again.
    return given.some(isPromise) ? Promise.all(given).then(takeAll) : takeAll(given);
  };
}

function isPromise(given: unknown): boolean {
  return typeof given === 'object' && given !== null && 'then' in given;
}

function keysIn(requests: unknown): Request[] {
  if (typeof requests === 'object' && requests !== null && Symbol.iterator in requests) {
    return [...(requests as Iterable<Request>)].map((request) => clusterKey(request));
  }
  throw new TypeError(
    `a map function gives keys, as in [{ namespace, name }], or none, []; got ${shownBriefly(requests)}`,
  );
}

/** By type of change (`handler.Funcs`); missing functions enqueue nothing. A resync counts as an update. */
export function handlerFuncs<T extends KubeObject>(funcs: {
  readonly create?: (object: T, enqueue: Enqueue, isInInitialList: boolean) => void;
  readonly update?: (old: T, object: T, enqueue: Enqueue) => void;
  readonly delete?: (object: T, enqueue: Enqueue, isFinalStateUnknown: boolean) => void;
}): EventHandler<T> {
  return ({ type, old, new: now, isInInitialList, isFinalStateUnknown }, enqueue) => {
    if (type === 'Added') funcs.create?.(now as T, enqueue, isInInitialList);
    else if (type === 'Deleted') funcs.delete?.(old as T, enqueue, isFinalStateUnknown);
    else funcs.update?.(old as T, now as T, enqueue);
  };
}
