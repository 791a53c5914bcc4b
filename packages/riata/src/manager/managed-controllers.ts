import type { Cache } from '../cache/cache.js';
import type { ConnectedClient } from '../client/create-client.js';
import { untracked } from '../controller/calls/tracked-client.js';
import type { ControllerDefinition } from '../controller/define/controller-definition.js';
import { assertReplaceable, DefinedController, type ReplaceScope } from '../controller/define/defined-controller.js';
import type { ControllerHealth } from '../controller/loop/controller-health.js';
import type { ControllerOptions } from '../controller/loop/controller-options.js';
import type { ReconcileRecord } from '../controller/loop/reconcile-record.js';
import type { Cause, Request } from '../controller/loop/request.js';
import { knownObjects } from '../controller/source/known-objects.js';
import { keyId } from '../object/key.js';
import type { KindRef } from '../object/kind.js';
import type { PendingKey } from '../queue/pending-keys.js';
import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';
import type { Runtime } from '../runtime/runtime.js';
import { onAbort } from '../runtime/signals.js';
import { TimeSlice } from '../runtime/time/time-slice.js';
import type { Cluster, ClusterSet } from './clusters/cluster.js';
import { ControllerGroups } from './debug/controller-group.js';
import { fence, type WriteGuard } from './election/fence.js';
import type { EventBroadcaster } from './events/event-broadcaster.js';
import type { EventRecorder } from './events/event-recorder.js';
import { Replacements } from './replacements.js';
import type { Runnable } from './runnable.js';
import type { ManagerShards } from './sharding/manager-shards.js';

/** What the controllers of a manager share. */
export interface ManagedControllersParts {
  readonly client: ConnectedClient;
  readonly cache: Cache;
  /** Kinds that are always read from the server. */
  readonly uncached: readonly KindRef[] | undefined;
  readonly clusters: () => ClusterSet;
  readonly events: EventBroadcaster;
  readonly defaults: Omit<ControllerOptions, 'runtime'> | undefined;
  readonly runtime: Runtime;
}

/** How `AddedController.replace` continues. */
export interface ReplaceOptions {
  /** Which objects the new code reconciles now. @default 'all' */
  readonly reconcile?: ReplaceScope;
}

const replaceOptionNames = optionNames<ReplaceOptions>({ reconcile: true });

/** One controller of a manager. */
export interface ManagedController {
  readonly runnable: Runnable;
  /** See `AddedController.replace`. */
  replace(next: ControllerDefinition, options?: ReplaceOptions): Promise<void>;
  /** It has ended: its name is free again. */
  end(): void;
}

/** Where one controller works. */
export interface ControllerRole {
  /** Of what only the leader runs: its writes, to whichever cluster, start only while this replica leads. */
  readonly guard: WriteGuard | undefined;
  /** Given, it shares its keys with other replicas. */
  readonly shards: ManagerShards | undefined;
}

interface RoamingRole extends ControllerRole {
  /** What waits for the ends of its clusters, by their names. */
  readonly ends: Map<string, Disposable>;
}

/** The controllers of a manager, by name: created when they are run, and notified of added clusters. */
export class ManagedControllers {
  /** Controllers of other runnables. */
  readonly groups = new ControllerGroups();
  readonly #parts: ManagedControllersParts;
  /** Undefined until it is made: the name is taken already. */
  readonly #controllers = new Map<string, DefinedController | undefined>();
  readonly #definitions = new Map<string, ControllerDefinition>();
  /** With what ends their subscriptions. */
  readonly #listeners = new Map<(record: ReconcileRecord) => void, Disposable[]>();
  /** Controllers that work on added clusters. */
  readonly #roaming = new Map<DefinedController, RoamingRole>();

  constructor(parts: ManagedControllersParts) {
    this.#parts = parts;
  }

  get definitions(): Iterable<ControllerDefinition> {
    return this.#definitions.values();
  }

  /** The ended reconciles of all controllers, later ones too; see `Controller.onReconciled`. */
  onReconciled(listener: (record: ReconcileRecord) => void): Disposable {
    const ends = this.#made().map(({ controller }) => controller.onReconciled(listener));
    this.#listeners.set(listener, ends);
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
        for (const end of ends) end[Symbol.dispose]();
      },
    };
  }

  /** Keys of one that wait: ready ones, then those that wait for their time. */
  pending(name: string, most: number): readonly PendingKey<Request, readonly Cause[]>[] {
    return this.#controllers.get(name)?.controller.queue.pending?.(most) ?? [];
  }

  get health(): readonly ControllerHealth[] {
    return this.#made().map(({ controller: { health }, waitingFor }) => ({
      ...health,
      waitingFor: [...health.waitingFor, ...waitingFor],
    }));
  }

  /** Oldest first. */
  get explain(): readonly ReconcileRecord[] {
    const all = this.#made().flatMap(({ controller }) => controller.explain);
    return all.sort((a, b) => a.startedAt - b.startedAt);
  }

  /** The reconciles in flight, in words. */
  get active(): readonly string[] {
    return this.health.flatMap(({ name, active }) =>
      active.map(({ key, runningMs }) => `${name} ${keyId(key)} (${Math.round(runningMs)} ms)`),
    );
  }

  /** Keys that are being reconciled now, with their controllers; the first ten. */
  get inFlight(): readonly string[] {
    const names: string[] = [];
    for (const { controller } of this.#made()) {
      for (const key of controller.activeKeys) if (names.push(`${controller.name} ${keyId(key)}`) === 10) return names;
    }
    return names;
  }

  /** Reconciles that took this long, or still do, in words; see `Controller.lasting`. */
  lasting(durationMs: number, withinMs: number): readonly string[] {
    return this.#made().flatMap(({ controller }) =>
      controller
        .lasting(durationMs, withinMs)
        .map(({ key, durationMs: ms }) => `${controller.name} ${keyId(key)} (${Math.round(ms)} ms)`),
    );
  }

  /** Abandons reconciles that are stopping, now or later, without waiting for them. */
  hurry(): void {
    for (const { controller } of this.#made()) controller.hurry();
  }

  /** Takes the name; throws if it is taken. */
  add(definition: ControllerDefinition, role: ControllerRole): ManagedController {
    const { name } = definition;
    if (this.#controllers.has(name)) {
      throw new Error(`controller "${name}" already exists; give this one another name with control(…, { name })`);
    }
    this.#controllers.set(name, undefined);
    this.#definitions.set(name, definition);
    let made: Promise<DefinedController> | undefined;
    const make = () => {
      made ??= this.#make(name, role);
      return made;
    };
    const { shards } = role;
    const runnable: Runnable = {
      name: `controller ${name}`,
      run: async (options) => {
        const defined = await make();
        await (shards === undefined ? defined.controller.run(options) : shards.runController(defined, options));
      },
      ...(definition.options.warmUp && { warmUp: async (options) => (await make()).controller.warmUp(options) }),
    };
    const replacements = new Replacements<ReplaceOptions & { readonly next: ControllerDefinition }>(
      async ({ next, ...options }, { signal }) => {
        assertReplaceable(this.#definitions.get(name) ?? definition, next);
        // It may be made at any moment, of the definition that is known then.
        if (made !== undefined) await (await made).replace(next, { ...options, signal });
        this.#definitions.set(name, next);
        this.#parts.runtime.log.info('controller replaced', { controller: name });
      },
    );
    return {
      runnable,
      replace: async (next, options = {}) => {
        refuseUnknownOptions(`controller "${name}": replace`, options, replaceOptionNames);
        await replacements.add({ ...options, next });
      },
      end: () => {
        replacements.end(new Error(`controller "${name}" was removed; add the new definition instead`));
        this.#remove(name);
      },
    };
  }

  #remove(name: string): void {
    const defined = this.#controllers.get(name);
    this.#controllers.delete(name);
    this.#definitions.delete(name);
    if (defined === undefined) return;
    for (const end of this.#roaming.get(defined)?.ends.values() ?? []) end[Symbol.dispose]();
    this.#roaming.delete(defined);
  }

  /** Starts the controllers for added clusters on this one. */
  clusterAdded(cluster: Cluster): void {
    for (const [defined, role] of this.#roaming) this.#join(defined, role, cluster);
  }

  async #make(name: string, role: ControllerRole): Promise<DefinedController> {
    const { client, cache, clusters, events, defaults, runtime } = this.#parts;
    // All of a manager's controllers start at the same time.
    await TimeSlice.of(runtime.clock).pass(role);
    const definition = this.#definitions.get(name) as ControllerDefinition;
    const gate = role.shards?.gateFor(name, () => this.#definitions.get(name)?.evenWhenGone === true);
    const defined = new DefinedController(definition, { defaults, runtime, gate });
    const { clusters: where = 'own' } = definition.options;
    if (where !== 'added') await defined.settle(this.#place(role, { client, cache }, events.recorder(name)));
    this.#controllers.set(name, defined);
    for (const [listener, ends] of this.#listeners) ends.push(defined.controller.onReconciled(listener));
    if (where !== 'own') {
      const roaming = { ...role, ends: new Map<string, Disposable>() };
      this.#roaming.set(defined, roaming);
      for (const cluster of clusters().names) this.#join(defined, roaming, clusters().get(cluster) as Cluster);
    }
    return defined;
  }

  #join(defined: DefinedController, role: RoamingRole, cluster: Cluster): void {
    const { log } = this.#parts.runtime;
    const { name, signal } = cluster;
    const { name: controller } = defined.controller;
    const place = this.#place(role, cluster, cluster.eventRecorder(controller));
    // If a controller cannot work on the cluster, that is logged; the others continue.
    defined.join({ ...place, cluster: name }, { signal }).catch((error: unknown) => {
      log.error('cannot start a controller for a cluster', { cluster: name, controller, error });
    });
    const end = onAbort(signal, () => {
      role.ends.delete(name);
      defined.leave(name);
    });
    role.ends.set(name, end);
  }

  #place({ guard }: ControllerRole, { client, cache }: Pick<Cluster, 'client' | 'cache'>, recorder: EventRecorder) {
    const { uncached } = this.#parts;
    const own = untracked(client);
    if (guard === undefined) return { client: own, cache, uncached, recorder };
    const fenced = own.wrap((run) => fence(run, guard, { known: knownObjects(cache) }));
    return { client: fenced, cache, uncached, recorder };
  }

  #made(): readonly DefinedController[] {
    return [...this.#controllers.values()].filter((defined) => defined !== undefined);
  }
}
