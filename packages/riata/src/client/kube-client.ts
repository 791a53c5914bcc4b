import { Pod } from '../kinds/generated/groups/core/v1.js';
import type { KindRef, New, ReadOf, Scope } from '../object/kind.js';
import type { KubeList, KubeObject, Status, WriteMeta } from '../object/meta.js';
import type { Scheme } from '../object/scheme.js';
import { refuseLossy } from '../object/value/lossy.js';
import { type ServerContact, serverContact } from '../rest/chain/server-contact.js';
import { findApiError, isApiError } from '../rest/errors/api-error.js';
import { isNotFound, isUnexpectedServerError } from '../rest/errors/error-guards.js';
import { isTransportError } from '../rest/errors/transport-error.js';
import { patchTypes } from '../rest/rest-client.js';
import type { ByteStream } from '../rest/stream/byte-stream.js';
import type { WatchStream } from '../rest/stream/watch-stream.js';
import { keptIn } from '../runtime/kept-in.js';
import { refuseUnknownOptions } from '../runtime/option-names.js';
import type { Random } from '../runtime/random.js';
import type { Scheduler } from '../runtime/time/clock.js';
import type { ApplyFields } from './apply-fields.js';
import type { RestMapper } from './discovery/rest-mapper.js';
import type {
  AppliedAt,
  ApplyArgument,
  At,
  Client,
  Explicit,
  ForwardTo,
  Key,
  LogSelection,
  Placement,
  ProxyTo,
  StatusWriter,
  SubResourceClient,
  WriteObject,
} from './interfaces.js';
import { applyOperation, intentOf } from './operation/apply-operation.js';
import { checkWritten } from './operation/check-written.js';
import { commandOperation } from './operation/command-operation.js';
import { eachItem, eachPage } from './operation/list-pages.js';
import type { Answers, Operation, Run, Verb } from './operation/operation.js';
import { callOf, deleteBody, getParams, listParams, watchParams, writeParams } from './operation/params.js';
import { type PodLogOptions, podLogOperation, podLogOptionNames } from './operation/pod-log-operation.js';
import {
  type ApplyOptions,
  applyOptionNames,
  type CreateOptions,
  createOptionNames,
  type DeleteCollectionOptions,
  type DeleteOptions,
  deleteCollectionOptionNames,
  deleteOptionNames,
  type GetOptions,
  getOptionNames,
  type ListOptions,
  listOptionNames,
  type PagesOptions,
  type PatchOptions,
  pagesOptionNames,
  patchOptionNames,
  type Selection,
  type UpdateOptions,
  updateOptionNames,
  type WatchOptions,
  watchOptionNames,
} from './options.js';
import type { Patch } from './patch.js';
import type { Copied, CopyOptions } from './stream/copy/copy.js';
import type { LocalPlace, PodPlace } from './stream/copy/copy-place.js';
import { type DebugOptions, type DebugSession, debugOptionNames } from './stream/debug-session.js';
import { ExecCall } from './stream/exec-call.js';
import { type ExecOptions, execOptionNames } from './stream/exec-options.js';
import { ExecSession } from './stream/exec-session.js';
import { type Forward, type ForwardOptions, forwardOptionNames } from './stream/forward.js';
import type { MergedLogOptions, MergedLogs } from './stream/merged-logs.js';
import type { ProxyOptions } from './stream/proxy/proxy.js';
import { ProxyCall } from './stream/proxy/proxy-call.js';
import { SubResource } from './sub-resource.js';
import { type Table, tableAccept, toTable } from './table.js';
import { RetryingWatch, type RetryingWatchOptions, retryingWatchOptionNames } from './watch/retrying-watch.js';

/** What a {@link KubeClient} is built on. */
export interface KubeClientParts {
  readonly run: Run;
  readonly scheme: Scheme;
  readonly mapper: RestMapper;
  readonly clock: Scheduler;
  readonly random: Random;
  /** Aborts when the connection is closed for good. @default never */
  readonly closing?: AbortSignal;
  /** Whether the server is reachable, shared by all users of the connection. @default each detects it alone */
  readonly contact?: ServerContact;
}

/** The parts of a client, to build one of another class on them. */
export const partsOf: unique symbol = Symbol('riata.partsOf');
/** Makes a client of the same class. */
export const remake: unique symbol = Symbol('riata.remake');

/**
 * The client: typed methods over one function that runs operations ({@link Run}). Created by `createClient`; `wrap`
 * returns another one with another function, and wrappers do nothing else.
 */
export class KubeClient<in P extends Placement = Explicit> implements Client<P> {
  readonly #parts: KubeClientParts;
  #status: StatusWriter<P> | undefined;

  constructor(parts: KubeClientParts) {
    this.#parts = parts;
  }

  get status(): StatusWriter<P> {
    this.#status ??= this.subresource('status');
    return this.#status;
  }

  get scheme(): Scheme {
    return this.#parts.scheme;
  }

  get mapper(): RestMapper {
    return this.#parts.mapper;
  }

  /**
   * A client whose operations go through `wrapper`. It shares the connection but does not own it: keep the client that
   * `createClient` returned, to close it.
   */
  wrap(wrapper: (run: Run) => Run): KubeClient<P> {
    return this[remake]({ ...this.#parts, run: wrapper(this.#parts.run) });
  }

  [remake](parts: KubeClientParts): KubeClient<P> {
    return new KubeClient<P>(parts);
  }

  get [partsOf](): KubeClientParts {
    return this.#parts;
  }

  get [serverContact](): ServerContact | undefined {
    return this.#parts.contact;
  }

  /**
   * Carries out an operation put together by hand. Never throws: what a wrapper throws is a rejection too. What fails carries
   * the stack of the caller. Answers come in by callbacks of a socket, so that an error made there knows nothing of who
   * asked; here, the call is awaited, and V8 follows the awaits up to the caller's line.
   */
  async run<V extends Verb>(operation: Operation<V>): Promise<Answers[V]> {
    try {
      return await this.#parts.run(operation);
    } catch (error) {
      // Other errors come from code that went wrong: their own stack says where.
      if (isApiError(error) || isTransportError(error)) Error.captureStackTrace(error, KubeClient.prototype.run);
      if (isApiError(error)) keptIn(error, partsOf, () => this.#parts); // for retries, which wait on this client's clock
      throw error;
    }
  }

  /** The kind of an object: its builder, a kind of the scheme, or else what the server's discovery says. */
  async kindOf(object: { readonly apiVersion: string; readonly kind: string }): Promise<KindRef> {
    return this.scheme.kindOf(object) ?? (await this.mapper.kindFor(object));
  }

  async get<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S, P>,
    options: GetOptions = {},
  ): Promise<R> {
    refuseUnknownOptions('client.get', options, getOptionNames);
    return (await this.run(getOperation(kind, key, options))) as R;
  }

  async find<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S, P>,
    options: GetOptions = {},
  ): Promise<R | undefined> {
    refuseUnknownOptions('client.find', options, getOptionNames);
    try {
      return (await this.run(getOperation(kind, key, options))) as R;
    } catch (error) {
      // A 404 that is no Status, or names no object, is about the path: the server does not serve the kind.
      const aboutObject = !isUnexpectedServerError(error) && Boolean(findApiError(error)?.status.details?.name);
      if (isNotFound(error) && aboutObject) return undefined;
      throw error;
    }
  }

  async list<R extends KubeObject>(kind: KindRef<R>, options: ListOptions = {}): Promise<KubeList<R>> {
    refuseUnknownOptions('client.list', options, listOptionNames);
    return (await (await this.#listStream(kind, options)).collect()) as KubeList<R>;
  }

  each<R extends KubeObject>(kind: KindRef<R>, options: PagesOptions = {}): AsyncIterable<R> {
    refuseUnknownOptions('client.each', options, pagesOptionNames);
    return eachItem((page) => this.#listStream(kind, page), options) as AsyncIterable<R>;
  }

  pages<R extends KubeObject>(kind: KindRef<R>, options: PagesOptions = {}): AsyncIterable<KubeList<R>> {
    refuseUnknownOptions('client.pages', options, pagesOptionNames);
    return eachPage(async (page) => (await this.#listStream(kind, page)).collect() as Promise<KubeList<R>>, options);
  }

  async watch<R extends KubeObject>(kind: KindRef<R>, options: WatchOptions = {}): Promise<WatchStream<R>> {
    refuseUnknownOptions('client.watch', options, watchOptionNames);
    return await this.#watchStream(kind, options);
  }

  async #watchStream<R extends KubeObject>(kind: KindRef<R>, options: WatchOptions): Promise<WatchStream<R>> {
    const { namespace, cutManagedFields, decoder, idleTimeoutMs, timer } = options;
    const params = watchParams(options);
    const read = { cutManagedFields, decoder, idleTimeoutMs, timer } as const;
    const operation = { verb: 'watch', kind, namespace, params, ...read, ...callOf(options) } as const;
    return (await this.run(operation)) as unknown as WatchStream<R>;
  }

  retryingWatch<R extends KubeObject>(kind: KindRef<R>, options: RetryingWatchOptions = {}): RetryingWatch<R> {
    refuseUnknownOptions('client.retryingWatch', options, retryingWatchOptionNames);
    const source = {
      list: (page: ListOptions) => this.#listStream(kind, page),
      watch: (from: WatchOptions) => this.#watchStream(kind, from),
    };
    return new RetryingWatch<R>(source, options, this.#parts);
  }

  async create<T extends WriteObject>(object: At<T, P> & T, options: CreateOptions = {}): Promise<ReadOf<T>> {
    refuseUnknownOptions('client.create', options, createOptionNames);
    const kind = await this.#kindOfWritten(object);
    const { namespace } = object.metadata;
    const params = writeParams(options);
    const operation = { verb: 'create', kind, namespace, params, body: object, ...callOf(options) } as const;
    return (await this.run(operation)) as ReadOf<T>;
  }

  update<R extends KubeObject>(object: R, options?: UpdateOptions): Promise<R>;
  update<T extends WriteObject>(object: At<T, P> & T, options?: UpdateOptions): Promise<ReadOf<T>>;
  async update(object: WriteObject, options: UpdateOptions = {}): Promise<unknown> {
    refuseUnknownOptions('client.update', options, updateOptionNames);
    refuseLossy(object, 'update');
    const kind = await this.#kindOfWritten(object);
    const params = writeParams(options);
    const operation = { verb: 'update', kind, ...keyOf(object.metadata), params, body: object } as const;
    return await this.run({ ...operation, ...callOf(options) });
  }

  async patch<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S, P>,
    patch: Patch<R>,
    options: PatchOptions = {},
  ): Promise<R> {
    refuseUnknownOptions('client.patch', options, patchOptionNames);
    const contentType = patchTypes[patch.type];
    const params = writeParams(options);
    const operation = { verb: 'patch', kind, ...keyOf(key), params, body: patch.body, contentType } as const;
    return (await this.run({ ...operation, ...callOf(options) })) as R;
  }

  async apply<R extends KubeObject, W, S extends Scope, N extends string | undefined, O extends ApplyOptions<R>>(
    object: AppliedAt<New<R, W, S, N>, P, O> & New<R, W, S, N> & { readonly metadata: WriteMeta },
    options: ApplyArgument<P, O>,
  ): Promise<R> {
    refuseUnknownOptions('client.apply', (options ?? {}) as object, applyOptionNames);
    const intent = object as unknown as WriteObject;
    return (await this.run(applyOperation(await this.#kindOfWritten(intent), intent, options ?? {}))) as R;
  }

  async applyFields<R extends KubeObject>(
    kind: KindRef<R>,
    fields: ApplyFields<R>,
    options: ApplyArgument<P, ApplyOptions<R>>,
  ): Promise<R> {
    refuseUnknownOptions('client.applyFields', (options ?? {}) as object, applyOptionNames);
    return (await this.run(applyOperation(kind, intentOf(kind, fields), options ?? {}))) as R;
  }

  async delete<R extends KubeObject, S extends Scope>(
    kind: KindRef<R, S>,
    key: Key<S, P>,
    options: DeleteOptions = {},
  ): Promise<R | Status> {
    refuseUnknownOptions('client.delete', options, deleteOptionNames);
    const operation = { verb: 'delete', kind, ...keyOf(key), params: {}, body: deleteBody(options) } as const;
    return (await this.run({ ...operation, ...callOf(options) })) as R | Status;
  }

  async deleteCollection<R extends KubeObject>(kind: KindRef<R>, options: DeleteCollectionOptions = {}): Promise<void> {
    refuseUnknownOptions('client.deleteCollection', options, deleteCollectionOptionNames);
    const { namespace } = options;
    const body = deleteBody(options);
    const params = listParams(options);
    await this.run({ verb: 'deletecollection', kind, namespace, params, body, ...callOf(options) });
  }

  subresource(name: string): SubResourceClient<P> {
    return new SubResource<P>(
      name,
      (operation) => this.run(operation),
      (object) => this.#kindOfWritten(object),
    );
  }

  async table(kind: KindRef, options: ListOptions = {}): Promise<Table> {
    refuseUnknownOptions('client.table', options, listOptionNames);
    const { namespace } = options;
    const headers = { accept: tableAccept };
    const params = listParams(options);
    // A table is one object, whatever it lists: read like one.
    return toTable(await this.run({ verb: 'get', kind, namespace, params, headers, ...callOf(options) }), kind);
  }

  logs(pod: Key<'Namespaced', P>, options?: PodLogOptions): Promise<ByteStream>;
  logs(selection: LogSelection, options?: MergedLogOptions): Promise<MergedLogs>;
  async logs(
    of: Key<'Namespaced', P> | LogSelection,
    options: PodLogOptions | MergedLogOptions = {},
  ): Promise<ByteStream | MergedLogs> {
    if (!('labelSelector' in of)) {
      refuseUnknownOptions('client.logs', options, podLogOptionNames);
      return await this.run(podLogOperation(of, options));
    }
    // Loaded on first use: few programs read the logs of several Pods.
    const { MergedLogs, mergedLogOptionNames } = await import('./stream/merged-logs.js');
    refuseUnknownOptions('client.logs', options, mergedLogOptionNames);
    const source = {
      clock: this.#parts.clock,
      list: async (selection: Selection, signal: AbortSignal) => (await this.list(Pod, { ...selection, signal })).items,
      watch: (selection: Selection, signal: AbortSignal) => this.retryingWatch(Pod, { ...selection, signal }),
      open: (pod: { readonly namespace: string; readonly name: string }, own: PodLogOptions) =>
        this.run(podLogOperation(pod, own)),
    };
    return new MergedLogs(source, of, options as MergedLogOptions);
  }

  exec(pod: Key<'Namespaced', P>, command: readonly string[], options: ExecOptions = {}): ExecCall {
    refuseUnknownOptions('client.exec', options, execOptionNames);
    if (!Array.isArray(command) || command.length === 0) {
      throw new TypeError(
        'client.exec: the command must be a list of words such as ["ls", "-l"]; it is not run by a shell',
      );
    }
    return this.#command(pod, command, options);
  }

  attach(pod: Key<'Namespaced', P>, options: ExecOptions = {}): ExecCall {
    refuseUnknownOptions('client.attach', options, execOptionNames);
    return this.#command(pod, undefined, options);
  }

  async debug(pod: Key<'Namespaced', P>, options: DebugOptions): Promise<DebugSession> {
    // Loaded on first use: few programs debug Pods.
    const { startDebugging } = await import('./stream/start-debugging.js');
    refuseUnknownOptions('client.debug', options, debugOptionNames);
    return startDebugging(this as unknown as KubeClient, pod, options, this.#parts.random);
  }

  async forward(target: ForwardTo<P>, options: ForwardOptions): Promise<Forward> {
    refuseUnknownOptions('client.forward', options, forwardOptionNames);
    // Loaded on first use: few programs forward ports.
    const { startForward } = await import('./stream/start-forward.js');
    return startForward(this as unknown as KubeClient, target, options);
  }

  proxy(target: ProxyTo<P>, path = '/', options: ProxyOptions = {}): ProxyCall {
    // Loaded on first use: few programs proxy requests.
    const loaded = import('./stream/proxy/proxy.js');
    return new ProxyCall(loaded.then(({ proxyTo }) => proxyTo((made) => this.run(made), target, path, options)));
  }

  copy(from: LocalPlace, to: PodPlace, options?: CopyOptions): Promise<Copied>;
  copy(from: PodPlace, to: LocalPlace, options?: CopyOptions): Promise<Copied>;
  async copy(from: LocalPlace | PodPlace, to: LocalPlace | PodPlace, options: CopyOptions = {}): Promise<Copied> {
    // Loaded on first use: few programs copy files.
    const { copyFrom, copyInto, copyOptionNames } = await import('./stream/copy/copy.js');
    refuseUnknownOptions('client.copy', options, copyOptionNames);
    const runner = this as unknown as KubeClient;
    if ('local' in from && 'pod' in to) return copyInto(runner as never, from, to, options);
    if ('pod' in from && 'local' in to) return copyFrom(runner as never, from, to, options);
    throw new TypeError('client.copy: one side must be local and the other one in a Pod');
  }

  #command(pod: Key<'Namespaced', P>, command: readonly string[] | undefined, options: ExecOptions): ExecCall {
    const open = async () => {
      const socket = await this.run(commandOperation(pod, command, options));
      const what = `${command === undefined ? 'attach to' : 'exec in'} Pod ${pod.name}`;
      return new ExecSession(socket, what, options.stdin);
    };
    return new ExecCall(open());
  }

  #kindOfWritten(object: WriteObject): Promise<KindRef> {
    checkWritten(object);
    return this.kindOf(object);
  }

  #listStream(kind: KindRef, options: ListOptions): Promise<Answers['list']> {
    const { namespace, cutManagedFields, decoder } = options;
    return this.run({
      verb: 'list',
      kind,
      namespace,
      params: listParams(options),
      cutManagedFields,
      decoder,
      ...callOf(options),
    });
  }
}

function getOperation(
  kind: KindRef,
  key: { readonly namespace?: string; readonly name?: string },
  options: GetOptions,
): Operation<'get'> {
  return { verb: 'get', kind, ...keyOf(key), params: getParams(options), ...callOf(options) };
}

/** Only the two names: a key may be a whole metadata. */
function keyOf(key: { readonly namespace?: string; readonly name?: string }) {
  return { namespace: key.namespace, name: key.name };
}
