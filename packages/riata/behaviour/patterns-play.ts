import type { ConnectedClient } from '../src/client/index.js';
import type { KindRef, ObjectKey } from '../src/object/index.js';
import { Controllers, type SetApplier, type TypedControllerOptions } from '../src/patterns/index.js';
import type { Transport, TransportFlow } from '../src/rest/index.js';
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

/** The least that can apply sets: objects of a few kinds, found again by a label. Tells what it was asked to apply. */
export function simpleApplier(
  client: ConnectedClient,
  kinds: readonly KindRef[],
): SetApplier & { readonly sets: string[] } {
  const sets: string[] = [];
  return {
    sets,
    async apply(objects, { owner, setId, signal }) {
      const { namespace = 'none', name } = owner?.metadata ?? { name: 'none' };
      const label = { set: `${namespace}.${name}.${setId}` };
      sets.push(`${name} ${objects.map(({ metadata }) => metadata.name).join(' ')}`.trim());
      const wanted = new Set<string>();
      for (const object of objects) {
        const kind = await client.kindOf(object);
        const labels = { ...object.metadata.labels, ...label };
        const fields = { ...object, metadata: { ...object.metadata, labels } };
        const applied = await client.applyFields(kind, fields as never, {
          fieldManager: 'simple',
          force: true,
          signal,
        });
        wanted.add(applied.metadata.uid);
      }
      for (const kind of kinds) {
        const { items } = await client.list(kind, { labelSelector: { matchLabels: label }, signal });
        for (const { metadata } of items.filter((item) => !wanted.has(item.metadata.uid))) {
          await client.delete(kind, keyOf(metadata) as never, { signal });
        }
      }
    },
  };
}

function keyOf({ namespace, name }: ObjectKey): ObjectKey {
  return namespace ? { namespace, name } : { name };
}
