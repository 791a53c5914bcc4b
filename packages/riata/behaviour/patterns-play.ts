import type { ConnectedClient } from '../src/client/index.js';
import type { KindRef } from '../src/object/index.js';
import { Apply, Controllers, type SetApplier, type TypedControllerOptions } from '../src/patterns/index.js';
import type { Transport, TransportFlow, TransportRequest, TransportSink } from '../src/rest/index.js';
import { onAbort, silentLogger } from '../src/runtime/index.js';
import type { SharedControllerFactoryOptions } from '../src/shared/index.js';
import type { TestServer } from './servers.js';
import { counted, type SharedPlay, startShared } from './shared-play.js';

/** Typed controllers over a factory for one namespace that live until the block is left. */
export function startPatterns(
  server: TestServer,
  namespace: string,
  options: SharedControllerFactoryOptions & TypedControllerOptions = {},
): SharedPlay & { readonly controllers: Controllers } {
  const shared = startShared(server, namespace, options);
  const controllers = new Controllers(shared.factory, options);
  return { ...shared, controllers, [Symbol.asyncDispose]: () => shared[Symbol.asyncDispose]() };
}

/** A server behind a network that can be cut. */
export interface Cuttable extends TestServer, AsyncDisposable {
  readonly isCut: boolean;
  /** Ends watches; requests wait until it is mended. */
  cut(): void;
  /** Cuts it at the write after this many more: before it is sent, or, `late`, before it is answered. */
  cutAfterWrites(count: number, options: { readonly late: boolean }): void;
  mend(): void;
}

/** The same server, behind a network that can be cut. */
export function cuttable(server: TestServer): Cuttable {
  const { config, transport: inner } = counted(server.config);
  const open = new Set<() => void>();
  let held: (() => void)[] | undefined;
  let isLast: (request: TransportRequest) => 'early' | 'late' | undefined = () => undefined;
  const cut = () => {
    held ??= [];
    for (const end of [...open]) end();
  };
  const hold = (request: TransportRequest, sink: TransportSink) => {
    const aborted = onAbort(request.signal, () => sink.onError(request.signal?.reason));
    held?.push(() => {
      aborted[Symbol.dispose]();
      if (!request.signal?.aborted) dispatch(request, sink);
    });
  };
  const dispatch: Transport['dispatch'] = (request, sink) => {
    const last = held === undefined ? isLast(request) : undefined;
    if (last !== undefined) cut();
    if (last === 'late') inner.dispatch(request, deaf);
    if (held !== undefined) hold(request, sink);
    else inner.dispatch(request, endable(request, sink, open));
  };
  const close = () => inner.close();
  const transport: Transport = { dispatch, close, [Symbol.asyncDispose]: close };
  return {
    ...{ ...server, config: { ...config, transport }, cut, [Symbol.asyncDispose]: close },
    get isCut() {
      return held !== undefined;
    },
    cutAfterWrites(count, { late }) {
      let left = count;
      isLast = ({ method }) => {
        if (method === 'GET') return undefined;
        left -= 1;
        return left < 0 ? (late ? 'late' : 'early') : undefined;
      };
    },
    mend() {
      const waiting = held ?? [];
      held = undefined;
      isLast = () => undefined;
      for (const send of waiting) send();
    },
  };
}

const deaf: TransportSink = { onHeaders() {}, onData() {}, onEnd() {}, onError() {} };

/** While it is a watch under way, a function among `open` ends it. */
function endable(request: TransportRequest, sink: TransportSink, open: Set<() => void>): TransportSink {
  let isOver = false;
  let flow: TransportFlow | undefined;
  const cut = () => {
    open.delete(cut);
    if (isOver) return;
    isOver = true;
    sink.onEnd();
    flow?.abort();
  };
  const end = (tell: () => void) => {
    open.delete(cut);
    if (isOver) return;
    isOver = true;
    tell();
  };
  return {
    onHeaders(status, headers, given) {
      flow = given;
      if (request.path.includes('watch=')) open.add(cut);
      sink.onHeaders(status, headers, given);
    },
    onData: (chunk) => void (isOver || sink.onData(chunk)),
    onEnd: () => end(() => sink.onEnd()),
    onError: (error) => end(() => sink.onError(error)),
  };
}

/** Applies sets of a few kinds, and notes whose: the owner's name, and those of the objects. */
export function recordedApply(
  client: ConnectedClient,
  kinds: readonly KindRef[],
): SetApplier & { readonly sets: string[] } {
  const sets: string[] = [];
  const inner = new Apply(client, { kinds, lookup: 'given', runtime: { log: silentLogger } });
  return {
    sets,
    apply(objects, options) {
      const names = objects.map(({ metadata }) => metadata.name);
      sets.push([options.owner?.metadata.name, ...names].join(' '));
      return inner.apply(objects, options);
    },
  };
}
