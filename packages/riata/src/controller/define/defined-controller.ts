import type { KubeObject } from '../../object/meta.js';
import type { WorkItem } from '../../queue/queue-entry.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { link, onAbort } from '../../runtime/signals.js';
import { Removed } from '../../runtime/stop-reasons.js';
import type { ActiveReconcile } from '../loop/active-reconcile.js';
import { Controller } from '../loop/controller.js';
import type { ControllerOptions } from '../loop/controller-options.js';
import type { KeyGate } from '../loop/key-gate.js';
import type { Cause, Request } from '../loop/request.js';
import type { Result } from '../loop/result.js';
import { indexSource, type ReplayingSource, readSource } from '../source/kind-source.js';
import { knownObjects } from '../source/known-objects.js';
import { isSyncing, type Source } from '../source/source.js';
import { watchSource } from '../source/watch-source.js';
import type { ControllerDefinition } from './controller-definition.js';
import { type ControllerPlace, DefinedReconciler, ReconcilerMemory } from './defined-reconciler.js';
import { EarlyKeys } from './early-keys.js';

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

/** A cluster that came while the controller was running, until it is synced. */
interface Newcomer {
  /** Keys that came too early, and run once it is. */
  readonly early: EarlyKeys;
  isSynced: boolean;
}

/** A controller made of a definition, for one API server or for many that come and go. */
export class DefinedController<R extends KubeObject = KubeObject> {
  readonly controller: Controller;
  readonly #definition: ControllerDefinition<R>;
  readonly #runtime: Runtime;
  /** By cluster; `''` for the one without a name. */
  readonly #reconcilers = new Map<string, DefinedReconciler<R>>();
  readonly #places = new Map<string, ControllerPlace>();
  /** The watches of the controller's own kind. */
  readonly #ownSources = new Map<string, ReplayingSource>();
  readonly #gate: KeyGate | undefined;
  readonly #memory: ReconcilerMemory;
  readonly #newcomers = new Map<string, Newcomer>();

  constructor(definition: ControllerDefinition<R>, parts: Pick<ControllerParts, 'defaults' | 'gate' | 'runtime'>) {
    this.#definition = definition;
    this.#gate = parts.gate;
    this.#runtime = resolveRuntime(parts.runtime);
    this.#memory = new ReconcilerMemory(definition as unknown as ControllerDefinition, this.#runtime);
    const { name: _n, predicates: _p, fieldManager: _f, clusters: _c, pausable: _a, ...rest } = definition.options;
    const { warmUp: _w, sharded: _s, everyReplica: _e, ...own } = rest;
    const options = { ...parts.defaults, ...own, gate: parts.gate, runtime: this.#runtime };
    this.controller = new Controller(definition.name, {
      ...options,
      reconcile: (run) => this.#reconcile(run),
      setAside: (item) => this.#setAside(item),
      calls: this.#memory.calls,
      perCluster: definition.options.clusters !== undefined && definition.options.clusters !== 'own',
    });
  }

  /** Works on this API server from the start: nothing is reconciled before what it watches there is synced. */
  async settle(place: ControllerPlace): Promise<void> {
    this.#place(place);
    for (const source of this.#sourcesOf(place)) await this.controller.watch(source);
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
    this.#place(place);
    const sources = this.#sourcesOf(place);
    const joining = sources.map((source) => bounded(source, signal));
    for (const { source } of joining) await this.controller.watch(source);
    const [over = signal] = await Promise.all(joining.map(({ started }) => started));
    if (!(await this.#synced(sources, cluster, over))) return;
    newcomer.isSynced = true;
    newcomer.early.release(this.controller.queue);
  }

  /**
   * False if the signal has aborted before. A list that is refused today may be allowed tomorrow: informers keep
   * trying.
   */
  async #synced(sources: readonly Source[], cluster: string, signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#runtime;
    const fields = { controller: this.#definition.name, cluster };
    for (let tries = 1; !signal.aborted; tries += 1) {
      try {
        await Promise.all(sources.map((source) => (isSyncing(source) ? source.waitForSync({ signal }) : undefined)));
        if (tries > 1) log.info('cluster synced', fields);
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        const words = 'cannot sync a cluster, will be retried; the other clusters continue';
        if (tries === 1) log.error(words, { ...fields, error });
        else log.debug(words, { ...fields, error });
      }
      await clock.sleep(Math.min(1_000 * 2 ** (tries - 1), 60_000), { signal, background: true }).catch(() => {});
    }
    return false;
  }

  /**
   * Forgets a cluster whose signal has aborted, and aborts its reconciles in flight. Its remaining keys in the queue
   * are dropped.
   */
  leave(cluster: string): void {
    this.#reconcilers.delete(cluster);
    this.#places.delete(cluster);
    this.#ownSources.delete(cluster);
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
    const replays = [...this.#ownSources].map(async ([cluster, source]) => {
      try {
        await source.replay(matches, options);
      } catch (error) {
        // A cluster that was removed has no objects, and one that isn't synced yet delivers all of them when it is.
        const isFollowed = this.#ownSources.get(cluster) === source && this.#newcomers.get(cluster)?.isSynced !== false;
        if (isFollowed) throw error;
      }
    });
    await Promise.all(replays);
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
    const place = this.#places.get(cluster);
    if (this.#gate === undefined || place === undefined) return this.#reconcilers.get(cluster)?.reconcile(run);
    const client = place.client.wrap(this.#gate.fence(run.key, knownObjects(place.cache)));
    return new DefinedReconciler<R>(this.#definition, { ...place, client }, this.#runtime, this.#memory).reconcile(run);
  }

  #place(place: ControllerPlace): void {
    const cluster = place.cluster ?? '';
    this.#places.set(cluster, place);
    this.controller.spread([...this.#places.keys()]);
    this.#reconcilers.set(cluster, new DefinedReconciler<R>(this.#definition, place, this.#runtime, this.#memory));
  }

  #sourcesOf({ cache, cluster }: ControllerPlace): readonly Source[] {
    const definition = this.#definition as unknown as ControllerDefinition;
    const runtime = { ...this.#runtime, log: this.#runtime.log.child({ controller: definition.name }) };
    const sources: Source[] = definition.indexes.map((index) => indexSource(cache, index, runtime));
    for (const kind of definition.reads) sources.push(readSource(cache, kind, runtime));
    for (const watch of definition.watches) {
      const { failures: reported, calls } = this.#memory;
      const source = watchSource(definition, watch, { cache, cluster, runtime, reported, calls });
      sources.push(source);
      if (watch.through === 'for') this.#ownSources.set(cluster ?? '', source as ReplayingSource);
    }
    return sources;
  }
}

/**
 * A source that ends with another signal, too; whether it is synced is its owner's business. `started`: the signal by which
 * it ends, once it has begun, which may be later; the given one, if that aborts before.
 */
function bounded(
  source: Source,
  signal: AbortSignal,
): { readonly source: Source; readonly started: Promise<AbortSignal> } {
  let resolveOver: (over: AbortSignal) => void = () => {};
  const started = new Promise<AbortSignal>((resolve) => {
    resolveOver = resolve;
  });
  const early = onAbort(signal, () => resolveOver(signal));
  const start: Source['start'] = async (queue, options) => {
    if (signal.aborted) return;
    early[Symbol.dispose]();
    const over = link(options.signal, signal).signal;
    await source.start(queue, { ...options, signal: over });
    resolveOver(over);
  };
  return { source: { name: source.name, start }, started };
}
