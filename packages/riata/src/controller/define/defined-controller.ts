import { idOf } from '../../cache/cache.js';
import { keyId } from '../../object/key.js';
import type { KubeObject } from '../../object/meta.js';
import type { WorkItem } from '../../queue/queue-entry.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { link } from '../../runtime/signals.js';
import { isRemoved, Removed } from '../../runtime/stop-reasons.js';
import type { ActiveReconcile } from '../loop/active-reconcile.js';
import { Controller } from '../loop/controller.js';
import type { ControllerOptions } from '../loop/controller-options.js';
import type { KeyGate } from '../loop/key-gate.js';
import { type Cause, distinctRequests, type Request } from '../loop/request.js';
import { RestartRequiredError } from '../loop/restart-required-error.js';
import type { Result } from '../loop/result.js';
import { indexSource, readSource } from '../source/kind-source.js';
import { knownObjects } from '../source/known-objects.js';
import { isSyncing } from '../source/source.js';
import { watchSources } from '../source/watch-source.js';
import type { ControllerDefinition } from './controller-definition.js';
import { type ControllerPlace, DefinedReconciler, ReconcilerMemory } from './defined-reconciler.js';
import { EarlyKeys } from './early-keys.js';
import { type DefinedSource, PlacedSources, type SourceChange } from './placed-sources.js';

/** What a definition needs to run. */
export interface ControllerParts extends ControllerPlace {
  /** For what the definition does not say. */
  readonly defaults?: Omit<ControllerOptions, 'runtime'>;
  /** Which keys are this replica's; see {@link DefinedController.replay}. @default all */
  readonly gate?: KeyGate;
  readonly runtime?: Partial<Runtime>;
}

/** Makes a controller of a definition; it declares its kinds to the cache and is run by its `run`. */
export async function controllerFor<R extends KubeObject>(
  definition: ControllerDefinition<R>,
  parts: ControllerParts,
): Promise<Controller> {
  const defined = new DefinedController<R>(definition, parts);
  await defined.settle(parts);
  return defined.controller;
}

/**
 * Which objects run when the code of a controller was replaced. `'all'`: every object, those that failed and those that were
 * reconciled last before the others. `'recent'`: these alone. `'none'`: objects that change from now on. Objects that
 * the old code has reconciled during the replacement run in any case.
 */
export type ReplaceScope = 'all' | 'recent' | 'none';

/** A cluster that came while the controller was running, until it is synced. */
interface Newcomer {
  /** Keys that came too early, and run once it is. */
  readonly early: EarlyKeys;
  isSynced: boolean;
}

/** A controller made of a definition, for one API server or for many that come and go. */
export class DefinedController<R extends KubeObject = KubeObject> {
  readonly controller: Controller;
  #definition: ControllerDefinition<R>;
  readonly #defaults: ControllerParts['defaults'];
  readonly #runtime: Runtime;
  /** By cluster; `''` for the one without a name. */
  readonly #reconcilers = new Map<string, DefinedReconciler<R>>();
  readonly #places = new Map<string, PlacedSources>();
  readonly #gate: KeyGate | undefined;
  #memory: ReconcilerMemory;
  readonly #newcomers = new Map<string, Newcomer>();

  constructor(definition: ControllerDefinition<R>, parts: Pick<ControllerParts, 'defaults' | 'gate' | 'runtime'>) {
    this.#definition = definition;
    this.#defaults = parts.defaults;
    this.#gate = parts.gate;
    this.#runtime = resolveRuntime(parts.runtime);
    this.#memory = new ReconcilerMemory(definition as unknown as ControllerDefinition, this.#runtime);
    this.controller = new Controller(definition.name, {
      ...this.#optionsOf(definition),
      gate: parts.gate,
      reconcile: (run) => this.#reconcile(run),
      setAside: (item) => this.#setAside(item),
      calls: this.#memory.calls,
      perCluster: definition.options.clusters !== undefined && definition.options.clusters !== 'own',
    });
  }

  /** Works on this API server from the start: nothing is reconciled before what it watches there is synced. */
  async settle(place: ControllerPlace): Promise<void> {
    const placed = new PlacedSources(this.controller, place, this.#sourcesOf(place));
    this.#place(placed);
    await placed.start();
  }

  /**
   * Works on this cluster, too, until the signal aborts or the controller ends. It does not block: its objects are
   * reconciled once its watches are synced, those of others continue. May be called before the controller runs.
   */
  async join(
    place: ControllerPlace & { readonly cluster: string },
    { signal }: { signal: AbortSignal },
  ): Promise<void> {
    const { cluster } = place;
    const newcomer: Newcomer = { early: new EarlyKeys(), isSynced: false };
    this.#newcomers.set(cluster, newcomer);
    const placed = new PlacedSources(this.controller, place, this.#sourcesOf(place), { signal });
    this.#place(placed);
    await placed.start();
    await this.#receive(placed, newcomer, { cluster, signal });
  }

  /**
   * Has the keys of a cluster wait until it is synced. A list that is refused today may be allowed tomorrow: informers keep
   * trying.
   */
  async #receive(
    placed: PlacedSources,
    newcomer: Newcomer,
    { cluster, signal: present }: { readonly cluster: string; readonly signal: AbortSignal },
  ): Promise<void> {
    const { clock, log } = this.#runtime;
    const fields = { controller: this.#definition.name, cluster };
    using scope = link(present, this.controller.stopping);
    const { signal } = scope;
    for (let tries = 1; !newcomer.isSynced && !signal.aborted; tries += 1) {
      try {
        if (!(await placed.synced(signal))) return;
        if (tries > 1) log.info('cluster synced', fields);
        newcomer.isSynced = true;
        newcomer.early.release(this.controller.queue);
        return;
      } catch (error) {
        if (signal.aborted) return;
        const words = 'cannot sync a cluster, will be retried; the other clusters continue';
        if (tries === 1) log.error(words, { ...fields, error });
        else log.debug(words, { ...fields, error });
      }
      await clock.sleep(Math.min(1_000 * 2 ** (tries - 1), 60_000), { signal, background: true }).catch(() => {});
    }
  }

  /**
   * Forgets a cluster whose signal has aborted, and aborts its reconciles in flight. Its remaining keys in the queue
   * are dropped.
   */
  leave(cluster: string): void {
    this.#reconcilers.delete(cluster);
    this.#places.delete(cluster);
    this.controller.spread([...this.#places.keys()]);
    this.#newcomers.delete(cluster);
    this.#memory.cleanedUp.clusterGone(cluster);
    this.#memory.pauses?.clusterGone(cluster);
    this.#memory.failures.clusterGone(cluster);
    const isThere = (key: Request) => key.cluster === cluster;
    void this.controller.endReconciles(isThere, new Removed(`cluster "${cluster}" was removed`), { atOnce: true });
  }

  /** Clusters that are not synced yet: their keys wait. */
  get waitingFor(): readonly string[] {
    return [...this.#newcomers].filter(([, { isSynced }]) => !isSynced).map(([name]) => `cluster ${name}`);
  }

  /** Enqueues all objects of its kind whose keys match, as at the start: the gate now admits them. */
  async replay(matches: (key: Request) => boolean, options: { readonly signal: AbortSignal }): Promise<void> {
    this.#memory.failures.arrived();
    const replays = [...this.#places].map(async ([cluster, placed]) => {
      try {
        await placed.replay(['for'], matches, options);
      } catch (error) {
        // A cluster that was removed has no objects, and one that isn't synced yet delivers all of them when it is.
        const isFollowed = this.#places.get(cluster) === placed && this.#newcomers.get(cluster)?.isSynced !== false;
        if (isFollowed) throw error;
      }
    });
    await Promise.all(replays);
  }

  /**
   * Continues with another definition; see `AddedController.replace`. Rejects, with the old one running, if the new one cannot
   * be started, or the signal aborts before it is in place.
   */
  async replace(
    next: ControllerDefinition<R>,
    { reconcile = 'all', signal }: { readonly reconcile?: ReplaceScope; readonly signal: AbortSignal },
  ): Promise<void> {
    assertReplaceable(this.#definition, next);
    const reconfigure = this.controller.reconfigure(this.#optionsOf(next));
    const definition = next as unknown as ControllerDefinition;
    const memory = new ReconcilerMemory(definition, this.#runtime, this.#memory);
    const { controller } = this;
    const change = (placed: PlacedSources) => placed.changeTo(this.#sourcesOf(placed.place, definition, memory));
    // Clusters that come and go are not waited for: see #receive.
    const settled = [...this.#places.values()].filter(({ isJoined }) => !isJoined);
    const changes = new Map(settled.map((placed) => [placed, change(placed)]));
    const effect = new AbortController();
    using noted = controller.noteKeys();
    try {
      for (const [placed, { fresh }] of changes)
        await prepare(controller, placed, fresh, { signal, takesEffect: effect.signal });
      signal.throwIfAborted();
    } catch (error) {
      for (const { undo } of changes.values()) undo();
      throw error;
    }
    const joined = [...this.#places.values()].filter(({ isJoined }) => isJoined);
    for (const placed of joined) changes.set(placed, change(placed));
    // From here on nothing fails and nothing is awaited: there is no moment with half of each.
    reconfigure();
    this.#definition = next;
    this.#memory = memory;
    for (const [{ place }, { commit }] of changes) {
      commit();
      this.#reconcilers.set(place.cluster ?? '', this.#reconcilerFor(place));
    }
    effect.abort();
    void controller.settled().then(() => {
      for (const { release } of changes.values()) release();
    });
    for (const placed of joined) void this.#rejoin(placed, changes.get(placed)?.fresh ?? [], effect.signal);
    this.#reconcileAgain(noted.keys, reconcile);
  }

  /** What a cluster needs for another definition is started; its keys wait for that. */
  async #rejoin(placed: PlacedSources, fresh: SourceChange['fresh'], takesEffect: AbortSignal): Promise<void> {
    if (fresh.length === 0) return;
    const cluster = placed.place.cluster ?? '';
    const known = this.#newcomers.get(cluster);
    const newcomer = known?.isSynced === false ? known : { early: new EarlyKeys(), isSynced: false };
    this.#newcomers.set(cluster, newcomer);
    try {
      await placed.start(fresh, takesEffect);
      if (newcomer !== known) await this.#receive(placed, newcomer, { cluster, signal: placed.signal });
    } catch (error) {
      const fields = { cluster, controller: this.#definition.name, error };
      this.#runtime.log.error('cannot start a controller for a cluster', fields);
    }
  }

  /** The objects that the old code has reconciled meanwhile, and those that are asked for. */
  #reconcileAgain(keys: Iterable<Request>, scope: ReplaceScope): void {
    const { controller } = this;
    const { clock, log } = this.#runtime;
    const note = [{ source: 'replaced', count: 1, atMs: clock.monotonic() }];
    const recent = scope === 'none' ? [] : controller.takeRecentKeys();
    const first = [...distinctRequests([...keys, ...recent])];
    for (const key of first) controller.queue.add(key, { note });
    if (scope !== 'all') return;
    const { stopping: signal } = controller;
    // Many objects lead to a key, and each runs once.
    const enqueued = new Set(first.map(keyId));
    const admits = (key: Request) => {
      const size = enqueued.size;
      return enqueued.add(keyId(key)).size > size;
    };
    for (const placed of this.#places.values()) {
      placed
        .replay(['for', 'watches'], () => true, { signal, admits })
        .catch((error: unknown) => {
          // It is replaced in its turn, or over.
          if (signal.aborted || isRemoved(error)) return;
          log.error('cannot enqueue all objects for the new code', { controller: controller.name, error });
        });
    }
  }

  /** Keys of a cluster that is not synced yet wait; keys of a removed cluster are dropped. */
  #setAside(item: WorkItem<Request, readonly Cause[]>): boolean {
    const cluster = item.key.cluster ?? '';
    const newcomer = this.#newcomers.get(cluster);
    if (newcomer !== undefined && !newcomer.isSynced) newcomer.early.add(item);
    else if (this.#places.has(cluster)) return false;
    return true;
  }

  #reconcile(run: ActiveReconcile): Promise<Result> | undefined {
    const cluster = run.key.cluster ?? '';
    const place = this.#places.get(cluster)?.place;
    if (this.#gate === undefined || place === undefined) return this.#reconcilers.get(cluster)?.reconcile(run);
    const client = place.client.wrap(this.#gate.fence(run.key, knownObjects(place.cache)));
    return this.#reconcilerFor({ ...place, client }).reconcile(run);
  }

  #place(placed: PlacedSources): void {
    const { place } = placed;
    const cluster = place.cluster ?? '';
    this.#places.set(cluster, placed);
    this.controller.spread([...this.#places.keys()]);
    this.#reconcilers.set(cluster, this.#reconcilerFor(place));
  }

  #reconcilerFor(place: ControllerPlace): DefinedReconciler<R> {
    return new DefinedReconciler<R>(this.#definition, place, this.#runtime, this.#memory);
  }

  /** The options of its loop: the others are used by the definition, or by the manager. */
  #optionsOf({ options }: ControllerDefinition<R>): ControllerOptions {
    const { name: _n, predicates: _p, fieldManager: _f, clusters: _c, pausable: _a, ...rest } = options;
    const { warmUp: _w, sharded: _s, everyReplica: _e, ...own } = rest;
    return { ...this.#defaults, ...own, runtime: this.#runtime };
  }

  #sourcesOf(
    { cache, cluster }: ControllerPlace,
    definition = this.#definition as unknown as ControllerDefinition,
    { failures: reported, calls } = this.#memory,
  ): readonly DefinedSource[] {
    const runtime = { ...this.#runtime, log: this.#runtime.log.child({ controller: definition.name }) };
    const parts = { cache, cluster, runtime, reported, calls };
    const indexes = definition.indexes.map((index) => indexSource(cache, index, runtime));
    const reads = definition.reads.map((kind) => readSource(cache, kind, runtime));
    const watches = definition.watches.flatMap((watch) => {
      const role = watch.through === 'for' ? 'for' : 'watches';
      return watchSources(definition, watch, parts).map((source) => ({ source, role }) as const);
    });
    return [...[...indexes, ...reads].map((source) => ({ source, role: 'reads' }) as const), ...watches];
  }
}

/** Starts sources beside those of the old code. Sources that know nothing of before come last, as they may deliver at once. */
async function prepare(
  controller: Controller,
  placed: PlacedSources,
  fresh: SourceChange['fresh'],
  { signal, takesEffect }: { readonly signal: AbortSignal; readonly takesEffect: AbortSignal },
): Promise<void> {
  const isFirst = ({ source }: DefinedSource) => isSyncing(source);
  await placed.start(fresh.filter(isFirst), takesEffect);
  await controller.synced(
    fresh.filter(isFirst).map(({ watched }) => watched),
    { signal },
  );
  await placed.start(
    fresh.filter((source) => !isFirst(source)),
    takesEffect,
  );
}

/** Throws for what the place of a controller in its manager depends on, and its queue. */
export function assertReplaceable(known: FixedParts, next: FixedParts): void {
  const { name } = known;
  if (next.name !== name) {
    throw new Error(`controller "${name}": cannot be replaced by controller "${next.name}"; give it the same name`);
  }
  const [before, after] = [known, next].map(({ options: { clusters = 'own', ...options } }) => ({
    ...options,
    clusters,
  }));
  const different: string[] = fixedOptions.filter(
    (option) => (before?.[option] ?? false) !== (after?.[option] ?? false),
  );
  if (idOf(known.kind) !== idOf(next.kind) || known.kind.scope !== next.kind.scope) different.unshift('its kind');
  if (different.length > 0) throw new RestartRequiredError(name, different);
}

type FixedParts = Pick<ControllerDefinition, 'name' | 'kind' | 'options'>;

const fixedOptions = ['clusters', 'sharded', 'everyReplica', 'warmUp'] as const;
