import type { KubeObject } from '../../object/meta.js';
import { link } from '../../runtime/signals.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { SlicedWork } from '../../runtime/time/sliced-work.js';
import type { StoreSnapshot } from '../store/informer-store.js';
import { type Change, StoredChange } from './change.js';
import { DeletedFinalStateUnknown } from './deleted-final-state-unknown.js';
import { explainHandlerError, type HandlerErrorFunc } from './handler-error.js';
import { PendingChanges } from './pending-changes.js';
import type { EventHandlerRegistration, ResourceEventHandler } from './resource-event-handler.js';
import { SyncedFlag } from './synced-flag.js';

/** What a listener needs of its informer. */
export interface Upstream {
  readonly name: string;
  readonly clock: Scheduler;
  readonly onHandlerError: HandlerErrorFunc;
  hasSynced(): boolean;
  synced(options: { readonly signal?: AbortSignal }): Promise<void>;
}

/** How a listener is doing, at the moment it was asked. */
export interface EventHandlerHealth {
  readonly name: string;
  readonly synced: boolean;
  /** Changes that wait for it. */
  readonly pending: number;
  /** Changes that went into others since it was too slow. */
  readonly coalesced: number;
  /** How often it failed. */
  readonly failures: number;
  /** The call that has returned a promise which is not settled yet: everything `pending` waits for it. */
  readonly call?: { readonly key: string; readonly runningMs: number };
}

export interface ListenerOptions<T extends KubeObject> {
  readonly name: string;
  readonly bufferSize: number;
  /** The stored objects: delivered first, as additions. */
  readonly initial?: StoreSnapshot<T>;
  /** Called once, when it is removed or its informer has stopped. */
  readonly onClose?: () => void;
}

/**
 * One handler of an informer (`processorListener`): calls it directly while it keeps up, and keeps what it has to wait for.
 */
export class EventListener<T extends KubeObject> implements EventHandlerRegistration {
  readonly name: string;
  /** Whether it receives objects that did not change. Set by the resync. */
  isResyncing = false;
  readonly #handler: ResourceEventHandler<T>;
  readonly #upstream: Upstream;
  readonly #onClose: (() => void) | undefined;
  readonly #pending: PendingChanges<T>;
  #initial: StoreSnapshot<T> | undefined;
  /** How much of it was delivered. */
  #initialAt = 0;
  /** 1 while the handler works on what is part of the initial list. */
  #initialUnderway = 0;
  /** While it drains: every new change has to wait. */
  #draining: Promise<void> | undefined;
  /** Aborts when no further calls will be made. */
  readonly #closed = new AbortController();
  readonly #delivered = new SyncedFlag();
  #failures = 0;
  #running: { readonly key: string; readonly sinceMs: number } | undefined;

  constructor(handler: ResourceEventHandler<T>, upstream: Upstream, options: ListenerOptions<T>) {
    const { name, bufferSize, initial, onClose } = options;
    if (!(bufferSize >= 1)) throw new RangeError(`handler "${name}": bufferSize must be ≥ 1, got ${bufferSize}`);
    this.name = name;
    this.#handler = handler;
    this.#upstream = upstream;
    this.#onClose = onClose;
    this.#pending = new PendingChanges(bufferSize);
    this.#initial = initial;
    // Not at once: the caller of addEventHandler needs the registration before the first call.
    if (initial !== undefined && initial.keys.length > 0) this.#draining = this.#drain(upstream.clock.yield());
  }

  get health(): EventHandlerHealth {
    const { size, coalesced } = this.#pending;
    return {
      name: this.name,
      synced: this.hasSynced(),
      pending: size + this.#initialLeft,
      coalesced,
      failures: this.#failures,
      ...(this.#running && {
        call: { key: this.#running.key, runningMs: this.#upstream.clock.monotonic() - this.#running.sinceMs },
      }),
    };
  }

  belongsTo(upstream: Upstream): boolean {
    return this.#upstream === upstream;
  }

  /** Calls the handler, now or when it is free. */
  add(change: StoredChange<T>): void {
    if (this.#closed.signal.aborted) return;
    if (this.#draining !== undefined) {
      this.#pending.push(change);
      return;
    }
    const call = this.#call(change);
    if (call === undefined) return;
    if (change.isInInitialList) this.#initialUnderway = 1;
    this.#draining = this.#drain(call, change);
  }

  hasSynced(): boolean {
    if (!this.#delivered.raised && this.#upstream.hasSynced() && this.#isInitialDelivered) {
      if (!this.#closed.signal.aborted) this.#delivered.raise();
    }
    return this.#delivered.raised;
  }

  async synced({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (this.hasSynced()) return;
    using either = link(signal, this.#closed.signal);
    await this.#upstream.synced({ signal: either.signal });
    if (!this.hasSynced()) await this.#delivered.wait(either.signal);
  }

  remove(): Promise<void> {
    this.close(new Error(`handler "${this.name}" of informer "${this.#upstream.name}" was removed`));
    return this.#draining ?? Promise.resolve();
  }

  /** No further calls: who waits for it to be synced gets the reason. Resolves when the last call is done. */
  close(reason: unknown): Promise<void> {
    if (!this.#closed.signal.aborted) {
      this.#closed.abort(reason);
      this.#pending.clear();
      this.#initial = undefined;
      this.#onClose?.();
    }
    return this.#draining ?? Promise.resolve();
  }

  /** Waits for the call in flight, then delivers what came meanwhile, until nothing is left. */
  async #drain(underway: PromiseLike<unknown>, change?: StoredChange<T>): Promise<void> {
    await this.#settled(underway, change);
    const work = new SlicedWork(this.#upstream.clock);
    work.begin();
    for (;;) {
      // Before the first one, too: a thousand handlers may begin at the same time.
      if (work.isOver) await work.rest();
      const next = this.#next();
      if (next === undefined) break;
      const call = this.#call(next);
      if (call !== undefined) {
        await work.waitFor(this.#settled(call, next));
        continue;
      }
      if (next.isInInitialList) this.#initialDelivered();
    }
    void work.end();
    this.#draining = undefined;
  }

  /** Objects of the initial list stay counted until the handler is done with them. */
  #next(): StoredChange<T> | undefined {
    if (this.#closed.signal.aborted) return undefined;
    const initial = this.#initial;
    if (initial !== undefined && this.#initialAt < initial.keys.length) {
      const at = this.#initialAt++;
      this.#initialUnderway = 1;
      const key = initial.keys[at] as string;
      return new StoredChange<T>('Added', key, undefined, initial.objects[at], { isInInitialList: true });
    }
    this.#initial = undefined;
    const next = this.#pending.shift();
    if (next?.isInInitialList) this.#initialUnderway = 1;
    return next;
  }

  #call(change: StoredChange<T>): PromiseLike<unknown> | undefined {
    try {
      return callHandler(this.#handler, change);
    } catch (error) {
      this.#failed(error, change);
      return undefined;
    }
  }

  async #settled(call: PromiseLike<unknown>, change: StoredChange<T> | undefined): Promise<void> {
    if (change !== undefined) this.#running = { key: change.key, sinceMs: this.#upstream.clock.monotonic() };
    try {
      await call;
    } catch (error) {
      if (change !== undefined) this.#failed(error, change);
    }
    this.#running = undefined;
    if (change?.isInInitialList) this.#initialDelivered();
  }

  #initialDelivered(): void {
    this.#initialUnderway = 0;
    if (this.#isInitialDelivered) this.hasSynced();
  }

  get #initialLeft(): number {
    return this.#initial === undefined ? 0 : this.#initial.keys.length - this.#initialAt;
  }

  get #isInitialDelivered(): boolean {
    return this.#initialLeft + this.#initialUnderway + this.#pending.initial === 0;
  }

  #failed(error: unknown, change: StoredChange<T>): void {
    this.#failures += 1;
    const context = { informer: this.#upstream.name, handler: this.name, change };
    try {
      this.#upstream.onHandlerError(explainHandlerError(error, context), context);
    } catch {
      // Reporting must not do what the handler may not: stop the others.
    }
  }
}

/** Calls what the handler has for this change; gives what has to be waited for. */
export function callHandler<T extends KubeObject>(
  handler: ResourceEventHandler<T>,
  change: Change<T>,
): PromiseLike<unknown> | undefined {
  if (handler.onChange === undefined) return callForType(handler, change);
  const handled = handler.onChange(change);
  if (!isPromise(handled)) return callForType(handler, change);
  return handled.then(() => callForType(handler, change));
}

function callForType<T extends KubeObject>(
  handler: ResourceEventHandler<T>,
  change: Change<T>,
): PromiseLike<unknown> | undefined {
  let handled: unknown;
  if (change.type === 'Added') {
    if (handler.onAdd !== undefined) handled = handler.onAdd(change.new as T, change.isInInitialList);
  } else if (change.type === 'Deleted') {
    if (handler.onDelete === undefined) return undefined;
    const last = change.old as T;
    handled = handler.onDelete(
      change.isFinalStateUnknown ? Object.freeze(new DeletedFinalStateUnknown(change.key, last)) : last,
    );
  } else if (handler.onUpdate !== undefined) {
    handled = handler.onUpdate(change.old as T, change.new as T);
  }
  return isPromise(handled) ? handled : undefined;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

/** The listeners of an informer (`sharedProcessor`). */
export class SharedProcessor<T extends KubeObject> {
  /** Copy-on-write: an iteration sees the listeners of when it started. */
  #listeners: readonly EventListener<T>[] = [];

  get listeners(): readonly EventListener<T>[] {
    return this.#listeners;
  }

  add(listener: EventListener<T>): void {
    this.#listeners = [...this.#listeners, listener];
  }

  delete(listener: EventListener<T>): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }

  distribute(change: StoredChange<T>): void {
    const to = this.#listeners;
    for (let at = 0; at < to.length; ) at = deliverSome(change, to, at);
  }

  /** Resolves when no call is in flight any more. */
  async close(reason: unknown): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close(reason)));
  }
}

/** Handlers between two looks at the time: with a thousand of them, one change takes longer than a slice. */
const fewListeners = 16;

/** Delivers a change to a few listeners; returns where the next ones begin. A `Sync` goes to those alone who are resyncing. */
export function deliverSome<T extends KubeObject>(
  change: StoredChange<T>,
  to: readonly EventListener<T>[],
  from: number,
): number {
  const isSync = change.type === 'Sync';
  const end = Math.min(to.length, from + fewListeners);
  for (let at = from; at < end; at += 1) {
    const listener = to[at] as EventListener<T>;
    if (!isSync || listener.isResyncing) listener.add(change);
  }
  return end;
}
