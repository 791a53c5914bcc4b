import { clientRuntime } from '../../client/client-runtime.js';
import type { Client, WriteObject } from '../../client/interfaces.js';
import type { KubeObject } from '../../object/meta.js';
import { type RateLimiter, tokenBucketRateLimiter } from '../../rest/chain/rate-limiter.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { type RbacNeed, type RbacNeeds, writeVerbs } from '../../shared/rbac-need.js';
import { type ApplyOptions, type ApplySetOptions, applyOptionNames, applySetOptionNames } from './apply-options.js';
import type { ApplySetResult, SetMember } from './apply-result.js';
import type { ObjectSet } from './object-set.js';
import { type PurgeOrphansOptions, purgeOrphans, purgeOrphansOptionNames } from './purge-orphans.js';
import { runApply } from './run-apply.js';
import type { SetApplier } from './set-applier.js';
import { namedOwner, setIdentity, statedIdentity } from './set-identity.js';
import { ownSet } from './set-membership.js';
import { planSet, type SetPlan } from './set-plan.js';
import { pruneMember } from './set-writer.js';
import { UsedKinds } from './used-kinds.js';

/** State that all copies of an {@link Apply} share. */
interface Shared {
  readonly used: UsedKinds;
  readonly limiters: Map<string, RateLimiter>;
  /** The last call for each set, by its key. */
  readonly turns: Map<string, Promise<unknown>>;
}

/** Objects, or a set of them. */
export type DesiredObjects = readonly WriteObject[] | ObjectSet;

/**
 * Applies a desired set of objects (`apply.Apply` of wrangler): creates and updates its objects, and deletes those that were
 * in the set before and are no longer. An empty set deletes all. A set is identified by its id, its owner, or both; its
 * objects carry that in labels and annotations, so that another process can continue at any point.
 *
 * Unchanged objects are not written. Namespaces, definitions and RBAC come before the objects that need them. Calls for one
 * set run one after the other.
 *
 * ```ts
 * const applier = new Apply(client, { setId: 'shop' });
 * await applier.apply([ConfigMap({ … }), Deployment({ … })]);
 * console.log(String(await applier.dryRun([])));
 * ```
 */
export class Apply implements SetApplier, RbacNeeds {
  readonly #client: Client;
  readonly #options: ApplySetOptions;
  readonly #runtime: Runtime;
  #shared: Shared;

  constructor(client: Client, options: ApplyOptions = {}) {
    refuseUnknownOptions('Apply', options, applyOptionNames);
    const { runtime, ...rest } = options;
    this.#client = client;
    this.#options = rest;
    this.#runtime = resolveRuntime({ ...clientRuntime(client), ...runtime });
    const used = new UsedKinds(this.#runtime.clock, this.#runtime.log);
    this.#shared = { used, limiters: new Map(), turns: new Map() };
  }

  /** A copy with additional options (`WithSetID`, `WithOwner` and so on). */
  with(options: ApplySetOptions): Apply {
    refuseUnknownOptions('Apply.with', options, applySetOptionNames);
    const copy = new Apply(this.#client, { ...this.#options, ...options, runtime: this.#runtime });
    copy.#shared = this.#shared;
    return copy;
  }

  /** Permissions for the kinds in `kinds` and those applied so far, for `collectRbac`. */
  get rbacNeeds(): readonly RbacNeed[] {
    const { kinds = [] } = this.#options;
    return [...kinds, ...this.#shared.used.applied].map((kind) => ({ kind, verbs: writeVerbs }));
  }

  /**
   * Applies the set (`Apply`). Rejects with an `ApplySetError` that names every object that failed; the others are applied,
   * and nothing is deleted unless `pruneOnFailure` is set.
   */
  async apply(objects: DesiredObjects, options: ApplySetOptions = {}): Promise<ApplySetResult> {
    refuseUnknownOptions('Apply.apply', options, applySetOptionNames);
    const all = { ...this.#options, ...options };
    const { key } = setIdentity(all);
    return this.#inTurn(key, async () => {
      const list = [...objects];
      await this.#limit(key, list.length === 0, all);
      return runApply(this.#parts, list, all);
    });
  }

  /** Applies these objects as the set (`ApplyObjects`). */
  applyObjects(...objects: readonly WriteObject[]): Promise<ApplySetResult> {
    return this.apply(objects);
  }

  /** The changes that {@link apply} would make (`DryRun`), by dry-run requests. Nothing is stored. */
  async dryRun(objects: DesiredObjects, options: ApplySetOptions = {}): Promise<SetPlan> {
    refuseUnknownOptions('Apply.dryRun', options, applySetOptionNames);
    return planSet(this.#parts, [...objects], { ...this.#options, ...options });
  }

  /** The owner of an object's set (`FindOwner`); undefined if the object names none, or the owner no longer exists. */
  async findOwner(
    object: KubeObject,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<KubeObject | undefined> {
    return this.#owner(object, this.#options.cache, options.signal);
  }

  /**
   * Deletes an object whose set has an owner that no longer exists (`PurgeOrphan`), unless it is a copy that only
   * carries the marks of the set. Resolves to whether it did.
   */
  async purgeOrphan(object: KubeObject, options: { readonly signal?: AbortSignal } = {}): Promise<boolean> {
    const identity = statedIdentity(object);
    if (identity === undefined || namedOwner(object) === undefined) return false;
    if ((await this.#owner(object, undefined, options.signal)) !== undefined) return false;
    const kind = this.#client.scheme.kindOf(object) ?? (await this.#client.mapper.kindFor(object));
    const { namespace, name } = object.metadata;
    const set = ownSet(identity, this.#options);
    return pruneMember(this.#client, { kind, namespace, name }, object, set, options.signal);
  }

  /**
   * Deletes objects of sets whose owner no longer exists: of all sets, or of those that the options select. For
   * deletions that no process observed. Resolves to the deleted objects.
   */
  async purgeOrphans(options: PurgeOrphansOptions = {}): Promise<readonly SetMember[]> {
    refuseUnknownOptions('Apply.purgeOrphans', options, purgeOrphansOptionNames);
    const { concurrency = 8, listerNamespace: namespace, fieldManager } = this.#options;
    const { signal } = options;
    const query = { concurrency, namespace, fieldManager, signal, log: this.#runtime.log, clock: this.#runtime.clock };
    return purgeOrphans(this.#client, query, options, (object) => this.#owner(object, undefined, signal));
  }

  /** Read from the server, since a deletion depends on it: a cache may be stale or incomplete. */
  async #owner(
    object: KubeObject,
    cache: ApplySetOptions['cache'],
    signal: AbortSignal | undefined,
  ): Promise<KubeObject | undefined> {
    const named = namedOwner(object);
    if (named === undefined) return undefined;
    const { gvk, namespace, name } = named;
    const kind = this.#client.scheme.kindFor(gvk) ?? (await this.#client.mapper.kindForGvk(gvk));
    const reader = cache?.holds(kind) ? cache : this.#client;
    return reader.find(kind, { ...(namespace === undefined ? {} : { namespace }), name }, { signal });
  }

  get #parts() {
    return { client: this.#client, used: this.#shared.used, runtime: this.#runtime };
  }

  async #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const { turns } = this.#shared;
    const turn = (turns.get(key) ?? Promise.resolve()).then(work, work);
    turns.set(key, turn);
    try {
      return await turn;
    } finally {
      if (turns.get(key) === turn) turns.delete(key);
    }
  }

  async #limit(key: string, isLast: boolean, { rateLimit, signal }: ApplySetOptions): Promise<void> {
    if (rateLimit === undefined) return;
    const { limiters } = this.#shared;
    if (isLast) {
      limiters.delete(key);
      return;
    }
    const { qps, burst = 10 } = rateLimit;
    const limiter = limiters.get(key) ?? tokenBucketRateLimiter(qps, burst, this.#runtime.clock);
    limiters.set(key, limiter);
    await limiter.wait({ signal });
  }
}
