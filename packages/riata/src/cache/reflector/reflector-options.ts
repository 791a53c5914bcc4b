import type { Duration } from '../../object/duration.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import type { ObjectDecoder } from '../../object/scan/decode-object.js';
import { optionNames } from '../../runtime/option-names.js';
import type { Runtime } from '../../runtime/runtime.js';

/**
 * The state of a Reflector. `idle`: not started. `listing`: fetching all objects, by WatchList or LIST. `watching`:
 * following changes. `waiting`: before the next try, after a failure. `stopped`: its signal has aborted.
 */
export type ReflectorPhase = 'idle' | 'listing' | 'watching' | 'waiting' | 'stopped';

/** How a Reflector is doing, at the moment it was asked: a plain snapshot. */
export interface ReflectorHealth {
  readonly name: string;
  readonly phase: ReflectorPhase;
  /** Milliseconds since the phase began. */
  readonly phaseMs: number;
  /** True once the store has been given a first complete list. */
  readonly listed: boolean;
  /** How far the store has come; `''` before the first list. */
  readonly resourceVersion: string;
  /** Failures since the server last gave a list or an event, or let a watch last for more than a second. */
  readonly consecutiveFailures: number;
  /** Watches that the server has accepted so far: the first one, and one more for each restart. */
  readonly watches: number;
  /** The last of these failures; undefined if there was none. */
  readonly lastError?: unknown;
  /** Objects that are withheld from the store: the transform fails for them, or their metadata are malformed. */
  readonly withheld: number;
  /** Milliseconds since the server last gave a list, an event or a bookmark; undefined if it never did. */
  readonly lastEventMs?: number;
}

/** Options of a `Reflector` (`cache.ReflectorOptions`). */
export interface ReflectorOptions<T extends KubeObject> {
  /** In logs, metrics and errors. @default the kind's plural and group, or `'reflector'` */
  readonly name?: string;
  /**
   * The expected kind (`expectedType`, `expectedGVK`): objects of another kind are dropped, and that is logged.
   * @default anything
   */
  readonly kind?: KindRef<T>;
  /** How often `store.resync()` is called, once there was a list; it never contacts the server. @default 0, never */
  readonly resyncPeriod?: Duration | 0;
  /** Asked before every resync (`ShouldResync`). @default always */
  readonly shouldResync?: () => boolean;
  /**
   * Called once for each object, before the store (`cache.TransformFunc`). It may change its argument, except
   * namespace, name, uid and resourceVersion, which identify the object: that counts as throwing. An object for which
   * it throws is withheld: the store keeps the last version that it got, or none. It is retried with backoff, and with
   * a newer version at once; changes of the first try remain, so throw before you write. Log, health and metrics report
   * it. @default none
   */
  readonly transform?: (object: T) => T;
  /** Passed to every list and watch: decodes their objects, as an informer does along what it has stored. @default parsed */
  readonly decoder?: ObjectDecoder;
  /**
   * Called for each object of a list as it arrives, after the transform, long before the list is complete: the place to
   * save memory, such as by sharing equal parts. The list consists of its results. Must not throw. @default none
   */
  readonly admitListed?: (object: T) => T;
  /**
   * The stored object under a key: put into a list in place of a withheld object, as leaving it out would look like its
   * deletion. @default nothing
   */
  readonly known?: (key: string) => T | undefined;
  /**
   * Objects per page of a LIST (`WatchListPageSize`); given, every LIST is paged, and goes past the server's cache.
   * @default 500 where it costs nothing: not for lists that may come from the server's cache
   */
  readonly pageSize?: number;
  /** Gets the list as the beginning of the watch, where the server can do that (`UseWatchList`). @default true */
  readonly useWatchList?: boolean;
  /**
   * A watch without an event or a bookmark for this long counts as dead and is replaced by one that resumes: noticed
   * after this time at the earliest and 1.2 times as much at the latest, random for each watch. kube-apiserver sends
   * bookmarks once a minute; a shorter time makes quiet watches reconnect for nothing, which costs one request each.
   * `'never'`: leave it to the transport. @default '75s'
   */
  readonly silence?: Duration | 'never';
  /**
   * Called with every failure, before the wait for the next try (`WatchErrorHandler`). `isForbidden`, `isNotFound` and the
   * like know the errors. @default logs it: at first and when it changes as a warning or error, then as debug
   */
  readonly onError?: (error: unknown, health: ReflectorHealth) => void;
  /** @default the system's */
  readonly runtime?: Partial<Runtime>;
}

export const reflectorOptionNames = optionNames<ReflectorOptions<KubeObject>>({
  name: true,
  kind: true,
  resyncPeriod: true,
  shouldResync: true,
  transform: true,
  decoder: true,
  admitListed: true,
  known: true,
  pageSize: true,
  useWatchList: true,
  silence: true,
  onError: true,
  runtime: true,
});
