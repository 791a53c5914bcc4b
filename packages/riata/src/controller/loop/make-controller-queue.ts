import { keyId } from '../../object/key.js';
import { WorkQueue } from '../../queue/work-queue.js';
import type { Runtime } from '../../runtime/runtime.js';
import { ClusterLimiters } from '../cluster/cluster-limiters.js';
import type { SourceFailures } from '../source/source-failures.js';
import type { ControllerWork } from './controller-options.js';
import { QueueFunctions } from './queue-functions.js';
import { mergeCauses, type RequestQueue } from './request.js';

/** Makes the queue of a controller, and its rate limiters if each cluster has one. */
export function makeControllerQueue(
  name: string,
  options: ControllerWork,
  runtime: Runtime,
  failures: SourceFailures,
): { readonly queue: RequestQueue; readonly limiters: ClusterLimiters | undefined } {
  const { fairness, priority = true, rateLimiter, newQueue = (given) => new WorkQueue(given) } = options;
  const { clock, random, metrics, log } = runtime;
  const functions = new QueueFunctions(runtime, failures);
  const limited = typeof rateLimiter === 'function' ? functions.rateLimiter(rateLimiter) : rateLimiter;
  // The queue refuses anything but a function.
  const isValid = rateLimiter === undefined || typeof rateLimiter === 'function';
  const limiters = options.perCluster && isValid ? new ClusterLimiters(limited) : undefined;
  const queue = newQueue({
    ...{ name, id: keyId, merge: mergeCauses, priority, clock, random, metrics, log },
    rateLimiter: limiters?.make ?? limited,
    fairness:
      fairness === 'namespace'
        ? ({ cluster, namespace = '' }) => keyId({ cluster, name: namespace })
        : fairness && functions.fairness(fairness),
  });
  return { queue, limiters };
}
