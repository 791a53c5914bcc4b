import type { TestEnvironment } from '@riata/testing';
import type { ConnectedClient } from '../src/client/index.js';
import type { KindRef } from '../src/object/index.js';
import { Apply, Controllers, type SetApplier, type TypedControllerOptions } from '../src/patterns/index.js';
import { silentLogger } from '../src/runtime/index.js';
import type { SharedControllerFactoryOptions } from '../src/shared/index.js';
import { type PlayConnection, type SharedPlay, startShared } from './shared-play.js';

/** Typed controllers over a factory for one namespace that live until the block is left. */
export function startPatterns(
  server: TestEnvironment,
  namespace: string,
  options: SharedControllerFactoryOptions & TypedControllerOptions & { connection?: PlayConnection } = {},
): SharedPlay & { readonly controllers: Controllers } {
  const shared = startShared(server, namespace, options);
  const controllers = new Controllers(shared.factory, options);
  return { ...shared, controllers, [Symbol.asyncDispose]: () => shared[Symbol.asyncDispose]() };
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
