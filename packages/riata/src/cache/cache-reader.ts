import type { Client, Key } from '../client/interfaces.js';
import type { GetOptions, ListOptions } from '../client/options.js';
import { compareResourceVersions } from '../object/compare-resource-versions.js';
import { formatGroupResource } from '../object/gvk.js';
import { formatKey, keyOf, type ObjectKey } from '../object/key.js';
import { type KindRef, metadataOnly, type Scope } from '../object/kind.js';
import type { KubeList, KubeObject } from '../object/meta.js';
import type { Logger } from '../runtime/log/logger.js';
import { link } from '../runtime/signals.js';
import type { Scheduler } from '../runtime/time/clock.js';
import type { CacheMember } from './cache-member.js';
import { breadth, fieldIndex, type ParsedSelection, parseSelection, select } from './cache-selection.js';
import type { KindCache } from './kind-cache.js';
import type { UncertainWrite } from './own-writes/uncertain-writes.js';
import { fieldsOfNone, noField, refuseNoFields } from './selected-fields.js';
import { notInCache } from './store/lister.js';

/** How many requests one read may take, while objects of that name are created and deleted. */
const mostTries = 3;

/** More uncertain objects than these are checked by one list. */
const fewUncertain = 8;

/** This many objects are listed sooner than a watch catches up. */
const fewObjects = 500;

/** Returned instead of an object if the read needs a wait or a request. */
export const notCached: unique symbol = Symbol('riata.notCached');

/** What a {@link CacheReader} needs besides the objects. */
export interface CacheReaderOptions {
  readonly undeclared: 'live' | 'fail';
  /** How long to wait for the watch to reach an own write, before reading from the server. */
  readonly catchUpMs: number;
  readonly clock: Scheduler;
  readonly log: Logger;
}

/** Answers reads from caches, with own writes; reads from the server where the caches cannot know. */
export class CacheReader {
  readonly #live: Client;
  readonly #options: CacheReaderOptions;
  /** Already logged: kinds that are read live, fields that no object has; and fields that were checked for it. */
  readonly #logged = new Set<string>();

  constructor(live: Client, options: CacheReaderOptions) {
    this.#live = live;
    this.#options = options;
  }

  async get<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S>,
    options: GetOptions,
    cache: KindCache<R> | undefined,
  ): Promise<R> {
    refuseBadKey('get', kind, key);
    const member = this.#memberFor(kind, (key as ObjectKey).namespace, cache);
    if (cache === undefined || member === undefined) return this.#live.get(kind, key, options);
    const found = await this.#look(kind, key, options, cache, member);
    return found ?? notInCache(kind, (key as ObjectKey).name, (key as ObjectKey).namespace);
  }

  async find<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S>,
    options: GetOptions,
    cache: KindCache<R> | undefined,
  ): Promise<R | undefined> {
    refuseBadKey('find', kind, key);
    const member = this.#memberFor(kind, (key as ObjectKey).namespace, cache);
    if (cache === undefined || member === undefined) return this.#live.find(kind, key, options);
    return this.#look(kind, key, options, cache, member);
  }

  /** As {@link find}, without a wait or a request; {@link notCached} if it needs one. */
  tryCached<R extends KubeObject>(key: ObjectKey, cache: KindCache<R> | undefined): R | undefined | typeof notCached {
    const member = cache?.memberFor(key.namespace);
    if (cache === undefined || member === undefined || !cache.hasSynced()) return notCached;
    if (!isKeyOf(cache.kind, key)) return notCached;
    const id = formatKey(key);
    if (member.writes.uncertainWriteOf(id) !== undefined || member.informer.withheldError(id) !== undefined)
      return notCached;
    return member.view.getByKey(id);
  }

  async list<R extends KubeObject>(
    kind: KindRef<R>,
    options: ListOptions,
    cache: KindCache<R> | undefined,
  ): Promise<KubeList<R>> {
    if (cache === undefined || this.#isElsewhere(kind, options.namespace, cache)) {
      this.#refuseOrLog(kind, cache === undefined ? undefined : options.namespace);
      return this.#live.list(kind, options);
    }
    if (options.continue) {
      throw new TypeError(`list of ${formatGroupResource(kind.gvr)}: a cache returns no pages; omit continue`);
    }
    const { signal } = options;
    await cache.synced({ signal });
    const selection = parseSelection(options);
    const items: R[] = [];
    const limit = options.limit !== undefined && options.limit > 0 ? options.limit : Number.POSITIVE_INFINITY;
    let resourceVersion = '';
    for (const member of cache.members) {
      if (items.length >= limit) break;
      if (options.namespace && member.namespace !== undefined && member.namespace !== options.namespace) continue;
      await member.base.freezeAhead(() => breadth(member.view, selection), this.#options.clock);
      await this.#settleAll(kind, member, signal);
      refuseNoFields(kind, member.view, selection);
      const found = select(member.view, selection, limit - items.length);
      if (found.length === 0 && !selection.fields.isEmpty())
        this.#logFields(kind, fieldsOfNone(kind, member.view, selection, this.#logged));
      this.#logGaps(kind, member, selection);
      for (const item of found) items.push(item);
      resourceVersion = member.base.lastStoreSyncResourceVersion();
    }
    return { apiVersion: kind.apiVersion, kind: `${kind.kind}List`, metadata: { resourceVersion }, items };
  }

  async #look<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S>,
    { signal }: GetOptions,
    cache: KindCache<R>,
    member: CacheMember<R>,
  ): Promise<R | undefined> {
    if (!cache.hasSynced()) await cache.synced({ signal });
    const id = formatKey(key as ObjectKey);
    const { writes } = member;
    if (writes.uncertainWriteOf(id) !== undefined) {
      // One about all ends when the watch has come as far as the server is, which may take a minute: that is not waited for.
      const isAboutAll = writes.uncertainWriteOf(id) === writes.uncertainWriteOf();
      if (isAboutAll) await this.#boundUncertainWrites(kind, member, signal);
      const uncertain = writes.uncertainWriteOf(id);
      if (uncertain !== undefined && (isAboutAll || !(await this.#caughtUp(member, uncertain, signal)))) {
        await this.#inspect(kind, id, key, member, uncertain, signal);
      }
    }
    refuseWithheld(kind, id, member.informer.withheldError(id));
    return member.view.getByKey(id);
  }

  /** Asks the server how an object looks by now. */
  async #inspect<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    id: string,
    key: Key<S>,
    member: CacheMember<R>,
    uncertain: UncertainWrite,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const before = member.view.getByKey(id);
      const stored = await this.#live.find(kind, key, { signal });
      if (stored !== undefined) {
        const admitted = member.admit(stored);
        if (admitted !== undefined) member.writes.written(id, stored.metadata, admitted.object);
        break;
      }
      const shown = member.view.getByKey(id);
      if (shown === undefined) break;
      if (shown.metadata.uid === before?.metadata.uid) {
        member.writes.deleted(id, shown.metadata.uid);
        break;
      }
      // The watch has shown another one meanwhile. It may be newer than the answer, and must not be hidden then.
      if (tries === mostTries) break;
    }
    member.writes.settle(uncertain, id);
  }

  /** Resolves every uncertain write of the member. */
  async #settleAll<R extends KubeObject>(
    kind: KindRef<R>,
    member: CacheMember<R>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { writes } = member;
    if (writes.uncertainWriteOf() !== undefined || writes.uncertainKeys().length > fewUncertain) {
      const isSoon =
        member.base.size > fewObjects &&
        (await this.#caughtUp(
          member,
          { resourceVersion: await this.#boundUncertainWrites(kind, member, signal) },
          signal,
        ));
      if (!isSoon) await this.#compareAll(kind, member, signal);
    }
    let mayWait = true;
    for (const id of writes.uncertainKeys()) {
      const about = writes.uncertainWriteOf(id);
      if (about === undefined || (mayWait && (await this.#caughtUp(member, about, signal)))) continue;
      // A watch that has not come this far will not come further at once.
      if (about.resourceVersion !== undefined) mayWait = false;
      const slash = id.indexOf('/');
      const key = slash < 0 ? { name: id } : { namespace: id.slice(0, slash), name: id.slice(slash + 1) };
      await this.#inspect(kind, id, key, member, about, signal);
    }
  }

  /**
   * Finds the revision that the watch has to reach for all uncertain writes: a list of one object returns the server's.
   */
  async #boundUncertainWrites<R extends KubeObject>(
    kind: KindRef<R>,
    member: CacheMember<R>,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    const { writes } = member;
    const all = writes.uncertainWriteOf();
    if (all?.resourceVersion !== undefined) return all.resourceVersion;
    const open = writes.uncertainWrites();
    const { metadata } = await this.#live.list(kind, { namespace: member.namespace, limit: 1, signal });
    if (metadata.resourceVersion) writes.boundUncertainWrites(open, metadata.resourceVersion);
    return metadata.resourceVersion;
  }

  /** Compares what is shown with what the server has now, by the metadata of all. */
  async #compareAll<R extends KubeObject>(
    kind: KindRef<R>,
    { view, writes, selection }: CacheMember<R>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const open = writes.uncertainWrites();
    const { items, metadata } = await this.#live.list(metadataOnly(kind), { ...selection, signal });
    const there = new Map(items.map((item) => [keyOf(item), item.metadata]));
    for (const [key, write] of open) writes.settle(write, key);
    for (const key of view.listKeys()) {
      const shown = view.getByKey(key)?.metadata;
      if (shown === undefined || there.has(key)) continue;
      const order = compareResourceVersions(shown.resourceVersion, metadata.resourceVersion ?? '');
      if (order === undefined) writes.markUncertain(key);
      else if (order <= 0) writes.deleted(key, shown.uid);
    }
    for (const [key, { resourceVersion }] of there) {
      if (view.getByKey(key)?.metadata.resourceVersion !== resourceVersion) writes.markUncertain(key, resourceVersion);
    }
  }

  /** Waits a while for the watch, where it is known how far it has to come. */
  async #caughtUp<R extends KubeObject>(
    member: CacheMember<R>,
    { resourceVersion }: UncertainWrite,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (resourceVersion === undefined) return false;
    const { clock, catchUpMs } = this.#options;
    using linked = link({ signals: [signal], timeoutMs: catchUpMs, clock });
    try {
      await member.writes.reached(resourceVersion, { signal: linked.signal });
      return true;
    } catch (error) {
      if (signal?.aborted) throw error;
      return false;
    }
  }

  #memberFor<R extends KubeObject>(
    kind: KindRef<R>,
    namespace: string | undefined,
    cache: KindCache<R> | undefined,
  ): CacheMember<R> | undefined {
    const member = cache?.memberFor(namespace);
    if (member === undefined) this.#refuseOrLog(kind, cache === undefined ? undefined : namespace);
    return member;
  }

  #isElsewhere<R extends KubeObject>(kind: KindRef<R>, namespace: string | undefined, cache: KindCache<R>): boolean {
    return Boolean(namespace) && kind.scope === 'Namespaced' && cache.memberFor(namespace) === undefined;
  }

  /** A list leaves out what cannot be taken in, or found by an index: that must not look as if it was complete. */
  #logGaps<R extends KubeObject>(kind: KindRef<R>, { informer }: CacheMember<R>, { fields }: ParsedSelection): void {
    const gaps = [
      { words: 'list from the cache is incomplete, objects are withheld', field: undefined, size: informer.withheld },
      ...fields.requirements.map(({ field }) => ({
        words: 'list by a field is incomplete, its index function fails for objects',
        ...{ field, size: informer.unindexed(fieldIndex(field)) },
      })),
    ];
    for (const { words, field, size } of gaps) {
      const id = `gap ${informer.name} ${field ?? ''}`;
      if (size === 0) this.#logged.delete(id);
      else if (!this.#logged.has(id)) {
        this.#logged.add(id);
        this.#options.log.warn(words, { informer: informer.name, kind: kind.kind, field, objects: size });
      }
    }
  }

  #logFields(kind: KindRef, fields: readonly string[]): void {
    for (const field of fields) {
      const hint = noField(kind, field);
      this.#options.log.warn('no object has the field of the selector', { kind: kind.kind, field, hint });
    }
  }

  /** One line for each kind and namespace: reading live is allowed, and should not come as a surprise. */
  #refuseOrLog(kind: KindRef, namespace: string | undefined): void {
    const resource = formatGroupResource(kind.gvr);
    const where = namespace === undefined ? resource : `${resource} in namespace ${JSON.stringify(namespace)}`;
    if (this.#options.undeclared === 'fail') {
      throw new Error(`${where} is not in the cache; declare it, or read with a client that asks the server`);
    }
    if (this.#logged.has(where)) return;
    this.#logged.add(where);
    this.#options.log.info('not in the cache, reading from the server', {
      kind: kind.kind,
      resource,
      namespace,
    });
  }
}

/** NotFound would look as if the object was deleted, and the caller might create it again. */
function refuseWithheld(kind: KindRef, id: string, error: unknown): void {
  if (error === undefined) return;
  const what = `${kind.kind} ${JSON.stringify(id)} is withheld from the cache`;
  throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}

function isKeyOf({ scope }: KindRef, { namespace, name }: Partial<ObjectKey>): boolean {
  return Boolean(name) && Boolean(namespace) === (scope === 'Namespaced');
}

/** As the client does: a missing namespace must not look like a deleted object. */
function refuseBadKey(verb: string, kind: KindRef, key: Partial<ObjectKey>): void {
  if (isKeyOf(kind, key)) return;
  const { namespace, name } = key;
  if (!name) throw new TypeError(`${verb} ${kind.kind}: the name is missing`);
  const what = `${verb} ${kind.kind} ${JSON.stringify(name)}`;
  throw new TypeError(
    namespace
      ? `${what}: the kind is cluster-scoped; omit the namespace`
      : `${what}: the namespace is missing; give one, or use inNamespace(client, …)`,
  );
}
