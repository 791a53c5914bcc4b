import type { Cache } from '../../cache/cache.js';
import type { Reader } from '../../client/interfaces.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject, ObjectMeta } from '../../object/meta.js';
import { optionNames } from '../../runtime/option-names.js';
import type { ControllerOptions } from '../loop/controller-options.js';
import type { Reconciler } from '../loop/reconciler.js';
import type { Request } from '../loop/request.js';
import type { EventHandler } from '../source/event-handler.js';
import type { Predicate } from '../source/predicate.js';
import type { Source } from '../source/source.js';
import { shownBriefly } from './assert-kind.js';
import type { ReconcileContext } from './reconcile-context.js';

/** Maps a changed object to the keys to reconcile; called with the old and the new object. May read others with `reader`. */
export type MapFunc<T extends KubeObject = KubeObject> = (
  object: T,
  reader: Reader,
) => Iterable<Request> | Promise<Iterable<Request>>;

/** The references of an object: names, in its own namespace unless given otherwise. */
export type References = string | Request | undefined | readonly (string | Request | undefined)[];

/** One thing that a controller watches, as its definition says it. Of any object, as the compiler is concerned. */
export type WatchDefinition =
  | { readonly through: 'for'; readonly kind: KindRef; readonly predicates: readonly Predicate[] }
  | {
      readonly through: 'owns';
      readonly kind: KindRef;
      readonly predicates: readonly Predicate[];
      /** False: every owner, not only the one that manages the object. */
      readonly onlyController: boolean;
    }
  | {
      readonly through: 'map';
      readonly kind: KindRef;
      readonly predicates: readonly Predicate[];
      readonly map: MapFunc;
    }
  | {
      readonly through: 'handler';
      readonly kind: KindRef;
      readonly predicates: readonly Predicate[];
      readonly handler: EventHandler;
    }
  | {
      readonly through: 'reference';
      readonly kind: KindRef;
      readonly predicates: readonly Predicate[];
      /** The references of an object of the controller's own kind. */
      readonly references: (object: KubeObject) => References;
    }
  | { readonly through: 'source'; readonly make: (parts: SourceParts) => Source };

/** The parts that a source may use: see `ControlBuilder.source`. */
export interface SourceParts {
  /** Reads as the reconciler does. */
  readonly reader: Reader;
  /** Of the API server that the controller works on, for `kindSource`. With several, a source is made for each. */
  readonly cache: Cache;
}

/** A field by which objects of a kind are found in the cache. Of any object, as the compiler is concerned. */
export interface IndexDefinition {
  readonly kind: KindRef;
  readonly field: string;
  readonly values: (object: KubeObject) => readonly string[];
}

/** The clean-up before an object is deleted. */
export interface FinalizeDefinition {
  /** The finalizer's name, e.g. `buckets.example.com/cleanup`. */
  readonly name: string;
  readonly run: Reconciler<ReconcileContext<KubeObject>>;
}

/**
 * A controller as a value: what it watches and reads and how it reconciles, without a connection. Made by `control`;
 * run by `manager.add` or `run`.
 */
export interface ControllerDefinition<R extends KubeObject = KubeObject> {
  readonly name: string;
  readonly kind: KindRef<R>;
  readonly watches: readonly WatchDefinition[];
  /** Read from the cache, and not watched. */
  readonly reads: readonly KindRef[];
  /** The fields that the cache indexes; their kinds are read from the cache, too. */
  readonly indexes: readonly IndexDefinition[];
  /** Whether it is called for deleted objects, with no `object`. */
  readonly evenWhenGone: boolean;
  readonly finalize?: FinalizeDefinition;
  readonly options: ControlOptions;
  /** Takes the context of this kind. */
  readonly reconciler: Reconciler<never>;
}

/** Options of `control`. */
export interface ControlOptions extends Omit<ControllerOptions, 'runtime'> {
  /** In logs, metrics and events; another one for each controller of a manager. @default the kind in lower case */
  readonly name?: string;
  /** Filter changes of the controller's own kind; all must be true. @default none */
  readonly predicates?: readonly Predicate<never>[];
  /** Starts its watches while another replica leads, so that it can take over at once (`EnableWarmup`). @default false */
  readonly warmUp?: boolean;
  /**
   * Where it works, if the manager has several clusters: on the manager's own, on added ones, or on all. Keys of added
   * ones carry the cluster's name. @default 'own'
   */
  readonly clusters?: 'own' | 'added' | 'all';
  /**
   * Replicas share its keys if the manager has `sharding`: each key is owned by one of them at a time, whichever leads.
   * Without `sharding`, it runs as any other. When a replica acquires a key, it reconciles the object; state of the
   * last owner is lost, such as a `requeueAfter`, or the deletion of an object without finalizer. @default false
   */
  readonly sharded?: boolean;
  /** Runs on every replica, whichever leads (`NeedLeaderElection: false`): for controllers that write nothing. @default false */
  readonly everyReplica?: boolean;
  /** The field manager of its writes. @default the controller's name */
  readonly fieldManager?: string;
  /**
   * Whether people may pause the reconciles of an object by the annotation `riata.dev/pause`, and trigger one by
   * `riata.dev/reconcile-at`; see `reconcileAnnotations`. @default true
   */
  readonly pausable?: boolean;
}

export const controlOptionNames = optionNames<ControlOptions>({
  selfWakeBackoff: true,
  name: true,
  predicates: true,
  warmUp: true,
  clusters: true,
  sharded: true,
  everyReplica: true,
  fieldManager: true,
  pausable: true,
  maxRetries: true,
  rateLimiter: true,
  backoff: true,
  timeout: true,
  concurrency: true,
  newQueue: true,
  priority: true,
  fairness: true,
  onGiveUp: true,
  syncTimeout: true,
  drain: true,
  history: true,
});

/** Every kind that a definition touches, each once: its own first. */
export function kindsOf(definition: ControllerDefinition): readonly KindRef[] {
  const kinds = new Map<string, KindRef>();
  const all = [
    definition.kind,
    ...definition.watches.flatMap((watch) => ('kind' in watch ? [watch.kind] : [])),
    ...definition.reads,
    ...definition.indexes.map(({ kind }) => kind),
  ];
  for (const kind of all) {
    const id = `${kind.apiVersion}/${kind.plural}${kind.projection ?? ''}`;
    if (!kinds.has(id)) kinds.set(id, kind);
  }
  return [...kinds.values()];
}

/** References as keys of a kind: `namespace/name`, or `name` for what lives beside the namespaces. */
export function referenceKeys(given: References, kind: KindRef, { namespace }: ObjectMeta): string[] {
  const list = Array.isArray(given) ? (given as readonly (string | Request | undefined)[]) : [given as string];
  const keys: string[] = [];
  for (const reference of list) {
    if (reference === undefined || reference === null || reference === '') continue;
    const key = typeof reference === 'string' ? { name: reference } : reference;
    if (typeof key.name !== 'string') {
      const got = key instanceof Promise ? 'a promise; remove async' : shownBriefly(reference);
      if (key instanceof Promise) key.catch(() => {});
      throw new TypeError(`referencedBy must return names or keys { namespace, name }, got ${got}`);
    }
    const place = kind.scope === 'Namespaced' ? (key.namespace ?? namespace) : undefined;
    keys.push(place === undefined ? key.name : `${place}/${key.name}`);
  }
  return keys;
}
