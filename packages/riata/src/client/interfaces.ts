import type { KeyFor, KindRef, New, Placed, ReadOf, Scope } from '../object/kind.js';
import type { KubeList, KubeObject, ObjectMeta, Status, TypeMeta, WriteMeta } from '../object/meta.js';
import type { Scheme } from '../object/scheme.js';
import type { ByteStream } from '../rest/stream/byte-stream.js';
import type { WatchStream } from '../rest/stream/watch-stream.js';
import type { ApplyFields } from './apply-fields.js';
import type { RestMapper } from './discovery/rest-mapper.js';
import type { PodLogOptions } from './operation/pod-log-operation.js';
import type {
  ApplyOptions,
  CallOptions,
  CreateOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PagesOptions,
  PatchOptions,
  Selection,
  UpdateOptions,
  WatchOptions,
} from './options.js';
import type { Patch } from './patch.js';
import type { Copied, CopyOptions } from './stream/copy/copy.js';
import type { LocalPlace, PodPlace } from './stream/copy/copy-place.js';
import type { DebugOptions, DebugSession } from './stream/debug-session.js';
import type { ExecCall } from './stream/exec-call.js';
import type { ExecOptions } from './stream/exec-options.js';
import type { Forward, ForwardOptions } from './stream/forward.js';
import type { MergedLogOptions, MergedLogs } from './stream/merged-logs.js';
import type { ProxyOptions, ProxyTarget } from './stream/proxy/proxy.js';
import type { ProxyCall } from './stream/proxy/proxy-call.js';
import type { Table } from './table.js';
import type { RetryingWatch, RetryingWatchOptions } from './watch/retrying-watch.js';

/** Anything that can be written: built by calling a Kind, read before, or put together by hand. */
export interface WriteObject extends TypeMeta {
  readonly metadata: WriteMeta | ObjectMeta;
}

/** Required of namespaced objects that were built without `metadata.namespace`: compile errors show this name. */
export interface NamespaceRequired {
  readonly metadata: { readonly namespace: string };
}

/** The option that `apply` requires unless the client has a field manager: compile errors show this name. */
export interface FieldManagerRequired {
  readonly fieldManager: string;
}

/** The Pods whose logs are read together. */
export type LogSelection = Selection & Required<Pick<Selection, 'labelSelector'>>;

/** Where ports are forwarded to: a Pod by its key, or an object that selects Pods. */
export type ForwardTo<P extends Placement> = Key<'Namespaced', P> & {
  /** @default Pod */
  readonly kind?: KindRef<KubeObject, 'Namespaced'>;
};

/** What a request is proxied to: a Pod or a Service by its key, or a Node. */
export type ProxyTo<P extends Placement> = Pick<ProxyTarget, 'port' | 'scheme'> &
  (
    | (Key<'Namespaced', P> & {
        /** A Pod or a Service. @default Pod */
        readonly kind?: KindRef<KubeObject, 'Namespaced'>;
      })
    | (Key<'Cluster', P> & { readonly kind: KindRef<KubeObject, 'Cluster'> })
  );

/** What callers of a client have to pass: {@link Explicit}, {@link Implied}, {@link FieldOwned}. */
export interface Placement {
  /** The key of a namespaced object. */
  readonly Namespaced: KeyFor<Scope>;
  /** The key of a cluster-scoped object. */
  readonly Cluster: KeyFor<'Cluster'>;
  /** Of a kind whose scope the compiler does not know. */
  readonly any: KeyFor<Scope>;
  /** What is missing in an object of a namespaced kind that was built without a namespace. */
  readonly unplaced: unknown;
  /** The required options of `apply`. */
  readonly applying: unknown;
  /** Whether there need be any: `void` can be left out, `never` cannot. */
  // biome-ignore lint/suspicious/noConfusingVoidType: an argument of a type with void in it may be omitted
  readonly nothing: void;
}

/** The caller names namespaces and field managers: the client has neither. */
export interface Explicit extends Placement {
  readonly Namespaced: KeyFor<'Namespaced'>;
  readonly unplaced: NamespaceRequired;
  readonly applying: FieldManagerRequired;
  readonly nothing: never;
}

/**
 * The caller may leave namespaces out: the client has one of its own (`inNamespace`). A `Client<Implied>` can stand in for
 * a `Client`, and refuses other namespaces than its own when it is run; the other way round does not compile.
 */
export interface Implied extends Placement {
  readonly applying: FieldManagerRequired;
  readonly nothing: never;
}

/**
 * The caller may leave field managers out: the client has one of its own (`withFieldOwner`, and the client of a
 * reconciler). A `Client<FieldOwned>` can stand in for a `Client`; the other way round does not compile.
 */
export type FieldOwned<P extends Placement = Explicit> = {
  readonly [K in keyof Placement]: K extends 'applying' | 'nothing' ? Placement[K] : P[K];
};

/** As `P`, in a namespace of its own. */
export type InNamespace<P extends Placement = Explicit> = {
  readonly [K in keyof Placement]: K extends 'applying' | 'nothing' ? P[K] : Implied[K];
};

/** The options of `apply`: optional where the client has a field manager. */
export type ApplyArgument<P extends Placement, O> = (O & P['applying']) | P['nothing'];

/** The key of an object: a namespaced kind requires the namespace, unless the client has one. */
export type Key<S extends Scope, P extends Placement = Explicit> = P[Scope extends S ? 'any' : S];

/** The requirements on an object to write besides its type: a namespace, unless the client has one. */
export type At<T, P extends Placement = Explicit> = unknown extends Placed<T> ? unknown : P['unplaced'];

/** As {@link At}; an owner in a namespace gives it, too. */
export type AppliedAt<T, P extends Placement, O> = O extends {
  readonly ownedBy: { readonly metadata: { readonly namespace: string } };
}
  ? unknown
  : At<T, P>;

/** Reads objects, from a server or a cache (`client.Reader`). */
export interface Reader<in P extends Placement = Explicit> {
  /** The object (`Get`). Rejects with an error that `isNotFound` recognizes if it does not exist. */
  get<R extends KubeObject, S extends Scope>(kind: KindRef<R, S>, key: Key<S, P>, options?: GetOptions): Promise<R>;
  /** The object, or undefined if it does not exist. Other failures reject, including a kind that is not served. */
  find<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S, P>,
    options?: GetOptions,
  ): Promise<R | undefined>;
  /** All objects, or, with `limit`, one page of them (`List`). Every item has `apiVersion` and `kind`. */
  list<R extends KubeObject>(kind: KindRef<R>, options?: ListOptions): Promise<KubeList<R>>;
}

/** Writes objects (`client.Writer`). Each call resolves to what the server has stored. */
export interface Writer<in P extends Placement = Explicit> {
  /** Makes a new object (`Create`). `isAlreadyExists` recognizes the error if the name is taken. */
  create<T extends WriteObject>(object: At<T, P> & T, options?: CreateOptions): Promise<ReadOf<T>>;
  /**
   * Replaces an object (`Update`). With a resourceVersion in it, rejects with a conflict (`isConflict`) if the object has changed.
   * Refuses what is known to be incomplete (metadata only, transformed, integers past 2^53): patch or apply instead.
   */
  update<R extends KubeObject>(object: R, options?: UpdateOptions): Promise<R>;
  update<T extends WriteObject>(object: At<T, P> & T, options?: UpdateOptions): Promise<ReadOf<T>>;
  /** Changes part of an object (`Patch`). */
  patch<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S, P>,
    patch: Patch<R>,
    options?: PatchOptions,
  ): Promise<R>;
  /**
   * Server-side apply of a whole intent: fields that `fieldManager` applied before and no longer names are removed. Takes the
   * Kind's write type: an object that was read does not compile, and is refused. No-ops are skipped; see
   * {@link ApplyOptions}.
   */
  apply<R extends KubeObject, W, S extends Scope, N extends string | undefined, O extends ApplyOptions<R>>(
    object: AppliedAt<New<R, W, S, N>, P, O> & New<R, W, S, N> & { readonly metadata: WriteMeta },
    options: ApplyArgument<P, O>,
  ): Promise<R>;
  /** Server-side apply of some fields: a deep partial; elements of keyed lists need their keys. */
  applyFields<R extends KubeObject>(
    kind: KindRef<R>,
    fields: ApplyFields<R>,
    options: ApplyArgument<P, ApplyOptions<R>>,
  ): Promise<R>;
  /** Asks for deletion (`Delete`). Resolves to the object if it lives on (finalizers, grace period), else a Status. */
  delete<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S, P>,
    options?: DeleteOptions,
  ): Promise<R | Status>;
  /**
   * Requests the deletion of all matching objects (`DeleteAllOf`). A namespaced kind requires a namespace: servers
   * handle one at a time.
   */
  deleteCollection<R extends KubeObject>(kind: KindRef<R>, options?: DeleteCollectionOptions): Promise<void>;
}

/** Writes the status of objects (`client.StatusWriter`): the rest of what is sent is ignored by the server. */
export interface StatusWriter<in P extends Placement = Explicit> {
  /** Replaces the status by the object's (`Update`); conflicts and refusals as in {@link Writer.update}. */
  update<R extends KubeObject>(object: R, options?: UpdateOptions): Promise<R>;
  update<T extends WriteObject>(object: At<T, P> & T, options?: UpdateOptions): Promise<ReadOf<T>>;
  /** Changes part of the status (`Patch`); the patch is one of the whole object, `{ status: … }`. */
  patch<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S, P>,
    patch: Patch<R>,
    options?: PatchOptions,
  ): Promise<R>;
  /** Server-side apply of the status: `fields` holds `{ metadata, status }`, and nothing else is taken over. */
  applyFields<R extends KubeObject>(
    kind: KindRef<R>,
    fields: ApplyFields<R>,
    options: ApplyArgument<P, ApplyOptions<R>>,
  ): Promise<R>;
}

/** Has a way to write statuses (`client.StatusClient`). */
export interface StatusClient<in P extends Placement = Explicit> {
  readonly status: StatusWriter<P>;
}

/** One subresource of any kind (`client.SubResourceClient`), e.g. `client.subresource('scale')`. */
export interface SubResourceClient<in P extends Placement = Explicit> extends StatusWriter<P> {
  /** `B` is the type of the subresource, e.g. `Scale`. */
  get<B = unknown>(kind: KindRef, key: { namespace?: string; name: string }, options?: GetOptions): Promise<B>;
  /** Posts to the subresource: an Eviction, a Binding, a TokenRequest. */
  create<B = unknown>(
    kind: KindRef,
    key: { namespace?: string; name: string },
    body: object,
    options?: CreateOptions,
  ): Promise<B>;
  /** Replaces a subresource that is a thing of its own, such as a `Scale`. */
  replace<B extends object>(
    kind: KindRef,
    key: { namespace?: string; name: string },
    body: B,
    options?: UpdateOptions,
  ): Promise<B>;
}

/** Adds an index to a cache (`client.FieldIndexer`, `IndexField`). */
export interface FieldIndexer {
  /** `values` gives the object's values of the index; called before the cache starts, or after. */
  indexField<R extends KubeObject>(
    kind: KindRef<R>,
    field: string,
    values: (object: R) => readonly string[],
    options?: CallOptions,
  ): Promise<void>;
}

/** Reads, writes and watches any kind (`client.Client`, `client.WithWatch`). */
export interface Client<in P extends Placement = Explicit> extends Reader<P>, Writer<P>, StatusClient<P> {
  /** The kinds that it knows without discovery. */
  readonly scheme: Scheme;
  /** Kind ↔ resource, by the server's discovery (`RESTMapper`). */
  readonly mapper: RestMapper;
  /**
   * Every object: one by one as the bytes of one answer come in, all of one moment; or, with `limit`, page by page as
   * {@link pages} (`EachListItem`).
   */
  each<R extends KubeObject>(kind: KindRef<R>, options?: PagesOptions): AsyncIterable<R>;
  /**
   * Page by page, 500 objects each unless `limit` says otherwise (`pager.ListPager`). All are of one moment, that of the
   * first page, unless the reader takes longer than the server remembers it: see `onExpired`. No object comes twice.
   */
  pages<R extends KubeObject>(kind: KindRef<R>, options?: PagesOptions): AsyncIterable<KubeList<R>>;
  /** One watch (`Watch`): ends when the server ends it. Errors come as events of type ERROR, too. */
  watch<R extends KubeObject>(kind: KindRef<R>, options?: WatchOptions): Promise<WatchStream<R>>;
  /** A watch that survives disconnects, 429, 5xx and expiry until it is stopped. */
  retryingWatch<R extends KubeObject>(kind: KindRef<R>, options?: RetryingWatchOptions): RetryingWatch<R>;
  /** A subresource of any kind (`SubResource(name)`). */
  subresource(name: string): SubResourceClient<P>;
  /** Rows and columns as kubectl prints them. */
  table(kind: KindRef, options?: ListOptions): Promise<Table>;
  /** A container's log, as bytes, as they come; `lines(stream)` makes text lines of them. */
  logs(pod: Key<'Namespaced', P>, options?: PodLogOptions): Promise<ByteStream>;
  /**
   * The logs of several Pods, merged line by line; with `follow` over restarts, and with Pods that come later.
   *
   * ```ts
   * const logs = await client.logs({ namespace: 'shop', labelSelector: 'app=web' }, { follow: true });
   * for await (const { pod, text } of logs) print(pod, text);
   * ```
   */
  logs(selection: LogSelection, options?: MergedLogOptions): Promise<MergedLogs>;
  /**
   * Runs a command in a container (`kubectl exec`). Await the call for the running command, whose output is read as it
   * comes, or call `text()` on it. `command` is a list of words; no shell looks at it.
   *
   * Output is whole, or reading it throws. RBAC: `create` and `get` on `pods/exec`.
   */
  exec(pod: Key<'Namespaced', P>, command: readonly string[], options?: ExecOptions): ExecCall;
  /** Attaches to the process that a container runs already (`kubectl attach`). RBAC: `create`, `get` on `pods/attach`. */
  attach(pod: Key<'Namespaced', P>, options?: ExecOptions): ExecCall;
  /**
   * Adds an ephemeral container to a Pod, waits until it runs, and attaches to it (`kubectl debug`). Throws an `ExecError`
   * if it cannot start, e.g. because its image cannot be pulled.
   *
   * ```ts
   * await using shell = await client.debug(pod, { image: 'busybox', target: 'app', command: ['sh'], stdin: 'ps\n' });
   * for await (const bytes of shell.stdout) process.stdout.write(bytes);
   * ```
   *
   * RBAC: `patch` on `pods/ephemeralcontainers`, `list` and `watch` on `pods`, `create` and `get` on `pods/attach`.
   */
  debug(pod: Key<'Namespaced', P>, options: DebugOptions): Promise<DebugSession>;
  /**
   * Forwards local ports to a Pod (`kubectl port-forward`), or to a ready Pod behind a Service, a Deployment or another
   * kind with a selector. RBAC: `create` and `get` on `pods/portforward`, and to read what selects the Pods.
   *
   * ```ts
   * await using to = await client.forward({ kind: Service, namespace, name: 'web' }, { ports: [8080, [0, 9090]] });
   * await fetch(to.url);
   * ```
   */
  forward(target: ForwardTo<P>, options: ForwardOptions): Promise<Forward>;
  /**
   * Sends an HTTP request to a Pod, a Service or a Node, through the API server (`ProxyGet`). Await the call for the answer,
   * or call `text()`, `json()` or `bytes()` on it, which throw a `ProxyError` unless the target reported success.
   * Refusals of the API server itself are an `ApiError`. The request is sent once.
   *
   * ```ts
   * const metrics = await client.proxy({ namespace, name: 'web-0', port: 9090 }, '/metrics').text();
   * await using answer = await client.proxy({ kind: Service, namespace, name: 'web', port: 'http' }, '/orders', { method: 'POST', body });
   * ```
   *
   * RBAC: on `pods/proxy`, `services/proxy` or `nodes/proxy` the verb of the method: `get`, `create` for POST, `update`
   * for PUT, `patch`, `delete`.
   */
  proxy(target: ProxyTo<P>, path?: string, options?: ProxyOptions): ProxyCall;
  /**
   * Copies a file or folder into a container (`kubectl cp`). The path of `to` is that of the copy; the folder above it
   * must exist. Permissions, times and links are kept. Resolves when all of it is there.
   *
   * ```ts
   * await client.copy(fromLocal('./site'), inPod(pod, '/srv/site'), { verify: true });
   * ```
   */
  copy(from: LocalPlace, to: PodPlace, options?: CopyOptions): Promise<Copied>;
  /** Copies a file or folder out of a container. Nothing is written outside of `to`, whatever the container sends. */
  copy(from: PodPlace, to: LocalPlace, options?: CopyOptions): Promise<Copied>;
}
