import type { ConnectedClient } from '../client/create-client.js';
import type { Selection } from '../client/options.js';
import { formatGroupResource } from '../object/gvk.js';
import type { KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { refuseUnknownOptions } from '../runtime/option-names.js';
import type { Runtime } from '../runtime/runtime.js';
import { abortable } from '../runtime/signals.js';
import { CacheMember } from './cache-member.js';
import type { KindCacheOptions } from './cache-options.js';
import { CacheSyncError } from './informer/cache-sync-error.js';
import {
  type EventHandlerOptions,
  type EventHandlerRegistration,
  eventHandlerOptionNames,
  type ResourceEventHandler,
} from './informer/resource-event-handler.js';
import type { InformerHealth, WatchErrorHandler } from './informer/shared-informer.js';
import type { Informer } from './informer.js';
import { MemberHandler } from './member-handler.js';
import { isReflectorError } from './reflector/reflector-error.js';
import type { Indexers, IndexFunc } from './store/store-index.js';

/** What a {@link KindCache} is made of. */
export interface KindCacheParts {
  readonly client: ConnectedClient;
  readonly watchErrorHandler: WatchErrorHandler;
  readonly runtime: Runtime;
  /** Whether the cache runs: then a kind that waits for its first use is started by a handler. */
  readonly isRunning: () => boolean;
}

/** An index of a kind in a cache, until it is released. */
export interface IndexUse<R extends KubeObject> {
  /** Builds it again with another function, from what the cache holds; for all of its users. */
  replace(func: IndexFunc<R>): void;
  /** The last one to do so removes the index. */
  release(): void;
}

/** One kind in a cache, in one or several namespaces: one member for each. */
export class KindCache<R extends KubeObject = KubeObject> implements Informer<R> {
  readonly kind: KindRef<R>;
  readonly options: KindCacheOptions<R>;
  readonly #parts: KindCacheParts;
  /** By namespace; `''` for all. */
  readonly #members = new Map<string, CacheMember<R>>();
  readonly #handlers = new Set<MemberHandler<R>>();
  readonly #indexers: Record<string, Indexers<R>[string]> = {};
  /** Users of the indexes that go with their last one; others stay as long as the kind. */
  readonly #indexUses = new Map<string, number>();
  /** No longer asked, but watched until the members in their place know all there is. */
  readonly #retiring = new Set<CacheMember<R>>();
  /** What keeps members from being synced, while it does. */
  readonly #problems = new Map<CacheMember<R>, unknown>();
  readonly #onProblem = new Set<(problem: unknown) => void>();
  #desired: boolean;
  #started = false;
  #stopped = false;
  #synced = false;

  constructor(kind: KindRef<R>, options: KindCacheOptions<R>, parts: KindCacheParts) {
    this.kind = kind;
    this.options = options;
    this.#parts = parts;
    this.#desired = options.start === undefined || options.start === 'at-once';
    for (const namespace of this.#placesFor(options.namespaces)) this.#members.set(namespace, this.#member(namespace));
  }

  get members(): readonly CacheMember<R>[] {
    return [...this.#members.values()];
  }

  get isStarted(): boolean {
    return this.#started;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** The namespaces that it holds; undefined for all. */
  get namespaces(): readonly string[] | undefined {
    return this.#members.has('') ? undefined : [...this.#members.keys()];
  }

  get health(): readonly InformerHealth[] {
    return this.members.map((member) => member.informer.health);
  }

  /** The selection of each member. */
  get selections(): readonly Selection[] {
    const { labelSelector, fieldSelector } = this.options;
    return this.members.map(({ namespace }) => ({
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    }));
  }

  /** The member that holds objects of this namespace. */
  memberFor(namespace: string | undefined): CacheMember<R> | undefined {
    return this.#members.get('') ?? this.#members.get(namespace ?? '');
  }

  /** Whether to start it when the cache runs. */
  get isSelected(): boolean {
    return this.#desired;
  }

  /** It is read, or gets a handler: its first use. `isExplicit`: `startKind` was called. */
  want(isExplicit = false): void {
    this.#desired ||= isExplicit || this.options.start !== 'explicit';
    if (!this.#started && this.#parts.isRunning()) this.start();
  }

  start(): void {
    this.#started = true;
    for (const member of this.#members.values()) member.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.members, ...this.#retiring].map((member) => member.stop()));
    await Promise.all(Array.from(this.#handlers, (handler) => handler.remove()));
  }

  /**
   * Handlers receive objects of new namespaces as additions, and those of removed namespaces as deletions. Where old
   * and new ones overlap, the old ones go when the new ones have synced: a deletion in between must not be missed.
   * Rejects as {@link synced} then, and keeps trying.
   */
  async setNamespaces(namespaces: readonly string[] | undefined): Promise<void> {
    const desired = new Set(this.#placesFor(namespaces));
    const removed = [...this.#members].filter(([namespace]) => !desired.has(namespace));
    const added: CacheMember<R>[] = [];
    for (const [namespace, member] of removed) {
      this.#members.delete(namespace);
      this.#problems.delete(member);
    }
    for (const namespace of desired) {
      if (this.#members.has(namespace)) continue;
      const member = this.#member(namespace);
      this.#members.set(namespace, member);
      added.push(member);
      this.#synced = false;
      for (const handler of this.#handlers) handler.join(member);
      if (this.#started) member.start();
    }
    const mustWait = this.#started && this.#handlers.size > 0;
    const overlapping = ({ namespace }: CacheMember<R>) =>
      mustWait ? added.filter((other) => namespace === undefined || other.namespace === undefined) : [];
    const retired = Promise.all(removed.map(([, member]) => this.#retire(member, overlapping(member))));
    if (removed.some(([, member]) => overlapping(member).length > 0)) await this.synced();
    await retired;
  }

  async #retire(member: CacheMember<R>, successors: readonly CacheMember<R>[]): Promise<void> {
    this.#retiring.add(member);
    // One that is stopped, or removed in its turn, is not waited for.
    await Promise.allSettled(successors.map((successor) => successor.informer.synced()));
    if (!this.#stopped) {
      const isHeld = (key: string, object: R) => this.memberFor(object.metadata.namespace)?.base.has(key) === true;
      await Promise.all([...this.#handlers].map((handler) => handler.leave(member, isHeld)));
    }
    await member.stop();
    this.#retiring.delete(member);
  }

  addEventHandler(handler: ResourceEventHandler<R>, options: EventHandlerOptions = {}): EventHandlerRegistration {
    refuseUnknownOptions(`handler of ${this.kind.kind}`, options, eventHandlerOptionNames);
    if (this.#stopped) {
      throw new Error(`${formatGroupResource(this.kind.gvr)} was removed from the cache; get its informer again`);
    }
    const log = this.#parts.runtime.log;
    const entry = new MemberHandler<R>(handler, options, log, () => void this.#handlers.delete(entry));
    this.#handlers.add(entry);
    for (const member of this.#members.values()) entry.join(member);
    entry.removeOn(options.signal);
    this.want();
    return entry;
  }

  async removeEventHandler(registration: EventHandlerRegistration): Promise<void> {
    await registration.remove();
  }

  /** Before all objects are handed to a function, if that would block for long. */
  freezeAhead(): Promise<unknown> | undefined {
    const freezing = this.members.flatMap(({ base, clock }) => base.freezeAhead(() => base.size, clock) ?? []);
    return freezing.length === 0 ? undefined : Promise.all(freezing);
  }

  /** Adding the same function under the same name again does nothing. */
  addIndexers(indexers: Indexers<R>): void {
    const fresh = Object.entries(indexers).filter(([name, func]) => this.#indexers[name] !== func);
    const added = Object.fromEntries(fresh);
    for (const member of this.#members.values()) member.informer.addIndexers(added);
    Object.assign(this.#indexers, added);
    for (const name of Object.keys(indexers)) this.#indexUses.delete(name);
  }

  /**
   * As {@link addIndexers}, until it is released by all of its users. `keeps`: an index that exists keeps its function until
   * {@link IndexUse.replace}, instead of an error.
   */
  useIndex(name: string, func: IndexFunc<R>, { keeps = false } = {}): IndexUse<R> {
    const known = this.#indexers[name];
    const users = known === undefined ? 0 : this.#indexUses.get(name);
    if (known === undefined || !keeps) this.addIndexers({ [name]: func });
    if (users !== undefined) this.#indexUses.set(name, users + 1);
    let isHeld = true;
    return {
      replace: (next) => this.#setIndexer(name, next),
      release: () => {
        if (isHeld) this.#releaseIndex(name);
        isHeld = false;
      },
    };
  }

  #setIndexer(name: string, func: IndexFunc<R>): void {
    if (this.#stopped || this.#indexers[name] === func) return;
    for (const { base } of this.#members.values()) base.setIndexer(name, func);
    this.#indexers[name] = func;
  }

  #releaseIndex(name: string): void {
    const users = this.#indexUses.get(name);
    if (users === undefined) return;
    if (users > 1) {
      this.#indexUses.set(name, users - 1);
      return;
    }
    this.#indexUses.delete(name);
    delete this.#indexers[name];
    for (const { base } of this.#members.values()) base.removeIndexer(name);
  }

  hasSynced(): boolean {
    // Called with every read. A synced member stays synced; a new member is not yet.
    this.#synced ||= this.members.every((member) => member.informer.hasSynced());
    return this.#synced;
  }

  async synced({ signal, patient = false }: { signal?: AbortSignal; patient?: boolean } = {}): Promise<void> {
    while (!this.hasSynced()) {
      const problem = this.#problem();
      if (problem !== undefined && !patient) throw new CacheSyncError(this.kind, problem);
      const all = Promise.all(this.members.map((member) => this.#syncedOrRemoved(member, signal)));
      let listener: ((problem: unknown) => void) | undefined;
      const failed = new Promise<never>((_, reject) => {
        listener = (problem) => reject(new CacheSyncError(this.kind, problem));
        if (!patient) this.#onProblem.add(listener);
      });
      try {
        await abortable(Promise.race([all, failed]), signal);
      } finally {
        if (listener !== undefined) this.#onProblem.delete(listener);
      }
    }
  }

  async #syncedOrRemoved(member: CacheMember<R>, signal: AbortSignal | undefined): Promise<void> {
    try {
      await member.informer.synced({ signal });
    } catch (error) {
      if (signal?.aborted || this.members.includes(member)) throw error;
    }
  }

  #problem(): unknown {
    return this.members.map((member) => !member.informer.hasSynced() && this.#problems.get(member)).find(Boolean);
  }

  #placesFor(namespaces: readonly string[] | undefined): readonly string[] {
    if (namespaces === undefined || this.kind.scope === 'Cluster' || namespaces.includes('')) return [''];
    return [...new Set(namespaces)];
  }

  #member(namespace: string): CacheMember<R> {
    const { client, runtime, watchErrorHandler } = this.#parts;
    const member: CacheMember<R> = new CacheMember<R>(namespace === '' ? undefined : namespace, {
      ...{ client, kind: this.kind, options: this.options, indexers: { ...this.#indexers }, runtime },
      onError: (error, health) => {
        // The handler belongs to the user: an error in it must not keep waiting readers from their answer.
        if (!isReflectorError(error)) this.#problems.delete(member);
        else if (this.members.includes(member)) {
          this.#problems.set(member, error);
          for (const listener of [...this.#onProblem]) listener(error);
        }
        watchErrorHandler(error, health);
      },
    });
    return member;
  }
}
