import type { KubeObject, Status, TypeMeta } from '../../object/meta.js';
import type { ApiError } from '../errors/api-error.js';

/**
 * What a bookmark holds: how far the watch has come, and nothing of the object. Only `resourceVersion` and `annotations`
 * may be relied on (`k8s.io/initial-events-end: "true"` ends the initial events of a streaming list).
 */
export interface Bookmark extends TypeMeta {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** One event of a watch (`watch.Event`), discriminated by `type`. */
export type WatchEvent<T = KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: Bookmark }
  /** The server's word inside the stream (410: list again), or what came could not be decoded (then the stream ends). */
  | { readonly type: 'ERROR'; readonly error: ApiError; readonly object: Status };

/** `watch.EventType`. */
export type WatchEventType = WatchEvent['type'];
