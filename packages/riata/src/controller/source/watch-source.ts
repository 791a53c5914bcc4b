import type { Cache } from '../../cache/cache.js';
import type { Change } from '../../cache/informer/change.js';
import { formatKey, splitKey } from '../../object/key.js';
import type { KubeObject } from '../../object/meta.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { CallMemory } from '../calls/call-memory.js';
import { TrackedCalls } from '../calls/tracked-calls.js';
import { trackedReader } from '../calls/tracked-client.js';
import type { ControllerDefinition, MapFunc, WatchDefinition } from '../define/controller-definition.js';
import { orDirected } from '../define/pausing.js';
import { referenceSource } from '../define/reference-index.js';
import type { ReportedFailures } from '../status/reported-failures.js';
import {
  type EventHandler,
  enqueueRequestForObject,
  enqueueRequestForOwner,
  enqueueRequestsFromMap,
} from './event-handler.js';
import { ownKindSource } from './kind-source.js';
import { inCluster, type Source } from './source.js';

/** What a watch needs to become a source. */
export interface WatchParts {
  readonly cache: Cache;
  readonly cluster: string | undefined;
  readonly runtime: Runtime;
  /** Of the controller: its own reports are no reason to reconcile. @default none */
  readonly reported?: ReportedFailures;
  /** Of the controller: reads that a map function does not await are reported. @default they are not */
  readonly calls?: CallMemory;
}

/** Makes the sources of what a definition says is watched: mostly one. */
export function watchSources(
  definition: ControllerDefinition,
  watch: WatchDefinition,
  parts: WatchParts,
): readonly Source[] {
  const { cache, cluster, runtime, reported } = parts;
  if (watch.through === 'source') {
    const source = watch.make({ reader: cache, cache });
    return [cluster === undefined ? source : inCluster(source, cluster)];
  }
  const { kind } = watch;
  const isNews = (change: Change<KubeObject>) => !reported?.isEcho(change, cluster);
  const isOwn = watch.through === 'for';
  const given = isOwn && definition.options.pausable !== false ? watch.predicates.map(orDirected) : watch.predicates;
  const predicates = isOwn && reported !== undefined ? [isNews, ...given] : given;
  const name = `${watch.through === 'for' || watch.through === 'owns' ? watch.through : 'watches'} ${kind.kind}`;
  const options = { predicates, name, cluster, runtime };
  if (watch.through !== 'reference') {
    const handlerName = handlerNames[watch.through];
    const handler = handlerFor(definition, watch, name, parts);
    return [ownKindSource<KubeObject>(cache, kind, handler, { ...options, handlerName })];
  }
  const { index, source } = referenceSource(definition, watch, parts);
  const handler: EventHandler = ({ key }, enqueue) => {
    for (const referring of index.referringTo(key)) enqueue(splitKey(referring));
  };
  return [source, ownKindSource<KubeObject>(cache, kind, handler, options)];
}

const handlerNames = { for: 'handler', owns: 'owner', handler: 'handler', map: 'map' } as const;

function handlerFor(
  definition: ControllerDefinition,
  watch: Exclude<WatchDefinition, { readonly through: 'source' | 'reference' }>,
  name: string,
  parts: WatchParts,
): EventHandler {
  const { cache, runtime, calls: memory } = parts;
  switch (watch.through) {
    case 'for':
      return enqueueRequestForObject();
    case 'owns':
      return enqueueRequestForOwner(definition.kind, { onlyController: watch.onlyController });
    case 'handler':
      return watch.handler;
    case 'map': {
      const { map } = watch;
      // Most look at nothing but the object.
      if (map.length === 1 || memory === undefined) return enqueueRequestsFromMap((object) => map(object, cache));
      return enqueueRequestsFromMap((object) => mapTracked(map, object, name, { cache, runtime, memory }));
    }
  }
}

/** Asks a map function, and waits for what it reads without awaiting that. */
function mapTracked(
  map: MapFunc,
  object: KubeObject,
  source: string,
  { cache, runtime, memory }: Pick<WatchParts, 'cache' | 'runtime'> & { readonly memory: CallMemory },
): ReturnType<MapFunc> {
  const log = () => runtime.log.child({ source, key: formatKey(object.metadata) });
  const calls = new TrackedCalls({ memory, clock: runtime.clock, log, caller: 'map function' });
  const answer = map(object, trackedReader(cache, calls.track));
  if (!(answer instanceof Promise) && !calls.isOpen) return answer;
  return (async () => {
    try {
      const keys = await answer;
      if (calls.isOpen) await calls.settle();
      return keys;
    } finally {
      calls.end();
    }
  })();
}
