import { keyId } from '../../object/key.js';
import {
  defaultControllerRateLimiter,
  type ItemRateLimiter,
  type RateLimiterContext,
} from '../../queue/item-rate-limiter.js';
import { WorkQueue } from '../../queue/work-queue.js';
import { limiterOf } from '../../queue/work-queue-options.js';
import type { Runtime } from '../../runtime/runtime.js';
import { ClusterLimiters } from '../cluster/cluster-limiters.js';
import type { SourceFailures } from '../source/source-failures.js';
import type { ControllerOptions, ControllerWork } from './controller-options.js';
import { QueueFunctions } from './queue-functions.js';
import { mergeCauses, type Request, type RequestQueue } from './request.js';

type MakeLimiter = (context: RateLimiterContext) => ItemRateLimiter;

/** The queue of a controller, and what of it may change while it is in use. */
export interface ControllerQueue {
  readonly queue: RequestQueue;
  /** Forgets the rate limiters of clusters that are not among these. */
  keepClusters(clusters: readonly string[]): void;
  /** How it continues with other functions: call the answer when they are to count. Throws what a function throws. */
  replace(next: Pick<ControllerOptions, 'fairness' | 'rateLimiter'>): () => void;
}

/** Makes the queue of a controller; each cluster has its own rate limiter if there may be several. */
export function makeControllerQueue(
  name: string,
  options: ControllerWork,
  runtime: Runtime,
  failures: SourceFailures,
): ControllerQueue {
  const { priority = true, newQueue = (given) => new WorkQueue(given) } = options;
  const { clock, random, metrics, log } = runtime;
  const functions = new QueueFunctions(runtime, failures);
  const limiterFor = (make: ControllerOptions['rateLimiter']) =>
    make === undefined ? undefined : functions.rateLimiter(limiterOf(name, make));
  const groupFor = (fairness: ControllerOptions['fairness']) =>
    fairness === 'namespace' ? byNamespace : fairness && functions.fairness(fairness);
  let { rateLimiter } = options;
  let group = groupFor(options.fairness);
  const made = limiterFor(rateLimiter);
  const limiters = options.perCluster ? new ClusterLimiters(made) : new LimiterSlot(made);
  const queue = newQueue({
    ...{ name, id: keyId, merge: mergeCauses, priority, clock, random, metrics, log },
    rateLimiter: limiters.make,
    // An order without priorities has groups from the start, or never.
    fairness: priority === false && group === undefined ? undefined : (key) => group?.(key) ?? '',
  });
  return {
    queue,
    keepClusters: (clusters) => limiters.keep(clusters),
    replace: (next) => {
      const isLimited = next.rateLimiter !== rateLimiter;
      const setLimiter = isLimited ? limiters.replace(limiterFor(next.rateLimiter)) : () => {};
      return () => {
        rateLimiter = next.rateLimiter;
        group = groupFor(next.fairness);
        setLimiter();
      };
    },
  };
}

function byNamespace({ cluster, namespace = '' }: Request): string {
  return keyId({ cluster, name: namespace });
}

/** A rate limiter that may be replaced by another one, as {@link ClusterLimiters}. */
class LimiterSlot implements Pick<ClusterLimiters, 'make' | 'keep' | 'replace'> {
  readonly #first: MakeLimiter;
  #context: RateLimiterContext | undefined;
  #limiter: ItemRateLimiter | undefined;

  constructor(first: MakeLimiter = defaultControllerRateLimiter) {
    this.#first = first;
  }

  readonly make: MakeLimiter = (context) => {
    this.#context = context;
    const first = this.#first(context);
    this.#limiter = first;
    const current = () => this.#limiter ?? first;
    return {
      when: (id) => current().when(id),
      forget: (id) => current().forget(id),
      numRequeues: (id) => current().numRequeues(id),
    };
  };

  keep(): void {}

  replace(make: MakeLimiter = defaultControllerRateLimiter): () => void {
    const next = this.#context && make(this.#context);
    return () => {
      this.#limiter = next;
    };
  }
}
