import type { JsonObject } from 'riata/object';
import type { Scheduler, Timer } from 'riata/runtime';
import { podGoneAt } from '../admission/builtin/quota/pod-quota.js';
import { recordOf } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import type { Storage, StorageEvent, Stored } from '../storage/storage.js';
import { isSameStatus, QuotaTally } from './quota-tally.js';
import type { WorkLoop } from './work-loop.js';

/** Dependencies of {@link QuotaController}. */
export interface QuotaControllerParts {
  readonly storage: Storage;
  readonly store: ObjectStore;
  readonly loop: WorkLoop;
  readonly clock: Scheduler;
  readonly quotas: Resource;
  /** The table of CustomResourceDefinitions: a new one may be of a kind that a quota counts. */
  readonly definitions: string;
  /** The resource of a table; undefined if it isn't served. */
  resourceOf(table: string): Resource | undefined;
  context(): WriteContext;
}

/** Keeps the usage in the status of ResourceQuotas up to date (`resourcequota.Controller`). */
export class QuotaController {
  readonly #at: QuotaControllerParts;
  /** By namespace, then by key of the quota. */
  readonly #tallies = new Map<string, Map<string, QuotaTally>>();
  /** Keys of the quotas whose status may be stale, by namespace. */
  readonly #pending = new Map<string, Set<string>>();
  /** Timers for Pods that stop counting at their deletion deadline, by namespace. */
  readonly #timers = new Map<string, Timer>();

  constructor(parts: QuotaControllerParts) {
    this.#at = parts;
  }

  /** Observes every write of the storage. */
  observe(table: string, event: StorageEvent): void {
    const { quotas, definitions, clock } = this.#at;
    if (table === quotas.table) this.#observeQuota(event);
    if (this.#tallies.size === 0) return;
    if (table === definitions) this.#resetAll();
    const { key, before, after } = event;
    const namespace = key.slice(0, Math.max(key.indexOf('/'), 0));
    const tallies = this.#tallies.get(namespace);
    if (tallies === undefined) return;
    const now = clock.now();
    for (const [quota, tally] of tallies) {
      if (tally.adjust(table, json(before), json(after), now)) this.#later(namespace, quota);
    }
    if (table === '/pods' && after !== undefined) this.#wake(namespace, json(after));
  }

  /** Brings the quotas of a namespace up to date at once. */
  catchUp(namespace: string): void {
    const pending = this.#pending.get(namespace);
    if (pending === undefined) return;
    this.#pending.delete(namespace);
    for (const key of pending) this.#write(namespace, key);
  }

  stop(): void {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #observeQuota({ key, before, after }: StorageEvent): void {
    const namespace = (after ?? before)?.object.metadata.namespace ?? '';
    const tallies = this.#tallies.get(namespace) ?? new Map<string, QuotaTally>();
    if (after === undefined) {
      tallies.delete(key);
      if (tallies.size === 0) this.#tallies.delete(namespace);
      return;
    }
    this.#tallies.set(namespace, tallies);
    const quota = json(after);
    if (tallies.get(key)?.isOf(quota) !== true) tallies.set(key, new QuotaTally(quota));
    this.#later(namespace, key);
  }

  #resetAll(): void {
    for (const [namespace, tallies] of this.#tallies) {
      for (const [key, tally] of tallies) {
        tally.reset();
        this.#later(namespace, key);
      }
    }
  }

  #later(namespace: string, key: string): void {
    const pending = this.#pending.get(namespace) ?? new Set();
    this.#pending.set(namespace, pending.add(key));
    this.#at.loop.add(`quotas of ${namespace}`, () => this.catchUp(namespace));
  }

  #write(namespace: string, key: string): void {
    const { store, quotas, clock, context } = this.#at;
    const stored = store.findByKey(quotas, key);
    const tally = this.#tallies.get(namespace)?.get(key);
    if (stored === undefined || tally === undefined) return;
    const before = recordOf(json(stored).status);
    const status = tally.status(before, (table) => this.#objects(table, namespace), clock.now());
    if (isSameStatus(before, status)) return;
    const change = { subresource: 'status', make: (live: JsonObject) => ({ ...live, status }) };
    const by = { ...context(), fieldManager: 'kube-controller-manager' };
    store.update(quotas, namespace, stored.object.metadata.name, change, by);
  }

  #objects(table: string, namespace: string): readonly JsonObject[] | undefined {
    const { storage, resourceOf } = this.#at;
    if (resourceOf(table)?.scope !== 'Namespaced') return undefined;
    return storage.list(table, { prefix: `${namespace}/` }).items.map((stored) => json(stored));
  }

  /** Sets a timer for the deletion deadline of a Pod, when it stops counting. */
  #wake(namespace: string, pod: JsonObject): void {
    const { clock } = this.#at;
    const goneAt = podGoneAt(pod);
    if (goneAt === undefined || goneAt < clock.now() || this.#timers.has(namespace)) return;
    const recount = () => {
      this.#timers.delete(namespace);
      for (const [key, tally] of this.#tallies.get(namespace) ?? []) {
        tally.reset();
        this.#later(namespace, key);
      }
      for (const other of this.#objects('/pods', namespace) ?? []) this.#wake(namespace, other);
    };
    this.#timers.set(namespace, clock.after(goneAt - clock.now() + 1, recount, { background: true }));
  }
}

function json(stored: Stored): JsonObject;
function json(stored: Stored | undefined): JsonObject | undefined;
function json(stored: Stored | undefined): JsonObject | undefined {
  return stored?.object as unknown as JsonObject | undefined;
}
