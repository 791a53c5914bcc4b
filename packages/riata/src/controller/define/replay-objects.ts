import { noMetrics } from '../../runtime/metrics.js';
import { link } from '../../runtime/signals.js';
import { Removed } from '../../runtime/stop-reasons.js';
import type { Request, RequestQueue } from '../loop/request.js';
import { isSyncing } from '../source/source.js';
import { SourceFailures } from '../source/source-failures.js';
import { type WatchParts, watchSource } from '../source/watch-source.js';
import type { ControllerDefinition } from './controller-definition.js';

const longestMs = 180_000;

/** Where keys are put; the queue of a controller is one. */
type KeyTarget = Pick<RequestQueue, 'add'>;

/**
 * Puts every object of a controller's own kind in line again that is in the cache, that its predicates let through, and
 * whose key is meant: as at the start. Resolves when all are; those that a predicate fails for are retried for three
 * minutes, longer by the controller's own watch alone.
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
  const { clock } = parts.runtime;
  // The controller's own watch counts and shows them.
  const failures = new SourceFailures(definition.name, { clock, metrics: noMetrics });
  const deadlineMs = clock.monotonic() + longestMs;
  try {
    for (const watch of definition.watches) {
      if (watch.through !== 'for') continue;
      const source = watchSource(definition, watch, parts);
      await source.start(filtered as RequestQueue, { signal: scope.signal, failures });
      if (isSyncing(source)) await source.waitForSync({ signal: scope.signal });
    }
    while (failures.list.length > 0 && clock.monotonic() < deadlineMs) {
      await clock.sleep(Math.max(100, failures.nextRetryMs ?? 1_000), { signal, background: true });
    }
  } finally {
    scope.abort(new Removed('all objects are in line again'));
  }
}
