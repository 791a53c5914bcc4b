import type { Cache } from '../cache/cache.js';
import type { Change } from '../cache/change.js';
import { splitKey } from '../object/key.js';
import type { KubeObject } from '../object/meta.js';
import type { Runtime } from '../runtime/runtime.js';
import type { ControllerDefinition, WatchDefinition } from './definition.js';
import {
  type EventHandler,
  enqueueRequestForObject,
  enqueueRequestForOwner,
  enqueueRequestsFromMap,
} from './event-handler.js';
import type { FailureEchoes } from './failure-echoes.js';
import { kindSource } from './kind-source.js';
import { referenceSource } from './reference-index.js';
import { inCluster, type Source, type SyncingSource } from './source.js';

/** What a watch needs to become a source. */
export interface WatchParts {
  readonly cache: Cache;
  readonly cluster: string | undefined;
  readonly runtime: Runtime;
  /** Of the controller: its own words are no reason to reconcile. @default none */
  readonly echoes?: FailureEchoes;
}

/** Makes a source of what a definition says is watched. */
export function watchSource(
  definition: ControllerDefinition,
  watch: WatchDefinition,
  { cache, cluster, runtime, echoes }: WatchParts,
): Source {
  if (watch.through === 'source') {
    const source = watch.make({ reader: cache, cache });
    return cluster === undefined ? source : inCluster(source, cluster);
  }
  const { kind } = watch;
  const isNews = (change: Change<KubeObject>) => !echoes?.takes(change, cluster);
  const predicates = watch.through === 'for' && echoes !== undefined ? [isNews, ...watch.predicates] : watch.predicates;
  const name = `${watch.through === 'for' || watch.through === 'owns' ? watch.through : 'watches'} ${kind.kind}`;
  const options = { predicates, name, cluster, runtime };
  if (watch.through !== 'reference') {
    return kindSource<KubeObject>(cache, kind, handlerFor(definition, watch, cache), options);
  }
  const { index, source } = referenceSource(definition, watch, cache, runtime);
  const handler: EventHandler = ({ key }, enqueue) => {
    for (const referring of index.referringTo(key)) enqueue(splitKey(referring));
  };
  return behind(source, kindSource<KubeObject>(cache, kind, handler, options));
}

function handlerFor(
  definition: ControllerDefinition,
  watch: Exclude<WatchDefinition, { readonly through: 'source' | 'reference' }>,
  cache: Cache,
): EventHandler {
  switch (watch.through) {
    case 'for':
      return enqueueRequestForObject();
    case 'owns':
      return enqueueRequestForOwner(definition.kind, { onlyController: watch.onlyController });
    case 'handler':
      return watch.handler;
    case 'map': {
      const { map } = watch;
      return enqueueRequestsFromMap((object) => map(object, cache));
    }
  }
}

/** A source that needs another one to run beside it, and to be synced as well. */
function behind(needed: SyncingSource, source: SyncingSource): SyncingSource {
  return {
    name: source.name,
    async start(queue, options) {
      await needed.start(queue, options);
      await source.start(queue, options);
    },
    async waitForSync(options) {
      await Promise.all([needed.waitForSync(options), source.waitForSync(options)]);
    },
    get isPatient() {
      return needed.isPatient === true || source.isPatient === true;
    },
  };
}
