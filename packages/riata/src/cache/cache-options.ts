import type { Selection } from '../client/options.js';
import type { Duration } from '../object/duration.js';
import type { KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { optionNames } from '../runtime/option-names.js';
import type { Runtime } from '../runtime/runtime.js';
import type { SharedIndexInformerOptions, WatchErrorHandler } from './informer/shared-informer.js';

/** How a cache holds one kind (`cache.ByObject`). */
export interface KindCacheOptions<R extends KubeObject = KubeObject>
  extends Pick<Selection, 'labelSelector' | 'fieldSelector'>,
    Pick<SharedIndexInformerOptions<R>, 'transform' | 'pageSize' | 'useWatchList' | 'silence'> {
  /**
   * Only these namespaces, with one watch each; can be changed at run time by `setNamespaces`. No effect on kinds beside
   * the namespaces. @default the cache's, or all
   */
  readonly namespaces?: readonly string[];
  /** How often handlers receive every object again, without asking the server. @default the cache's, or never */
  readonly resyncPeriod?: Duration | 0;
  /**
   * `'first-use'`: started when it is first read or gets a handler; not before the cache runs. `'explicit'`: the same, but
   * before the cache runs, only `startKind` counts. @default 'at-once': started when the cache runs
   */
  readonly start?: 'at-once' | 'first-use' | 'explicit';
}

export const kindCacheOptionNames = optionNames<KindCacheOptions<KubeObject>>({
  namespaces: true,
  resyncPeriod: true,
  start: true,
  labelSelector: true,
  fieldSelector: true,
  transform: true,
  pageSize: true,
  useWatchList: true,
  silence: true,
});

/** A kind and how it is cached; made by {@link cached}. */
export interface CachedKind {
  readonly kind: KindRef;
  readonly options: KindCacheOptions;
}

/**
 * Names a kind for a cache to hold, and how.
 *
 * @example
 * new Cache(client, { kinds: [cached(Pod, { labelSelector: 'app=web' }), cached(Node)] });
 */
export function cached<R extends KubeObject>(kind: KindRef<R>, options: KindCacheOptions<R> = {}): CachedKind {
  return { kind, options: options as unknown as KindCacheOptions };
}

/** Options of a `Cache` (`cache.Options`). */
export interface CacheOptions {
  /** Kinds that it holds from the start. Others can be added at any time. @default none */
  readonly kinds?: readonly CachedKind[];
  /** For kinds that name none themselves (`DefaultNamespaces`). @default all */
  readonly namespaces?: readonly string[];
  /** For kinds that say nothing themselves (`SyncPeriod`). @default 0, never */
  readonly resyncPeriod?: Duration | 0;
  /** For kinds that say nothing themselves. @default '75s' */
  readonly silence?: Duration | 'never';
  /**
   * What happens to reads of kinds that were not declared. `'live'`: they go to the server, and it is logged once; a
   * read never starts a watch by surprise. `'fail'`: the read is refused (`ReaderFailOnMissingInformer`). @default
   * 'live'
   */
  readonly undeclared?: 'live' | 'fail';
  /**
   * How long a read waits for the watch to come to an own write that it has to show, before it asks the server.
   * @default '2s'
   */
  readonly catchUp?: Duration;
  /** Called with every failed list and watch (`DefaultWatchErrorHandler`). @default logs it */
  readonly watchErrorHandler?: WatchErrorHandler;
  /** @default the client's clock; else the system's */
  readonly runtime?: Partial<Runtime>;
}

export const cacheOptionNames = optionNames<CacheOptions>({
  kinds: true,
  namespaces: true,
  resyncPeriod: true,
  silence: true,
  undeclared: true,
  catchUp: true,
  watchErrorHandler: true,
  runtime: true,
});
