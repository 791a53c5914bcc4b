import type { ConnectedClient } from '../src/client/index.js';
import type { KindRef } from '../src/object/index.js';
import { Apply, Controllers, type SetApplier, type TypedControllerOptions } from '../src/patterns/index.js';
import type { Transport, TransportFlow } from '../src/rest/index.js';
import { silentLogger } from '../src/runtime/index.js';
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

/** The same server, behind a network that can be cut: watches end then, and requests wait until it is mended. */
export function cuttable(server: TestServer): TestServer & AsyncDisposable & { cut(): void; mend(): void } {
  const { config, transport: inner } = counted(server.config);
  const open = new Set<() => void>();
  let held: (() => void)[] | undefined;
  const dispatch: Transport['dispatch'] = (request, sink) => {
    if (held !== undefined) {
      held.push(() => dispatch(request, sink));
      return;
    }
    let isOver = false;
    let flow: TransportFlow | undefined;
    const cut = () => {
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
    inner.dispatch(request, {
      onHeaders(status, headers, given) {
        flow = given;
        if (request.path.includes('watch=')) open.add(cut);
        if (!isOver) sink.onHeaders(status, headers, given);
      },
      onData: (chunk) => void (isOver || sink.onData(chunk)),
      onEnd: () => end(() => sink.onEnd()),
      onError: (error) => end(() => sink.onError(error)),
    });
  };
  const close = () => inner.close();
  const transport: Transport = { dispatch, close, [Symbol.asyncDispose]: close };
  return {
    ...{ ...server, config: { ...config, transport } },
    cut() {
      held = [];
      for (const end of [...open]) end();
    },
    mend() {
      const waiting = held ?? [];
      held = undefined;
      for (const send of waiting) send();
    },
    [Symbol.asyncDispose]: close,
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
