import { type Cache, tryCached } from '../../cache/cache.js';
import { notCached } from '../../cache/cache-reader.js';
import { delegatingClient } from '../../client/delegating-client.js';
import type { Client, Reader, WriteObject } from '../../client/interfaces.js';
import type { KubeClient } from '../../client/kube-client.js';
import { applyOperation } from '../../client/operation/apply-operation.js';
import { isWrite, type Operation } from '../../client/operation/operation.js';
import type { ApplyOptions, CallOptions } from '../../client/options.js';
import { intercept, withFieldOwner } from '../../client/wrappers.js';
import { isDeleting } from '../../object/finalizers.js';
import { builderOf, type KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { isConflict, isNotFound } from '../../rest/errors/error-guards.js';
import type { Runtime } from '../../runtime/runtime.js';
import { link } from '../../runtime/signals.js';
import { CallMemory } from '../calls/call-memory.js';
import { trackedClient, trackedReader } from '../calls/tracked-client.js';
import type { ActiveReconcile } from '../loop/active-reconcile.js';
import { type ReconcileRun, type Reconciler, reconcileFunction } from '../loop/reconciler.js';
import type { Result } from '../loop/result.js';
import { ObjectStatus } from '../status/object-status.js';
import { ReportedFailures } from '../status/reported-failures.js';
import { UndeclaredFieldError, UndeclaredFields } from '../status/undeclared-field-error.js';
import type { ControllerDefinition } from './controller-definition.js';
import { CleanedUp, defaultFinalizer, dropFinalizers, ensureFinalizer, LeftBehind } from './finalizing.js';
import { Pauses, type PausingRun } from './pausing.js';
import type { ReconcileEvent, StatusFields } from './reconcile-context.js';
import { UnwatchedKinds } from './unwatched-kinds.js';

/** How long it may take to say that a reconcile took too long. */
const lastWordMs = 5_000;

/** The parts of an applied object that are read here. */
type AppliedObject = WriteObject & {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
};

/** Options of `apply`, as reconcilers give them. */
type OwnedApplyOptions = Omit<ApplyOptions, 'ownedBy' | 'current'> & { readonly owned?: boolean };

/** The context of a reconciler; see `ReconcileContext`. */
interface DefinedContext<R extends KubeObject> extends ReconcileRun {
  readonly object: R | undefined;
  readonly client: Client;
  readonly apply: (desired: AppliedObject, options?: OwnedApplyOptions) => Promise<KubeObject>;
  readonly status: (fields: StatusFields<R>) => Promise<R>;
  readonly event: (event: ReconcileEvent) => void;
}

/** An API server that a controller works on. */
export interface ControllerPlace {
  /** Writes, and reads what the cache does not hold. */
  readonly client: KubeClient;
  readonly cache: Cache;
  /** Goes into the keys, where there are several clusters. @default none */
  readonly cluster?: string;
  /** Kinds that reconcilers read from the server, whatever the cache holds. @default none */
  readonly uncached?: readonly KindRef[];
  /** Where events go. @default nowhere */
  readonly recorder?: { event(object: KubeObject, event: ReconcileEvent): void };
}

/** The state between reconciles; in memory alone. */
export class ReconcilerMemory {
  readonly cleanedUp: CleanedUp;
  readonly failures: ReportedFailures;
  readonly calls: CallMemory;
  /** Names of the finalizer before the definition was replaced. */
  readonly formerFinalizers: ReadonlySet<string>;
  readonly undeclared = new UndeclaredFields();
  readonly unwatched: UnwatchedKinds;
  readonly leftBehind: LeftBehind;
  /** Undefined for a controller that cannot be paused. */
  readonly pauses: Pauses | undefined;

  readonly #finalizer: string | undefined;

  /** `before`: of the definition that this one replaces. */
  constructor(definition: ControllerDefinition, { metrics }: Pick<Runtime, 'metrics'>, before?: ReconcilerMemory) {
    const { name, kind, options, finalize } = definition;
    this.cleanedUp = before?.cleanedUp ?? new CleanedUp();
    this.failures = before?.failures ?? new ReportedFailures();
    this.calls = before?.calls ?? new CallMemory();
    if (options.pausable !== false) {
      const fieldManager = options.fieldManager ?? name;
      this.pauses = new Pauses(kind, { controller: name, fieldManager, metrics, known: before?.pauses });
    }
    this.unwatched = new UnwatchedKinds(definition);
    this.#finalizer = finalize?.name;
    const former = before === undefined ? [] : [...before.formerFinalizers, before.#finalizer];
    this.formerFinalizers = new Set(former.filter((each) => each !== undefined && each !== finalize?.name) as string[]);
    this.leftBehind = new LeftBehind([defaultFinalizer(kind, name), ...this.formerFinalizers]);
  }
}

/** Surrounds the user's reconciler: fetches the object, minds finalizers and status. */
export class DefinedReconciler<R extends KubeObject> {
  readonly #definition: ControllerDefinition<R>;
  readonly #cache: Cache;
  /** As it was given: applies name their field manager themselves. */
  readonly #place: KubeClient;
  readonly #client: KubeClient;
  readonly #runtime: Runtime;
  readonly #fieldManager: string;
  readonly #recorder: ControllerPlace['recorder'];
  readonly #uncached: ControllerPlace['uncached'];
  readonly #memory: ReconcilerMemory;
  #second = Number.NaN;
  #timeText = '';

  constructor(
    definition: ControllerDefinition<R>,
    { client, cache, recorder, uncached }: ControllerPlace,
    runtime: Runtime,
    memory = new ReconcilerMemory(definition as unknown as ControllerDefinition, runtime),
  ) {
    this.#definition = definition;
    this.#cache = cache;
    this.#runtime = runtime;
    this.#recorder = recorder;
    this.#uncached = uncached;
    this.#memory = memory;
    this.#fieldManager = definition.options.fieldManager ?? definition.name;
    this.#place = client;
    this.#client = withFieldOwner(client, this.#fieldManager);
  }

  reconcile(run: ActiveReconcile): Promise<Result> {
    const object = this.#cache[tryCached](this.#definition.kind, run.key);
    return object === notCached ? this.#findAndReconcile(run) : this.#reconcile(run, object);
  }

  async #findAndReconcile(run: ActiveReconcile): Promise<Result> {
    const { namespace, name } = run.key;
    const key = { namespace, name } as never;
    return this.#reconcile(run, await this.#cache.find(this.#definition.kind, key, { signal: run.innerSignal }));
  }

  async #reconcile(run: ActiveReconcile, found: R | undefined): Promise<Result> {
    const { kind, finalize, evenWhenGone } = this.#definition;
    const { pauses } = this.#memory;
    if (found === undefined) {
      pauses?.gone(run.key);
      this.#memory.cleanedUp.delete(run.key);
      this.#memory.failures.gone(run.key);
      return evenWhenGone ? await this.#call(run, undefined) : undefined;
    }
    const isFree = pauses === undefined || pauses.isFree(found);
    const object = isFree ? found : await pauses.release(found, this.#pausing(run));
    if (object === undefined) return undefined;
    if (finalize === undefined) {
      if (isDeleting(object)) this.#memory.leftBehind.look(object, run);
      return await this.#call(run, object);
    }
    const client = this.#clientFor(run);
    const { formerFinalizers } = this.#memory;
    if (!isDeleting(object)) {
      return this.#call(run, await ensureFinalizer(client, kind, object, finalize.name, formerFinalizers));
    }
    const isOwn = (name: string) => name === finalize.name || formerFinalizers.has(name);
    if (!object.metadata.finalizers?.some(isOwn)) return undefined;
    if (!this.#memory.cleanedUp.has(run.key, object)) {
      const result = await this.#call(run, object, finalize.run as unknown as Reconciler<never>);
      // A clean-up that requeues is not done yet.
      if (result !== undefined) return result;
      this.#memory.cleanedUp.add(run.key, object);
    }
    await dropFinalizers(client, kind, object, isOwn);
    this.#memory.cleanedUp.delete(run.key);
    return undefined;
  }

  async #call(run: ActiveReconcile, object: R | undefined, reconciler = this.#definition.reconciler): Promise<Result> {
    const status = object === undefined ? undefined : this.#statusOf(object, run);
    const context = this.#contextOf(run, object, status) as never;
    try {
      const result = await reconcileFunction(reconciler as unknown as Reconciler<never>)(context);
      if (run.hasOpenCalls) await run.calls.settle();
      if (reconciler === this.#definition.reconciler) await status?.succeeded();
      return result;
    } catch (error) {
      if (!run.wasStopped && object !== undefined && (await this.#isGone(object, error))) {
        run.log.debug('the object was deleted meanwhile, nothing to do', { error });
        return undefined;
      }
      // A conflict is no failure of the object: the next try sees the newest state.
      if (!run.wasStopped && !isConflict(error)) await this.#reportFailure(status, error, run);
      throw error;
    }
  }

  /**
   * Reconcilers take functions out of the context and spread it into objects of their own, so all of it are own properties
   * that need no `this`; rarely used parts are created on first use.
   */
  #contextOf(run: ActiveReconcile, object: R | undefined, status: ObjectStatus<R> | undefined): DefinedContext<R> {
    const clientFor = () => this.#delegatingFor(run);
    let client: Client | undefined;
    return {
      key: run.key,
      attempt: run.attempt,
      priority: run.priority,
      reasons: run.reasons,
      clock: run.clock,
      span: run.span,
      object,
      get reconcileID() {
        return run.reconcileID;
      },
      get signal() {
        return run.signal;
      },
      get log() {
        return run.log;
      },
      get client() {
        client ??= clientFor();
        return client;
      },
      apply: (desired, options = noOptions) =>
        run.calls.track(() => this.#apply(desired, options, object, run), { verb: 'apply', args: [desired] }),
      status: (fields) => run.calls.track(() => written(status, fields), { verb: 'status', args: [object] }),
      event: (event) => {
        if (object !== undefined) this.#recorder?.event(object, event);
      },
    };
  }

  /**
   * Whether a failure is due to the deletion of the object itself. The cache may not know yet, so this reads from the
   * server.
   */
  async #isGone(object: R, error: unknown): Promise<boolean> {
    if (!isNotFound(error)) return false;
    const { namespace, name, uid } = object.metadata;
    const stored = await this.#client.find(this.#definition.kind, { namespace, name } as never).catch(() => object);
    return stored?.metadata.uid !== uid;
  }

  #statusOf(object: R, run: ActiveReconcile): ObjectStatus<R> {
    const { kind } = this.#definition;
    const { failures, undeclared } = this.#memory;
    return new ObjectStatus<R>(object, {
      ...{ kind, fieldManager: this.#fieldManager, now: this.#time, key: run.key, failures, undeclared },
      apply: (operation) => this.#applied(operation, run),
    });
  }

  /** Written again once a second. */
  readonly #time = (): string => {
    const second = Math.floor(this.#runtime.clock.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#timeText = new Date(second * 1000).toISOString().replace('.000Z', 'Z');
    }
    return this.#timeText;
  };

  async #reportFailure(status: ObjectStatus<R> | undefined, error: unknown, run: ActiveReconcile): Promise<void> {
    // Its own signal has aborted when its time is over.
    const { clock } = this.#runtime;
    using moment = run.isTimedOut ? link({ timeoutMs: lastWordMs, clock, what: 'the last word' }) : undefined;
    const own = `for ${this.#definition.kind.kind}`;
    const isEcho = run.reasons.some(({ source, change }) => source === own && change === 'Updated');
    try {
      await status?.failed(error, { isEcho, signal: moment?.signal });
    } catch (failure) {
      // Each further try is reported by its own failure.
      const isKnown = failure instanceof UndeclaredFieldError && failure.isKnown;
      const level = run.attempt === 1 && !isKnown ? 'warn' : 'debug';
      run.log[level]('cannot report the failure in the status', { error: failure });
    }
  }

  /** Implements `ReconcileContext.apply`; may throw. */
  #apply(
    object: AppliedObject,
    options: OwnedApplyOptions,
    owner: R | undefined,
    run: ActiveReconcile,
  ): Promise<KubeObject> {
    const { owned = true, ...rest } = options;
    if (owned && owner === undefined) {
      throw new TypeError('apply: the reconciled object is gone, so it cannot own others; pass { owned: false }');
    }
    const kind = builderOf(object);
    const place = object.metadata.namespace ?? owner?.metadata.namespace;
    const { name } = object.metadata;
    const asked = { force: true, fieldManager: this.#fieldManager, ...rest, ...(owned && { ownedBy: owner }) };
    if (kind === undefined) return this.#clientFor(run).apply(object as never, asked) as Promise<KubeObject>;
    if (owned) this.#memory.unwatched.applied(kind, () => run.log);
    const current =
      name === undefined || kind.projection !== undefined
        ? undefined
        : this.#cache[tryCached](kind, { name, namespace: kind.scope === 'Namespaced' ? place : undefined });
    // An owner gives the namespace anyway.
    const isPlaced = owned || kind.scope !== 'Namespaced' || object.metadata.namespace !== undefined;
    const placed = isPlaced ? object : { ...object, metadata: { ...object.metadata, namespace: place } };
    if (current === notCached) return this.#applySlowly(kind, placed, asked, { name, namespace: place }, run);
    return this.#applied(applyOperation(kind, placed, { ...asked, current }), run);
  }

  /** The cache may take a moment; a kind that it does not hold is applied without comparing. */
  async #applySlowly(
    kind: KindRef,
    object: AppliedObject,
    options: ApplyOptions,
    { name, namespace }: { readonly name: string | undefined; readonly namespace: string | undefined },
    run: ActiveReconcile,
  ): Promise<KubeObject> {
    const key = { name, namespace: kind.scope === 'Namespaced' ? namespace : undefined } as never;
    const current = this.#cache.holds(kind) ? await this.#cache.find(kind, key) : undefined;
    return await this.#applied(applyOperation(kind, object, { ...options, current }), run);
  }

  async #applied(given: Operation<'patch'>, run: ActiveReconcile): Promise<KubeObject> {
    const { signal = run.innerSignal, span = run.span } = given;
    // Like objects in the cache: frozen, and without managedFields.
    const operation = { ...given, signal, span, cutManagedFields: true, freezeAnswer: true };
    const answer = await this.#place.run(operation);
    // The client answers a no-op apply with the current object.
    if (answer !== operation.current) noteWrite(run, operation, answer);
    return answer;
  }

  #pausing(run: ActiveReconcile): PausingRun {
    return {
      ...{ key: run.key, log: run.log, now: this.#time },
      apply: (operation) => this.#applied(operation, run),
      event: (object, event) => this.#recorder?.event(object, event),
    };
  }

  /** Implements `ReconcileContext.client`. */
  #delegatingFor(run: ActiveReconcile): Client {
    return delegatingClient({
      cacheReader: this.#readerFor(run),
      client: trackedClient(this.#clientFor(run), run.calls.track),
      uncached: this.#uncached,
    });
  }

  /** Kinds outside the cache are read from the server: that ends with the reconcile, too, and is part of its span. */
  #readerFor(run: ActiveReconcile): Reader {
    const bound = <T extends CallOptions>(options: T | undefined) => ({
      ...(options as T),
      signal: options?.signal ?? run.innerSignal,
      span: options?.span ?? run.span,
    });
    return trackedReader(this.#cache, run.calls.track, bound);
  }

  /** The writer of one reconcile: ends with it, and records its writes. */
  #clientFor(run: ActiveReconcile): KubeClient {
    return intercept(this.#client, async (operation, next) => {
      const { signal = run.innerSignal, span = run.span } = operation;
      const bound = { ...operation, signal, span };
      const answer = await next(bound);
      // An apply that would change nothing is answered with what is there.
      const isSkipped = operation.current !== undefined && answer === operation.current;
      if (isWrite(operation.verb) && !isSkipped) noteWrite(run, operation, answer);
      return answer;
    });
  }
}

/** Has `explain` show a write. */
export function noteWrite(
  run: ActiveReconcile,
  { verb, kind, namespace, name, subresource }: Operation,
  answer: unknown,
): void {
  const stored = (answer as Partial<KubeObject> | undefined)?.metadata;
  const resourceVersion = stored?.resourceVersion;
  run.wrote({ verb, kind: kind.kind, namespace, name: name ?? stored?.name ?? '', subresource, resourceVersion });
}

const noOptions: OwnedApplyOptions = Object.freeze({});

async function written<R extends KubeObject>(status: ObjectStatus<R> | undefined, fields: StatusFields<R>): Promise<R> {
  if (status === undefined) throw new TypeError('status: the object is gone, so it has no status');
  return await status.say(fields);
}
