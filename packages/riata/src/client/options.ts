import type { KubeObject, LabelSelector } from '../object/meta.js';
import type { ObjectDecoder } from '../object/scan/decode-object.js';
import type { FieldSelector } from '../object/selector/field-selector.js';
import type { Selector } from '../object/selector/label-selector.js';
import type { ElementTimer } from '../rest/stream/stream-timer.js';
import { optionNames } from '../runtime/option-names.js';
import type { Span } from '../runtime/tracing.js';

/** Options of every call. */
export interface CallOptions {
  /** Aborting ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** How often the request may be sent again when the server asks to wait (429, 5xx) or resets; 0 for never. @default 10 */
  readonly maxRetries?: number;
  /** The parent of the call's span, for tracing. */
  readonly span?: Span;
}

export const callOptionNames = optionNames<CallOptions>({ signal: true, maxRetries: true, span: true });

/** Options of `get` and `find` (`client.GetOption`). */
export interface GetOptions extends CallOptions {
  /** `'0'` lets the server answer from its cache, however old. @default the newest state */
  readonly resourceVersion?: string;
}

export const getOptionNames = callOptionNames.and<GetOptions>({ resourceVersion: true });

/** Which objects of a kind are meant. */
export interface Selection {
  /** @default all namespaces */
  readonly namespace?: string;
  /**
   * `'app=web,tier in (a,b)'`, `{ app: 'web' }` for labels that all must be there, a parsed selector, or a selector object
   * as workloads carry it. @default all
   */
  readonly labelSelector?: string | Readonly<Record<string, string>> | LabelSelector | Selector;
  /** `'spec.nodeName=a'`, a parsed one, or `{ 'spec.nodeName': 'a' }`. Which fields there are depends on the kind. */
  readonly fieldSelector?: string | Readonly<Record<string, string>> | FieldSelector;
}

const selectionNames = optionNames<Selection>({ namespace: true, labelSelector: true, fieldSelector: true });

/** Options of `list` (`client.ListOption`, `metav1.ListOptions`). */
export interface ListOptions extends CallOptions, Selection {
  /** Objects per page. `list` then gives one page; `each` and `pages` fetch page by page. */
  readonly limit?: number;
  /** Token of the requested page, from the metadata of the page before. */
  readonly continue?: string;
  /** How old the answer may be. @default the newest state */
  readonly resourceVersion?: string;
  /** How `resourceVersion` is meant. */
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  /** Leaves `metadata.managedFields` out before parsing: half the time and memory. @default false */
  readonly cutManagedFields?: boolean;
  /** Decodes objects instead of `JSON.parse`, as caches do along what they have stored. @default parsed */
  readonly decoder?: ObjectDecoder;
}

export const listOptionNames = callOptionNames.with(selectionNames).and<ListOptions>({
  limit: true,
  continue: true,
  resourceVersion: true,
  resourceVersionMatch: true,
  cutManagedFields: true,
  decoder: true,
});

/** Options of `pages` and `each`. */
export interface PagesOptions extends ListOptions {
  /**
   * What to do when the state that the pages come from has expired (410 `Expired`, some 5 minutes after the first
   * page). `'continue'` continues after the last page in the current state: objects that exist all the while are listed
   * exactly once, none twice, and objects that were created or deleted meanwhile may or may not be listed. Where the
   * server gives no token for that, and with `'fail'`, it rejects with an error that `isResourceExpired` recognises.
   * @default 'continue'
   */
  readonly onExpired?: 'continue' | 'fail';
}

export const pagesOptionNames = listOptionNames.and<PagesOptions>({ onExpired: true });

/** Options of `watch`. */
export interface WatchOptions extends CallOptions, Selection {
  /** Where to start, from a list or an earlier event. @default the current state, as ADDED events */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan';
  /** The current state as ADDED events, then a bookmark that marks its end (WatchList). @default the server's choice */
  readonly sendInitialEvents?: boolean;
  /** Bookmarks keep the resume point fresh on quiet kinds. @default true */
  readonly allowWatchBookmarks?: boolean;
  /** The server ends the watch after this. @default the server's choice, 30 to 60 minutes */
  readonly timeoutSeconds?: number;
  /** Leaves `metadata.managedFields` out before parsing. @default false */
  readonly cutManagedFields?: boolean;
  /** Decodes objects instead of `JSON.parse`, as caches do along what they have stored. @default parsed */
  readonly decoder?: ObjectDecoder;
  /** A stream silent for longer is taken for dead and ends with an error. 0 = never. @default the transport's own */
  readonly idleTimeoutMs?: number;
  /** The timer of the watch's reader, which then limits the time for one event. @default one of its own */
  readonly timer?: ElementTimer;
}

export const watchOptionNames = callOptionNames.with(selectionNames).and<WatchOptions>({
  resourceVersion: true,
  resourceVersionMatch: true,
  sendInitialEvents: true,
  allowWatchBookmarks: true,
  timeoutSeconds: true,
  cutManagedFields: true,
  decoder: true,
  idleTimeoutMs: true,
  timer: true,
});

/** How a server treats fields that it does not know, or that come twice. */
export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** Options of every write. */
export interface WriteOptions extends CallOptions {
  /** Go through admission and validation, store nothing. @default false */
  readonly dryRun?: boolean;
  /** Who the changed fields belong to afterwards. @default derived by the server from the user agent */
  readonly fieldManager?: string;
  /** @default the server's, `'Warn'` */
  readonly fieldValidation?: FieldValidation;
}

export const writeOptionNames = callOptionNames.and<WriteOptions>({
  dryRun: true,
  fieldManager: true,
  fieldValidation: true,
});

/** Options of `create` (`client.CreateOption`). */
export interface CreateOptions extends WriteOptions {}

export const createOptionNames = writeOptionNames.and<CreateOptions>({});

/** Options of `update` (`client.UpdateOption`). */
export interface UpdateOptions extends WriteOptions {}

export const updateOptionNames = writeOptionNames.and<UpdateOptions>({});

/** Options of `patch` (`client.PatchOption`). */
export interface PatchOptions extends WriteOptions {
  /** Apply patches only: take fields over from other managers. @default false */
  readonly force?: boolean;
}

export const patchOptionNames = writeOptionNames.and<PatchOptions>({ force: true });

/** Options of `apply` and `applyFields` (`client.ApplyOption`). */
export interface ApplyOptions<R extends KubeObject = KubeObject> extends WriteOptions {
  /** Required here, or from `withFieldOwner`. Fields that this manager no longer names are removed. */
  readonly fieldManager?: string;
  /** Take fields over that other managers hold, instead of a conflict. @default false */
  readonly force?: boolean;
  /**
   * Makes this object the controller of the applied one, and gives it its namespace where none is set. Rejects with an
   * `AlreadyOwnedError` if `current` has another controller: the two would overwrite each other forever.
   */
  readonly ownedBy?: KubeObject;
  /**
   * The object as stored, e.g. from a cache. If the apply is a no-op, no request is made, and the call resolves to this
   * very object. It is one if this client has applied the same before and every field named is still as the server
   * answered, or if `managedFields` show that this manager has applied exactly this. Without `current` a request is made
   * every time. A client remembers 100,000 objects.
   */
  readonly current?: R;
}

export const applyOptionNames = writeOptionNames.and<ApplyOptions<KubeObject>>({
  force: true,
  ownedBy: true,
  current: true,
});

/** Refuses a delete unless the object is still the one meant. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** The fate of the objects that the deleted one owns. */
export type Propagation = 'Foreground' | 'Background' | 'Orphan';

/** Options of `delete` (`client.DeleteOption`, `metav1.DeleteOptions`). */
export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean;
  /** 0 = at once. @default the kind's */
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: Preconditions;
  /** @default the kind's, mostly `'Background'` */
  readonly propagationPolicy?: Propagation;
}

export const deleteOptionNames = callOptionNames.and<DeleteOptions>({
  dryRun: true,
  gracePeriodSeconds: true,
  preconditions: true,
  propagationPolicy: true,
});

/** Options of `deleteCollection` (`client.DeleteAllOfOption`). */
export interface DeleteCollectionOptions extends DeleteOptions, Selection {}

export const deleteCollectionOptionNames = deleteOptionNames.with(selectionNames).and<DeleteCollectionOptions>({});
