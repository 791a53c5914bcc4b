import { finalizerProblems } from '../../object/finalizers.js';
import { type KindRef, type MetadataOnly, metadataOnly } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Reconciler } from '../loop/reconciler.js';
import type { EventHandler } from '../source/event-handler.js';
import type { Predicate } from '../source/predicate.js';
import type { Source } from '../source/source.js';
import { assertKind, shownBriefly } from './assert-kind.js';
import {
  type ControllerDefinition,
  type ControlOptions,
  controlOptionNames,
  type IndexDefinition,
  type MapFunc,
  type References,
  type SourceParts,
  type WatchDefinition,
} from './controller-definition.js';
import { defaultFinalizer } from './finalizing.js';
import type { ReconcileContext } from './reconcile-context.js';

/** Options of every watch. */
export interface WatchOptions<T extends KubeObject> {
  /** Filter changes; all must be true. @default none */
  readonly predicates?: readonly Predicate<T>[];
}

export const watchOptionNames = optionNames<WatchOptions<KubeObject>>({ predicates: true });

/** Options of {@link ControlBuilder.owns}. */
export interface OwnsOptions<T extends KubeObject> extends WatchOptions<T> {
  /** Enqueues every owner, not only the controlling one (`MatchEveryOwner`). @default false */
  readonly allOwners?: boolean;
}

export const ownsOptionNames = optionNames<OwnsOptions<KubeObject>>({ allOwners: true, predicates: true });

/** Maps a watched object to the objects that refer to it. */
export interface ReferencedBy<R extends KubeObject> {
  /** The references of an object of the controller's kind: names, in its own namespace unless given otherwise. */
  readonly referencedBy: (object: R) => References;
}

/** Says itself what a change of a watched object leads to. */
export interface HandledBy<T extends KubeObject> {
  /** E.g. from `handlerFuncs`; called with the old and the new object. */
  readonly handler: EventHandler<T>;
}

/**
 * A controller in the making (`builder.Builder`). Every method gives a new one and leaves this one as it is; the last,
 * {@link reconcile}, gives the definition. `O` is what the reconciler gets as `object`.
 */
export class ControlBuilder<R extends KubeObject, O extends R | undefined = R> {
  readonly #definition: Omit<ControllerDefinition<R>, 'reconciler'>;
  readonly #filters: readonly Predicate[];

  /** Use `control`. */
  constructor(definition: Omit<ControllerDefinition<R>, 'reconciler'>, filters: readonly Predicate[] = []) {
    this.#definition = definition;
    this.#filters = filters;
  }

  /** Reconciles the owner whenever an object of this kind changes that it owns (`Owns`). */
  owns<T extends KubeObject>(kind: KindRef<T>, options: OwnsOptions<T> = {}): ControlBuilder<R, O> {
    const { allOwners = false, predicates } = options;
    assertKind(this.#words('owns'), kind);
    refuseUnknownOptions(this.#words('owns'), options, ownsOptionNames);
    const own = this.#definition.kind;
    if (own.scope === 'Namespaced' && kind.scope === 'Cluster') {
      const why = `${own.kind} is namespaced and cannot own ${kind.kind}, which is cluster-scoped`;
      throw new TypeError(`${this.#words('owns')}: ${why}; use .watches(${kind.kind}, …)`);
    }
    return this.#watch({ through: 'owns', kind, predicates: anyOf(predicates), onlyController: !allOwners });
  }

  /**
   * When an object of this kind changes, reconciles the keys that `map` returns, or all objects that refer to it, with
   * an index and a reverse map for that, or whatever a handler enqueues (`Watches`, `EnqueueRequestsFromMapFunc`,
   * `handler.Funcs`).
   *
   * @example
   * control(Foo).watches(Secret, { referencedBy: (foo) => foo.spec.secretName })
   */
  watches<T extends KubeObject>(
    kind: KindRef<T>,
    to: MapFunc<T> | ReferencedBy<R> | HandledBy<T>,
    options: WatchOptions<T> = {},
  ): ControlBuilder<R, O> {
    assertKind(this.#words('watches'), kind);
    refuseUnknownOptions(this.#words('watches'), options, watchOptionNames);
    const predicates = anyOf(options.predicates);
    if (typeof to === 'function') {
      return this.#watch({ through: 'map', kind, predicates, map: to as unknown as MapFunc });
    }
    if (typeof to === 'object' && 'handler' in to && typeof to.handler === 'function') {
      return this.#watch({ through: 'handler', kind, predicates, handler: to.handler as unknown as EventHandler });
    }
    if (typeof to === 'object' && 'referencedBy' in to && typeof to.referencedBy === 'function') {
      const references = to.referencedBy as unknown as (object: KubeObject) => References;
      return this.#watch({ through: 'reference', kind, predicates, references });
    }
    const expected = 'a function from an object to keys, or { handler }, or { referencedBy }';
    throw new TypeError(`${this.#words('watches')}(${kind.kind}, …): expects ${expected}, got ${shownBriefly(to)}`);
  }

  /** As {@link watches}, and only the metadata is listed and watched (`WatchesMetadata`). */
  watchesMetadata(
    kind: KindRef,
    to: MapFunc<MetadataOnly> | ReferencedBy<R> | HandledBy<MetadataOnly>,
    options: WatchOptions<MetadataOnly> = {},
  ): ControlBuilder<R, O> {
    return this.watches(metadataOnly(kind), to, options);
  }

  /** Kinds that the reconciler reads: they come from the cache instead of the server. */
  reads(...kinds: readonly KindRef[]): ControlBuilder<R, O> {
    for (const kind of kinds) assertKind(this.#words('reads'), kind);
    return this.#with({ reads: [...this.#definition.reads, ...kinds] });
  }

  /**
   * Makes the cache index objects of a kind by a field of your own (`IndexField`): `list` takes it as `fieldSelector`.
   * The kind is read from the cache, as with {@link reads}. The cache is shared: all users that index the same field of
   * the same kind have to use the same function.
   *
   * @example
   * control(CronJob)
   *   .owns(Job)
   *   .indexes(Job, 'owner', (job) => [controllerOf(job)?.name ?? ''])
   *   .reconcile(async ({ object: { metadata: { namespace, name } }, client }) => {
   *     const { items } = await client.list(Job, { namespace, fieldSelector: { owner: name } });
   *   });
   */
  indexes<T extends KubeObject>(
    kind: KindRef<T>,
    field: string,
    values: (object: T) => readonly string[],
  ): ControlBuilder<R, O> {
    assertKind(this.#words('indexes'), kind);
    const index = { kind, field, values: values as unknown as IndexDefinition['values'] };
    if (typeof field !== 'string' || typeof values !== 'function') {
      const got = typeof field === 'string' ? shownBriefly(values) : shownBriefly(field);
      throw new TypeError(
        `${this.#words('indexes')}: expects a field name and a function that returns values, got ${got}`,
      );
    }
    return this.#with({ indexes: [...this.#definition.indexes, index] });
  }

  /**
   * Keys from anywhere else (`WatchesRawSource`); made when the controller is.
   *
   * @example
   * control(Cart).source(({ reader }) => intervalSource('10m', allOf(reader, Cart)))
   * control(Cart).source(({ cache }) => kindSource(cache, Pod, enqueueRequestForOwner(Cart)))
   */
  source(make: (parts: SourceParts) => Source): ControlBuilder<R, O> {
    return this.#watch({ through: 'source', make });
  }

  /**
   * Filters the changes of everything that is watched, before this or after (`WithEventFilter`); not of a {@link
   * source}.
   */
  filter(...predicates: readonly Predicate[]): ControlBuilder<R, O> {
    return new ControlBuilder<R, O>(this.#definition, [...this.#filters, ...predicates]);
  }

  /** Calls the reconciler for deleted objects, too, with no `object`. */
  evenWhenGone(): ControlBuilder<R, R | undefined> {
    return new ControlBuilder<R, R | undefined>({ ...this.#definition, evenWhenGone: true }, this.#filters);
  }

  /**
   * Cleans up before an object is deleted. The finalizer is set before the first reconcile and removed after this has
   * succeeded; once deletion is requested, this is called instead of the reconciler. If it returns `requeueAfter`, it
   * is not done yet, and is called again.
   *
   * It runs at least once, and in one process no more than once after it has succeeded: if the finalizer cannot be
   * removed at once, since others change the object or the server refuses, only that is retried. A process that ends in
   * between leaves the finalizer, and the next one cleans up again: it must work if everything is cleaned up already.
   *
   * The finalizer is named after group and controller unless you give a name. Objects keep it when the controller is
   * uninstalled, and cannot be deleted: see `clearFinalizers`.
   */
  finalize(run: Reconciler<ReconcileContext<R>>, options: { readonly name?: string } = {}): ControlBuilder<R, O> {
    const { kind, name } = this.#definition;
    refuseUnknownOptions(this.#words('finalize'), options, finalizeOptionNames);
    const finalizer = options.name ?? defaultFinalizer(kind, name);
    const problems = finalizerProblems(finalizer);
    if (problems.length > 0) {
      const what = `${JSON.stringify(finalizer)} is not a valid finalizer name`;
      throw new TypeError(`${this.#words('finalize')}: ${what}: ${problems.join('; ')}`);
    }
    wantFunction(this.#words('finalize'), run);
    return this.#with({
      finalize: { name: finalizer, run: run as unknown as Reconciler<ReconcileContext<KubeObject>> },
    });
  }

  /** How it is done (`Complete`): gives the definition. */
  reconcile(reconciler: Reconciler<ReconcileContext<R, O>>): ControllerDefinition<R> {
    wantFunction(this.#words('reconcile'), reconciler);
    const watches = this.#definition.watches.map((watch) =>
      watch.through === 'source' ? watch : { ...watch, predicates: [...watch.predicates, ...this.#filters] },
    );
    return Object.freeze({ ...this.#definition, watches, reconciler: reconciler as unknown as Reconciler<never> });
  }

  #words(method: string): string {
    return `control(${this.#definition.kind.kind}).${method}`;
  }

  #watch(watch: WatchDefinition): ControlBuilder<R, O> {
    return this.#with({ watches: [...this.#definition.watches, watch] });
  }

  #with(changes: Partial<ControllerDefinition<R>>): ControlBuilder<R, O> {
    return new ControlBuilder<R, O>({ ...this.#definition, ...changes }, this.#filters);
  }
}

/**
 * Begins the definition of a controller for objects of a kind (`NewControllerManagedBy(mgr).For()`, `WithOptions`).
 *
 * @example
 * export const foos = control(Foo)
 *   .owns(Deployment)
 *   .reconcile(async ({ object: foo, apply, status }) => {
 *     const deployment = await apply(Deployment({ metadata: { name: foo.spec.deploymentName }, spec: podsFor(foo) }));
 *     await status({ availableReplicas: deployment.status.availableReplicas ?? 0 });
 *   });
 */
export function control<R extends KubeObject>(
  kind: KindRef<R>,
  options: ControlOptions & { readonly predicates?: readonly Predicate<R>[] } = {},
): ControlBuilder<R> {
  assertKind('control', kind);
  refuseUnknownOptions(`control(${kind.kind})`, options, controlOptionNames);
  const name = options.name ?? kind.kind.toLowerCase();
  if (!/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(name)) {
    throw new TypeError(
      `control(${kind.kind}): name must consist of letters, digits, "-", "." and "_", got ${JSON.stringify(name)}`,
    );
  }
  return new ControlBuilder<R>({
    ...{ name, kind, reads: [], indexes: [], evenWhenGone: false, options },
    watches: [{ through: 'for', kind, predicates: anyOf(options.predicates) }],
  });
}

function anyOf<T extends KubeObject>(predicates: readonly Predicate<T>[] | undefined): readonly Predicate[] {
  return (predicates ?? []) as unknown as readonly Predicate[];
}

function wantFunction(where: string, given: Reconciler<never>): void {
  if (typeof given === 'function' || typeof given?.reconcile === 'function') return;
  throw new TypeError(`${where}: expects a function, or an object with a method reconcile, got ${shownBriefly(given)}`);
}

const finalizeOptionNames = optionNames<{ name: string }>({ name: true });
