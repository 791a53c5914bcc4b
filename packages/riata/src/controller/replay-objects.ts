import { link } from '../runtime/signals.js';
import { Removed } from '../runtime/stop-reasons.js';
import type { ControllerDefinition } from './definition.js';
import type { Request, RequestQueue } from './request.js';
import { isSyncing } from './source.js';
import { type WatchParts, watchSource } from './watch-source.js';

/** Where keys are put; the queue of a controller is one. */
type KeyTarget = Pick<RequestQueue, 'add'>;

/**
 * Puts every object of a controller's own kind in line again that is in the cache, that its predicates let through, and
 * whose key is meant: as at the start. Resolves when all are.
 */
export async function replayObjects(
  definition: ControllerDefinition,
  queue: KeyTarget,
  isMeant: (key: Request) => boolean,
  { signal, ...parts }: WatchParts & { readonly signal: AbortSignal },
): Promise<void> {
  const filtered: KeyTarget = {
    add: (key, options) => {
      if (isMeant(key)) queue.add(key, options);
    },
  };
  using scope = link(signal);
  try {
    for (const watch of definition.watches) {
      if (watch.through !== 'for') continue;
      const source = watchSource(definition, watch, parts);
      await source.start(filtered as RequestQueue, { signal: scope.signal });
      if (isSyncing(source)) await source.waitForSync({ signal: scope.signal });
    }
  } finally {
    scope.abort(new Removed('all objects are in line again'));
  }
}
