import type { Cache } from '../cache/cache.js';
import { splitKey } from '../object/key.js';
import type { KubeObject } from '../object/meta.js';
import type { Runtime } from '../runtime/runtime.js';
import { type ControllerDefinition, referenceKeys, type WatchDefinition } from './definition.js';
import {
  type EventHandler,
  enqueueRequestForObject,
  enqueueRequestForOwner,
  enqueueRequestsFromMap,
} from './event-handler.js';
import { kindSource } from './kind-source.js';
import { inCluster, type Source } from './source.js';

/** What a watch needs to become a source. */
export interface WatchParts {
  readonly cache: Cache;
  readonly cluster: string | undefined;
  readonly runtime: Runtime;
}

/** Makes a source of what a definition says is watched. */
export async function watchSource(
  definition: ControllerDefinition,
  watch: WatchDefinition,
  { cache, cluster, runtime }: WatchParts,
): Promise<Source> {
  if (watch.through === 'source') {
    const source = watch.make({ reader: cache });
    return cluster === undefined ? source : inCluster(source, cluster);
  }
  const { kind, predicates } = watch;
  const name = `${watch.through === 'for' || watch.through === 'owns' ? watch.through : 'watches'} ${kind.kind}`;
  const handler = await handlerFor(definition, watch, cache);
  return kindSource<KubeObject>(cache, kind, handler, { predicates, name, cluster, runtime });
}

async function handlerFor(
  definition: ControllerDefinition,
  watch: Exclude<WatchDefinition, { readonly through: 'source' }>,
  cache: Cache,
): Promise<EventHandler> {
  switch (watch.through) {
    case 'for':
      return enqueueRequestForObject();
    case 'owns':
      return enqueueRequestForOwner(definition.kind, { onlyController: watch.onlyController });
    case 'map': {
      const { map } = watch;
      return enqueueRequestsFromMap((object) => map(object, cache));
    }
    case 'reference': {
      const { index, references, kind } = watch;
      await cache.indexField(definition.kind, index, (object) =>
        referenceKeys(references(object), kind, object.metadata),
      );
      return ({ key }, enqueue) => {
        for (const referring of cache.keysByField(definition.kind, index, key)) enqueue(splitKey(referring));
      };
    }
  }
}
