import { isCacheSyncError } from '../../cache/informer/cache-sync-error.js';
import type { Change } from '../../cache/informer/change.js';
import type { ResourceEventHandler } from '../../cache/informer/resource-event-handler.js';
import { FailingObjects } from '../../cache/store/failing-objects.js';
import { isNoMatch } from '../../client/discovery/rest-mapper.js';
import { durationMs } from '../../object/duration.js';
import { clusterKey, splitKey, validKey } from '../../object/key.js';
import type { KubeObject } from '../../object/meta.js';
import { isNotFound, isUnexpectedServerError } from '../../rest/errors/error-guards.js';
import type { LogFields } from '../../runtime/log/logger.js';
import type { Runtime } from '../../runtime/runtime.js';
import { abortable, onAbort } from '../../runtime/signals.js';
import { failureFields, readableError } from '../loop/failure-fields.js';
import type { Cause, Request, RequestQueue } from '../loop/request.js';
import type { EventHandler } from './event-handler.js';
import type { Predicate } from './predicate.js';
import type { SourceFailures } from './source-failures.js';
import { withChange } from './with-change.js';

/** Not urgent: objects of the first list, and those that did not change. */
export const lowPriority = -100;

/** How long a call for one object may take before the objects behind it are handled beside it. */
const slowMs = 30_000;
/** The same while another call hangs: many that do so must not add up. */
const slowBesideOthersMs = 1_000;
/** A deleted object gets no newer version: it is given up after this many calls, within three minutes. */
const mostAttemptsWhenGone = 10;
/** A kind that is not served yet may come any time. */
const unservedRetryMs = 5_000;

/** The parts of a {@link ChangeIntake}. */
export interface ChangeIntakeParts<T extends KubeObject> {
  /** Of the source. */
  readonly name: string;
  /** Of the objects, for causes; undefined: each says its own. */
  readonly kind: string | undefined;
  readonly handler: EventHandler<T>;
  /** The handler's name in logs and health. @default 'handler' */
  readonly handlerName?: string;
  /** Puts an object itself in line once the handler works for it again. @default false */
  readonly enqueueRecovered?: boolean;
  readonly predicates: readonly Predicate<T>[];
  readonly cluster: string | undefined;
  readonly runtime: Runtime;
  /** Where failures are counted and shown. @default nowhere */
  readonly failures?: SourceFailures;
}

/** One object whose changes were not taken yet. */
interface Untaken<T extends KubeObject> {
  /** In order; see {@link withChange}. */
  changes: readonly Change<T>[];
  /** Changes that came while a call hangs. */
  later: readonly Change<T>[] | undefined;
  isUnserved: boolean;
}

/** Puts the keys into a queue that changes lead to, through predicates and a handler. */
export class ChangeIntake<T extends KubeObject> implements Pick<ResourceEventHandler<T>, 'onChange'> {
  #parts: ChangeIntakeParts<T>;
  readonly #queue: Pick<RequestQueue, 'add' | 'addAfter'>;
  readonly #signal: AbortSignal;
  readonly #onServed = new Set<() => void>();
  /** Made by the first failure. */
  #failing: FailingObjects<Untaken<T>> | undefined;
  /** Objects for which a kind is read that is not served. */
  #unserved = 0;
  /** The one of them that is retried most often. */
  #probe: string | undefined;
  /** Calls that hang. */
  #hanging = 0;
  /** Which function is being called. */
  #calling = '';

  /** Until the signal aborts. */
  constructor(parts: ChangeIntakeParts<T>, queue: Pick<RequestQueue, 'add' | 'addAfter'>, signal: AbortSignal) {
    this.#parts = parts;
    this.#queue = queue;
    this.#signal = signal;
  }

  /**
   * Passes a change to predicates and handler. If one of them fails for it, this is logged, others pass, and the object
   * is retried with backoff: with its newest state as soon as there is one, and not after its deletion. A handler that
   * takes longer than 30 seconds is no longer awaited.
   */
  onChange(change: Change<T>): void | Promise<void> {
    return this.handle(change);
  }

  /** As {@link onChange}; of the keys that the change leads to, those are enqueued that are admitted. @default all */
  handle(change: Change<T>, admits?: (key: Request) => boolean): void | Promise<void> {
    const { key } = change;
    const untaken = this.#failing?.get(key);
    if (untaken !== undefined) return this.#replace(change, untaken);
    let waiting: void | Promise<void>;
    try {
      waiting = this.#handle(change, admits);
    } catch (error) {
      this.#failed(key, [change], this.#calling, error);
      return;
    }
    if (waiting !== undefined) return this.#patiently(key, [change], waiting);
  }

  /** Continues with other functions: objects that the former ones failed for are retried at once. */
  adopt(functions: Pick<ChangeIntakeParts<T>, 'handler' | 'handlerName' | 'predicates'>): void {
    this.#parts = { ...this.#parts, ...functions };
    this.#failing?.retryAll();
  }

  /** Enqueues nothing any more. */
  silence(): void {
    this.#parts = { ...this.#parts, handler: () => {}, predicates: [() => false] };
    this.#failing?.clear();
    this.#parts.failures?.changed(this.#parts.name);
  }

  /** True while a predicate or handler cannot do its work as it reads a kind that the server does not serve yet. */
  get isWaiting(): boolean {
    return this.#unserved > 0;
  }

  /** Resolves when {@link isWaiting} is false; rejects with the signal's reason. */
  async served({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    while (this.isWaiting) {
      let notify = () => {};
      const served = new Promise<void>((resolve) => {
        notify = resolve;
      });
      this.#onServed.add(notify);
      try {
        await abortable(served, signal);
      } finally {
        this.#onServed.delete(notify);
      }
    }
  }

  /** A change of an object that fails: its newest state takes the place of the one that was to be retried. */
  #replace(change: Change<T>, untaken: Untaken<T>): void | Promise<void> {
    const { key } = change;
    if (untaken.later !== undefined) {
      untaken.later = withChange(untaken.later, change);
      return;
    }
    const changes = withChange(untaken.changes, change);
    if (changes.length > 0) return this.#call(key, changes, change.type !== 'Sync');
    this.#forget(key);
    const { name: source, runtime } = this.#parts;
    runtime.log.info('object is gone, gave up retrying', { ...this.#controller, source, key });
  }

  /** Hands out changes of an object that a call has failed for, in order. `isNewer`: not just the same ones again. */
  #call(key: string, changes: readonly Change<T>[], isNewer: boolean): void | Promise<void> {
    for (const [at, change] of changes.entries()) {
      let waiting: void | Promise<void>;
      try {
        waiting = this.#handle(change);
      } catch (error) {
        this.#failed(key, changes.slice(at), this.#calling, error, isNewer);
        // The name belongs to another object by now, which must not wait for this one.
        if (at < changes.length - 1) continue;
        return;
      }
      if (waiting !== undefined) return this.#patiently(key, changes.slice(at), waiting, isNewer);
    }
    this.#recovered(key);
  }

  /** Resolves when the handler has ended for the first of these changes, or when it is not waited for any longer. */
  #patiently(key: string, changes: readonly Change<T>[], waiting: Promise<void>, isNewer = false): Promise<void> {
    const { clock } = this.#parts.runtime;
    const startedMs = clock.monotonic();
    const untaken = this.#failing?.get(key);
    if (untaken !== undefined) untaken.later = [];
    return new Promise<void>((resolve) => {
      let isHanging = false;
      const afterMs = this.#hanging > 0 ? slowBesideOthersMs : slowMs;
      const hang = () => {
        isHanging = true;
        this.#hangs(key, changes, afterMs);
        resolve();
      };
      const patience = clock.after(afterMs, hang, { background: true });
      const ended = (failure?: { readonly error: unknown }) => {
        patience.cancel();
        if (isHanging) this.#returned(key, clock.monotonic() - startedMs);
        const rest = this.#ended(key, changes, failure, isNewer);
        if (rest === undefined) resolve();
        else void rest.then(resolve);
      };
      waiting.then(
        () => ended(),
        (error: unknown) => ended({ error }),
      );
    });
  }

  /** The call for the first of these changes has ended: the rest follows, and changes that came meanwhile. */
  #ended(
    key: string,
    changes: readonly Change<T>[],
    failure: { readonly error: unknown } | undefined,
    isNewer: boolean,
  ): void | Promise<void> {
    const untaken = this.#failing?.get(key);
    const later = untaken?.later ?? [];
    if (untaken !== undefined) untaken.later = undefined;
    if (failure === undefined) {
      const rest = [...changes.slice(1), ...later];
      return rest.length === 0 ? this.#recovered(key) : this.#call(key, rest, true);
    }
    if (later.length === 0) {
      this.#failed(key, changes, this.#handlerName, failure.error, isNewer);
      return changes.length > 1 ? this.#call(key, changes.slice(1), true) : undefined;
    }
    this.#parts.failures?.count(this.#parts.name, this.#handlerName);
    const all = later.reduce<readonly Change<T>[]>(withChange, changes);
    return all.length === 0 ? this.#forget(key) : this.#call(key, all, true);
  }

  /** From here on what comes of other objects passes. */
  #hangs(key: string, changes: readonly Change<T>[], afterMs: number): void {
    if (this.#signal.aborted) return;
    const { name: source, failures, runtime } = this.#parts;
    const func = this.#handlerName;
    const later = this.#failing?.get(key)?.later ?? [];
    const error = `has not returned for ${afterMs / 1000} s`;
    this.#hanging += 1;
    this.#note({ changes, later, isUnserved: false }, key, func, { error }, { retry: false });
    failures?.count(source, func);
    const fields = { ...this.#controller, source, function: func, key, afterMs };
    runtime.log.warn('handler has not returned, not waiting for it any longer', fields);
  }

  #returned(key: string, runMs: number): void {
    if (this.#signal.aborted) return;
    const { name: source, runtime } = this.#parts;
    this.#hanging -= 1;
    const fields = { ...this.#controller, source, function: this.#handlerName, key, afterMs: Math.round(runMs) };
    runtime.log.info('handler has returned', fields);
  }

  #failed(key: string, changes: readonly Change<T>[], func: string, thrown: unknown, isNewer = false): void {
    if (this.#signal.aborted) return;
    const { name: source, failures, runtime } = this.#parts;
    const error = readableError(thrown);
    const failed = failureFields(error);
    const isUnserved = isKindNotServed(error);
    const [change] = changes as readonly [Change<T>];
    const fields = { ...this.#controller, source, function: func, key, change: change.type };
    failures?.count(source, func);
    if (changes.length > 1) {
      const words = 'function failed for an object that another one has replaced, gave up';
      runtime.log.error(words, { ...fields, ...failed });
      return;
    }
    const wasWaiting = this.isWaiting;
    const untaken = { changes, later: undefined, isUnserved };
    // When the kind comes, one of them finds out, and the others follow.
    if (isUnserved) this.#probe ??= key;
    const longestMs = isUnserved && this.#probe === key ? unservedRetryMs : undefined;
    const { attempt, retryMs, isNews } = this.#note(untaken, key, func, failed, { isNewer, longestMs });
    if (change.type === 'Deleted' && attempt >= mostAttemptsWhenGone) {
      this.#forget(key);
      const words = 'function failed for an object that is gone, gave up';
      runtime.log.error(words, { ...fields, ...failed, attempt });
      return;
    }
    if (isUnserved) {
      const words = 'function reads a kind that the server does not serve yet, will be retried';
      if (wasWaiting) runtime.log.debug(words, { ...fields, attempt, error });
      else runtime.log.warn(words, { ...fields, attempt, error });
      return;
    }
    const words = 'function failed for one object, will be retried';
    const failing = this.#failing?.size ?? 1;
    const details = { ...fields, ...failed, attempt, retryMs, ...(failing > 1 && { failing }) };
    if (isNews) runtime.log.error(words, details);
    else runtime.log.debug(words, details);
  }

  #recovered(key: string): void {
    const untaken = this.#failing?.get(key);
    if (untaken === undefined) return;
    const { name: source, cluster, failures, runtime, enqueueRecovered } = this.#parts;
    this.#failing?.recovered(key);
    failures?.changed(source);
    if (enqueueRecovered) {
      const note = untaken.changes.map((change) => this.#causeOf(change));
      this.#queue.add(clusterKey({ ...splitKey(key), cluster }), { note });
    }
    if (untaken.isUnserved) this.#servedOne(key);
    else runtime.log.info('function works for the object again', { ...this.#controller, source, key });
  }

  #forget(key: string): void {
    const untaken = this.#failing?.get(key);
    if (untaken === undefined) return;
    this.#failing?.delete(key);
    this.#parts.failures?.changed(this.#parts.name);
    if (untaken.isUnserved) this.#servedOne(key);
  }

  #servedOne(key: string): void {
    this.#unserved -= 1;
    if (this.#probe === key) this.#probe = undefined;
    if (this.isWaiting) return;
    const { name: source, runtime } = this.#parts;
    runtime.log.info('function no longer waits for a kind', { ...this.#controller, source });
    for (const notify of this.#onServed) notify();
  }

  #note(
    untaken: Untaken<T>,
    key: string,
    func: string,
    { error, at }: LogFields,
    options: Parameters<FailingObjects<Untaken<T>>['add']>[3],
  ) {
    const failing = this.#failing ?? this.#begin();
    const failure = { key, function: func, error, ...(typeof at === 'string' && { at }) };
    const known = failing.get(key);
    const noted = failing.add(key, untaken, failure, options);
    this.#unserved += Number(untaken.isUnserved) - Number(known?.isUnserved === true);
    this.#parts.failures?.changed(this.#parts.name);
    return noted;
  }

  #begin(): FailingObjects<Untaken<T>> {
    const { name, cluster, failures, runtime } = this.#parts;
    const failing = new FailingObjects<Untaken<T>>(runtime, (key, { changes }) => this.#call(key, changes, false));
    this.#failing = failing;
    const causesOf = (key: string) => failing.get(key)?.changes.map((change) => this.#causeOf(change)) ?? [];
    const shown = failures?.add({ name, cluster, objects: failing, causesOf });
    onAbort(this.#signal, () => {
      failing.close();
      shown?.[Symbol.dispose]();
    });
    return failing;
  }

  get #handlerName(): string {
    return this.#parts.handlerName ?? 'handler';
  }

  get #controller(): { readonly controller?: string } {
    const { failures } = this.#parts;
    return failures === undefined ? {} : { controller: failures.controller };
  }

  #causeOf({ type, key, metadata, new: now, old }: Change<T>): Cause {
    const { name: source, kind, runtime } = this.#parts;
    const object = `${kind ?? (now ?? old)?.kind} ${key}`;
    const { resourceVersion } = metadata;
    return { source, change: type, object, resourceVersion, count: 1, atMs: runtime.clock.monotonic() };
  }

  #handle(change: Change<T>, admits?: (key: Request) => boolean): void | Promise<void> {
    const { name, kind, handler, predicates, cluster, runtime } = this.#parts;
    this.#calling = 'predicate';
    for (const predicate of predicates) if (!passes(predicate(change))) return;
    this.#calling = this.#handlerName;
    const { type, key, metadata } = change;
    const cause = {
      source: name,
      change: type,
      object: `${kind ?? (change.new ?? change.old)?.kind} ${key}`,
      resourceVersion: metadata.resourceVersion,
      count: 1,
      atMs: runtime.clock.monotonic(),
    };
    const priority = change.isInInitialList || type === 'Sync' ? lowPriority : 0;
    const refused: unknown[] = [];
    const waiting = handler(change, (request, given) => {
      const placed = cluster === undefined ? validKey(request) : clusterKey({ ...request, cluster });
      if (admits?.(placed) === false) return;
      const { priority: desired = priority, after } = given ?? {};
      const afterMs = after === undefined ? undefined : durationMs(after, 'enqueue: after');
      try {
        if (afterMs === undefined) this.#queue.add(placed, { note: [cause], priority: desired });
        else {
          const note = [{ ...cause, atMs: cause.atMs + afterMs }];
          this.#queue.addAfter(placed, afterMs, { note, priority: desired });
        }
      } catch (error) {
        // Other keys that the change leads to are not refused.
        refused.push(error);
      }
    });
    if (isPromise(waiting)) return waiting.then(() => refuse(refused));
    refuse(refused);
  }
}

function refuse(refused: readonly unknown[]): void {
  if (refused.length > 0) throw new Error('the queue refused a key', { cause: refused[0] });
}

/** A promise is truthy, whatever it resolves to: an async predicate is a mistake. */
function passes(answer: unknown): boolean {
  if (!isPromise(answer)) return Boolean(answer);
  answer.then(undefined, () => {});
  throw new TypeError('predicate must return true or false, got a promise; remove async');
}

function isPromise(given: unknown): given is Promise<void> {
  return typeof given === 'object' && given !== null && typeof (given as { then?: unknown }).then === 'function';
}

/** Whether something was read, from the cache or the server, whose kind the server does not have. */
function isKindNotServed(error: unknown): boolean {
  // For an object that is not there the answer is a Status.
  return isNoMatch(error) || (isNotFound(error) && (isCacheSyncError(error) || isUnexpectedServerError(error)));
}
