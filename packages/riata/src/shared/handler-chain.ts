import type { ConnectedClient } from '../client/create-client.js';
import { trackedClient } from '../controller/calls/tracked-client.js';
import { noteWrite } from '../controller/define/defined-reconciler.js';
import type { ActiveReconcile } from '../controller/loop/active-reconcile.js';
import { failureFields } from '../controller/loop/failure-fields.js';
import type { Result } from '../controller/loop/result.js';
import { isTerminalError, TerminalError } from '../controller/loop/terminal-error.js';
import type { FailingSourceObject } from '../controller/source/source-failures.js';
import { formatKey } from '../object/key.js';
import type { KubeObject } from '../object/meta.js';
import { freeze } from '../object/value/freeze.js';
import { isConflict } from '../rest/errors/error-guards.js';
import { describeError } from '../runtime/log/describe-error.js';
import { link } from '../runtime/signals.js';
import type { Scheduler } from '../runtime/time/clock.js';
import { ChainEntry } from './chain-entry.js';
import { FinalizerGuard } from './finalizer-guard.js';
import type { HandlerMetrics } from './handler-metrics.js';
import { type FailedHandler, HandlersError } from './handlers-error.js';
import { isIgnoreError, objectOfError } from './ignore-error.js';
import { KindClient } from './kind-client.js';
import type { HandlerRegistration, SharedControllerHandler } from './shared-controller-handler.js';

/** Which handlers a retry runs: those that failed, or, as lasso does, all of them. */
export type RetryMode = 'failed' | 'all';

/** The parts of a {@link HandlerChain}. */
export interface HandlerChainParts<R extends KubeObject> {
  readonly client: KindClient<R>;
  /** Reports the writes of handlers, for `explain`. */
  readonly connection?: Pick<ConnectedClient, 'onWrite'>;
  /** The newest object that is known. */
  readonly read: (key: string, signal: AbortSignal) => Promise<R | undefined>;
  readonly retry: RetryMode;
  readonly metrics: HandlerMetrics;
  readonly clock: Scheduler;
}

/** The version a handler failed for; undefined if the object was gone. */
type Seen = string | undefined;

/** Reasons of runs that the chain itself caused. */
const retryReasons: ReadonlySet<string> = new Set(['retry', 'requeue']);

/**
 * Runs the handlers of one kind one after the other for each key (`SharedHandler`). All run even if one fails; each gets
 * the object that the one before returned.
 */
export class HandlerChain<R extends KubeObject> {
  /** In order of registration. Copy-on-write, so that a run iterates over a snapshot. */
  #entries: readonly ChainEntry<R>[] = [];
  /** By key: the handlers that failed in the last run, and the version they failed for. `'all'`: the run was aborted. */
  readonly #failed = new Map<string, ReadonlyMap<ChainEntry<R>, Seen> | 'all'>();
  /** By key, until a run succeeds: for health. */
  readonly #failing = new Map<string, FailingKey<R>>();
  readonly #parts: HandlerChainParts<R>;
  readonly #guard: FinalizerGuard;

  constructor(parts: HandlerChainParts<R>) {
    this.#parts = parts;
    this.#guard = new FinalizerGuard(parts.clock);
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Names, in the order in which they run. */
  get handlers(): readonly string[] {
    return this.#entries.map(({ name }) => name);
  }

  /** Objects that handlers fail for, those that began to fail first coming first. */
  failing(most = 100): readonly FailingSourceObject[] {
    const nowMs = this.#parts.clock.monotonic();
    const list: FailingSourceObject[] = [];
    for (const [key, { failed, attempts, sinceMs }] of this.#failing) {
      for (const { entry, handler, error } of failed) {
        if (list.length === most) return list;
        if (entry.isRemoved) continue;
        const { at } = failureFields(error);
        list.push({
          ...{ source: 'handlers', function: `handler "${handler}"`, key, attempts, failingMs: nowMs - sinceMs },
          ...{ error: describeError(error), ...(typeof at === 'string' && { at }) },
        });
      }
    }
    return list;
  }

  add(name: string, handler: SharedControllerHandler<R>, signal?: AbortSignal): HandlerRegistration {
    const entry = new ChainEntry(name, handler, (removed) => {
      this.#entries = this.#entries.filter((other) => other !== removed);
    });
    this.#entries = [...this.#entries, entry];
    return entry.until(signal);
  }

  /** Runs the handlers on one key. Throws a {@link HandlersError} if some have failed. */
  async run(run: ActiveReconcile): Promise<Result> {
    const key = formatKey(run.key);
    let failed: readonly Failure<R>[];
    try {
      const given = await this.#parts.read(key, run.signal);
      if (this.#guard.isStale(given)) {
        run.log.debug('object has no finalizers left, waiting for its deletion');
        return { requeueAfter: '10s' };
      }
      failed = await this.#runOn(key, given, run);
    } catch (error) {
      this.#failed.set(key, 'all');
      throw error;
    }
    return this.#conclude(key, failed);
  }

  async #runOn(key: string, given: R | undefined, run: ActiveReconcile): Promise<readonly Failure<R>[]> {
    const again = this.#toRunAgain(key, given, run);
    const failed: Failure<R>[] = [];
    let object = given;
    let isReturned = false;
    for (const [index, entry] of (again ?? this.#entries).entries()) {
      run.signal.throwIfAborted();
      if (entry.isRemoved) continue;
      // The handlers in between, which might have returned a newer object, do not run.
      if (again !== undefined && index > 0 && !isReturned) object = await this.#parts.read(key, run.signal);
      const outcome = await this.#call(entry, key, object, run);
      if ('error' in outcome) {
        failed.push({
          entry,
          handler: entry.name,
          error: outcome.error,
          seen: object?.metadata.resourceVersion,
        });
      }
      if (outcome.object?.metadata?.uid) {
        object = freeze(outcome.object);
        isReturned = true;
      }
    }
    run.signal.throwIfAborted();
    this.#guard.left(object);
    return failed;
  }

  /** The handlers that failed, if this run is for them alone; undefined: all. */
  #toRunAgain(key: string, given: R | undefined, { reasons }: ActiveReconcile): readonly ChainEntry<R>[] | undefined {
    if (reasons.length === 0) return undefined;
    // The guard waited for the deletion, whose own event calls the handlers.
    if (given === undefined && reasons.every(({ source }) => source === 'requeueAfter')) return [];
    if (this.#parts.retry === 'all' || !reasons.every(({ source }) => retryReasons.has(source))) return undefined;
    const failed = this.#failed.get(key);
    if (failed === 'all') return undefined;
    const current = given?.metadata.resourceVersion;
    // With none, a run in between has succeeded.
    for (const seen of failed?.values() ?? []) if (seen !== current) return undefined;
    return this.#entries.filter((entry) => failed?.has(entry));
  }

  async #call(entry: ChainEntry<R>, key: string, object: R | undefined, run: ActiveReconcile): Promise<Outcome<R>> {
    const { client, clock, connection, metrics } = this.#parts;
    using lifetime = link(run.signal, entry.signal);
    const { signal } = lifetime;
    using _ = connection?.onWrite((write) => 'answer' in write && noteWrite(run, write.operation, write.answer), {
      under: signal,
    });
    const started = metrics.enabled ? clock.monotonic() : 0;
    const log = run.log.child({ handler: entry.name });
    const calls = run.callsOf('handler', { log });
    const bound = client.boundTo(signal);
    const context = {
      ...{ signal, clock, reasons: run.reasons, attempt: run.attempt, log },
      client: new KindClient(bound.kind, trackedClient(bound.client, calls.track)),
    };
    let outcome: Outcome<R>;
    try {
      outcome = { object: (await entry.call(key, object, context)) ?? undefined };
      if (calls.isOpen) await calls.settle();
    } catch (error) {
      const brought = objectOfError(error) as R | undefined;
      // A handler that was removed meanwhile is not retried.
      const isOver = isIgnoreError(error) || (entry.isRemoved && !run.signal.aborted);
      outcome = isOver ? { object: brought } : { object: brought, error };
    }
    if (calls.isPending) await calls.drain();
    calls.end();
    metrics.ended(entry.name, 'error' in outcome, metrics.enabled ? clock.monotonic() - started : 0);
    return outcome;
  }

  #conclude(key: string, failed: readonly Failure<R>[]): Result {
    const retried = failed.filter(({ error }) => !isTerminalError(error));
    this.#note(key, failed);
    if (retried.length === 0) this.#failed.delete(key);
    else this.#failed.set(key, new Map(retried.map(({ entry, seen }) => [entry, seen])));
    if (failed.length === 0) return undefined;
    // A conflict is no failure: the retry sees the newer object.
    if (failed.every(({ error }) => isConflict(error))) return { requeue: true };
    const error = new HandlersError(failed.map(({ handler, error }) => ({ handler, error })));
    throw retried.length === 0 ? new TerminalError(error.message, { cause: error }) : error;
  }

  /** Conflicts are no failures: the next run sees the newer object. */
  #note(key: string, failed: readonly Failure<R>[]): void {
    const shown = failed.filter(({ error }) => !isConflict(error));
    const known = this.#failing.get(key);
    if (shown.length === 0) {
      if (known !== undefined) this.#failing.delete(key);
      return;
    }
    const { attempts = 0, sinceMs = this.#parts.clock.monotonic() } = known ?? {};
    this.#failing.set(key, { failed: shown, attempts: attempts + 1, sinceMs });
  }
}

/** The failed runs of one key, in a row. */
interface FailingKey<R extends KubeObject> {
  readonly failed: readonly Failure<R>[];
  readonly attempts: number;
  readonly sinceMs: number;
}

interface Outcome<R> {
  readonly object: R | undefined;
  readonly error?: unknown;
}

interface Failure<R extends KubeObject> extends FailedHandler {
  readonly entry: ChainEntry<R>;
  readonly seen: Seen;
}
