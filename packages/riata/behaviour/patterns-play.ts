import type { TestEnvironment } from '@riata/testing';
import type { ConnectedClient } from 'riata/client';
import type { KindRef } from 'riata/object';
import { Apply, Controllers, type SetApplier, type TypedControllerOptions } from 'riata/patterns';
import { silentLogger } from 'riata/runtime';
import type { SharedControllerFactoryOptions } from 'riata/shared';
import { type PlayConnection, type SharedPlay, startShared } from './shared-play.js';

/** Typed controllers over a factory for one namespace that live until the block is left. */
export function startPatterns(
  server: TestEnvironment,
  namespace: string,
  {
    finalizerPrefix,
    ...options
  }: SharedControllerFactoryOptions & TypedControllerOptions & { connection?: PlayConnection } = {},
): SharedPlay & { readonly controllers: Controllers } {
  const shared = startShared(server, namespace, options);
  const controllers = new Controllers(shared.factory, finalizerPrefix === undefined ? {} : { finalizerPrefix });
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
