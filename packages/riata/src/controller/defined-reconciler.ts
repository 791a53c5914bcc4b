import type { Cache } from '../cache/cache.js';
import { delegatingClient } from '../client/delegating-client.js';
import type { Client, Reader } from '../client/interfaces.js';
import type { KubeClient } from '../client/kube-client.js';
import { isWrite, type Operation, type Verb } from '../client/operation.js';
import { intercept, withFieldOwner } from '../client/wrappers.js';
import { isDeleting } from '../object/finalizers.js';
import { formatKey } from '../object/key.js';
import { builderOf, type Kind, type KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { isConflict, isNotFound } from '../rest/error-guards.js';
import type { Runtime } from '../runtime/runtime.js';
import { isStopReason } from '../runtime/stop-reasons.js';
import type { ActiveReconcile } from './active-reconcile.js';
import type { ControllerDefinition } from './definition.js';
import { ensureFinalizer, liftFinalizer } from './finalizing.js';
import { ObjectStatus } from './object-status.js';
import type { OwnedApply, ReconcileContext, ReconcileEvent, StatusFields } from './reconcile-context.js';
import { type Reconciler, reconcileWith } from './reconciler.js';
import type { Result } from './result.js';

/** An API server that a controller works on. */
export interface ControllerPlace {
  /** Writes, and reads what the cache does not hold. */
  readonly client: KubeClient;
  readonly cache: Cache;
  /** Goes into the keys, where there are several clusters. @default none */
  readonly cluster?: string;
  /** Where events go. @default nowhere */
  readonly recorder?: { event(object: KubeObject, event: ReconcileEvent): void };
}

/** Surrounds the user's reconciler: fetches the object, minds finalizers and status. */
export class DefinedReconciler<R extends KubeObject> {
  readonly #definition: ControllerDefinition<R>;
  readonly #cache: Cache;
  readonly #client: KubeClient;
  readonly #runtime: Runtime;
  readonly #fieldManager: string;
  readonly #recorder: ControllerPlace['recorder'];
  #second = Number.NaN;
  #timeText = '';

  constructor(definition: ControllerDefinition<R>, { client, cache, recorder }: ControllerPlace, runtime: Runtime) {
    this.#definition = definition;
    this.#cache = cache;
    this.#runtime = runtime;
    this.#recorder = recorder;
    this.#fieldManager = definition.options.fieldManager ?? definition.name;
    this.#client = withFieldOwner(client, this.#fieldManager);
  }

  async reconcile(run: ActiveReconcile): Promise<Result> {
    const { kind, finalize, evenWhenGone } = this.#definition;
    const client = this.#clientFor(run);
    const { namespace, name } = run.key;
    const object = await this.#cache.find(kind, { namespace, name } as never, { signal: run.innerSignal });
    if (object === undefined) return evenWhenGone ? this.#call(run, client, undefined) : undefined;
    if (finalize === undefined) return this.#call(run, client, object);
    if (!isDeleting(object)) {
      return this.#call(run, client, await ensureFinalizer(client, kind, object, finalize.name));
    }
    if (!object.metadata.finalizers?.includes(finalize.name)) return undefined;
    const result = await this.#call(run, client, object, finalize.run as unknown as Reconciler<never>);
    // Whoever wants to come back is not done yet.
    if (result === undefined) await liftFinalizer(client, kind, object, finalize.name);
    return result;
  }

  async #call(
    run: ActiveReconcile,
    client: Client,
    object: R | undefined,
    reconciler = this.#definition.reconciler,
  ): Promise<Result> {
    const status = this.#statusOf(object, client);
    const apply = this.#applyFor(object, client);
    const cacheReader: Reader = this.#cache;
    let delegating: Client | undefined;
    const context: ReconcileContext<R, R | undefined> = {
      key: run.key,
      reconcileID: run.reconcileID,
      attempt: run.attempt,
      priority: run.priority,
      reasons: run.reasons,
      clock: run.clock,
      object,
      get signal() {
        return run.signal;
      },
      get log() {
        return run.log;
      },
      // Most reconcilers apply and say, and ask for nothing else.
      get client() {
        delegating ??= delegatingClient({ cacheReader, client });
        return delegating;
      },
      apply: (wanted, options) => run.track(apply(wanted as never, options as never)) as never,
      status: (fields) => run.track(this.#say(status, fields)),
      event: (event) => {
        if (object !== undefined) this.#recorder?.event(object, event);
      },
    };
    try {
      const result = await reconcileWith(reconciler as unknown as Reconciler<typeof context>, context);
      await run.tracked();
      if (reconciler === this.#definition.reconciler) await status?.succeeded();
      return result;
    } catch (error) {
      const wasStopped = run.innerSignal.aborted && isStopReason(run.innerSignal.reason);
      if (!wasStopped && object !== undefined && (await this.#isGone(object, error))) {
        run.log.debug('the object was deleted meanwhile: nothing more to do', { error });
        return undefined;
      }
      // A conflict is no failure of the object: the next try sees the newest state.
      if (!wasStopped && !isConflict(error)) await this.#tellFailure(status, error, run);
      throw error;
    }
  }

  /** Whether a failure comes of the object itself being no more. The cache may not know yet, so the server is asked. */
  async #isGone(object: R, error: unknown): Promise<boolean> {
    if (!isNotFound(error)) return false;
    const { namespace, name, uid } = object.metadata;
    const stored = await this.#client.find(this.#definition.kind, { namespace, name } as never).catch(() => object);
    return stored?.metadata.uid !== uid;
  }

  #statusOf(object: R | undefined, client: Client): ObjectStatus<R> | undefined {
    if (object === undefined) return undefined;
    const { kind } = this.#definition;
    return new ObjectStatus<R>(object, { kind, client, fieldManager: this.#fieldManager, now: this.#time });
  }

  /** Written anew once a second. */
  readonly #time = (): string => {
    const second = Math.floor(this.#runtime.clock.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#timeText = new Date(second * 1000).toISOString().replace('.000Z', 'Z');
    }
    return this.#timeText;
  };

  async #say(status: ObjectStatus<R> | undefined, fields: StatusFields<R>): Promise<R> {
    if (status === undefined) throw new TypeError('status: the object is gone, so there is nothing to say of it');
    return status.say(fields);
  }

  async #tellFailure(status: ObjectStatus<R> | undefined, error: unknown, { log }: ActiveReconcile): Promise<void> {
    try {
      await status?.failed(error);
    } catch (failure) {
      log.warn('the status could not be told of the failure', { error: failure });
    }
  }

  #applyFor(owner: R | undefined, client: Client): OwnedApply<R> {
    return async (object, options = {}) => {
      const { owned = true, ...rest } = options;
      const written = object as unknown as {
        readonly metadata: { readonly name?: string; readonly namespace?: string };
      };
      if (owned && owner === undefined) {
        throw new TypeError('apply: the reconciled object is gone, so it can own nothing; say { owned: false }');
      }
      const kind = builderOf(object as unknown as object);
      const current = kind && (await this.#currentOf(kind, written.metadata, owner));
      const place = owner?.metadata.namespace;
      // An owner gives the namespace anyway.
      const isPlaced = owned || kind?.scope !== 'Namespaced' || written.metadata.namespace !== undefined;
      const placed = isPlaced
        ? object
        : (kind as Kind)({ ...written, metadata: { namespace: place, ...written.metadata } });
      return client.apply(placed as never, {
        ...{ force: true, fieldManager: this.#fieldManager },
        ...rest,
        ...(owned && { ownedBy: owner }),
        ...(current && { current: current as never }),
      });
    };
  }

  /** What the cache has of it; a kind that it does not hold is applied without looking. */
  async #currentOf(
    kind: KindRef,
    { name, namespace }: { readonly name?: string; readonly namespace?: string },
    owner: R | undefined,
  ): Promise<KubeObject | undefined> {
    if (name === undefined || kind.projection !== undefined || !this.#cache.holds(kind)) return undefined;
    const place = kind.scope === 'Namespaced' ? (namespace ?? owner?.metadata.namespace) : undefined;
    return this.#cache.find(kind, { name, namespace: place } as never);
  }

  /** What one reconcile writes with: ends with it, and tells it what was written. */
  #clientFor(run: ActiveReconcile): Client {
    return intercept(this.#client, async (operation, next) => {
      const bound = operation.signal === undefined ? { ...operation, signal: run.innerSignal } : operation;
      const answer = await run.track(next(bound));
      // An apply that would change nothing is answered with what is there.
      const isSkipped = operation.current !== undefined && answer === operation.current;
      if (isWrite(operation.verb) && !isSkipped) run.wrote(describeWrite(operation, answer));
      return answer;
    });
  }
}

function describeWrite<V extends Verb>({ verb, kind, namespace, name, subresource }: Operation<V>, answer: unknown) {
  const stored = (answer as Partial<KubeObject> | undefined)?.metadata;
  const key = formatKey({ namespace, name: name ?? stored?.name ?? '' });
  return {
    verb,
    object: `${kind.kind} ${key}${subresource === undefined ? '' : `/${subresource}`}`,
    ...(stored?.resourceVersion && { resourceVersion: stored.resourceVersion }),
  };
}
