import { keyId } from '../../object/key.js';
import type { WorkItem } from '../../queue/queue-entry.js';
import type { ClusterShares } from '../cluster/cluster-shares.js';
import type { ControllerMetrics } from './controller-metrics.js';
import type { ControllerWork } from './controller-options.js';
import type { Outcomes } from './outcomes.js';
import type { Cause, Request, RequestQueue } from './request.js';
import type { SelfWakeBackoff } from './self-wake-backoff.js';

type Item = WorkItem<Request, readonly Cause[]>;

/** What a {@link KeyAdmission} decides by. */
export interface KeyAdmissionParts {
  readonly queue: RequestQueue;
  readonly work: Pick<ControllerWork, 'gate' | 'setAside'>;
  readonly selfWake: SelfWakeBackoff;
  /** Given, each cluster has its own limit. */
  readonly shares: ClusterShares | undefined;
  readonly outcomes: Pick<Outcomes, 'forget'>;
  readonly metrics: Pick<ControllerMetrics, 'notInShard'>;
}

/** Decides whether a key from the queue is reconciled now. */
export class KeyAdmission {
  readonly #parts: KeyAdmissionParts;

  constructor(parts: KeyAdmissionParts) {
    this.#parts = parts;
  }

  /** Keys that wait for others of their cluster. */
  get waiting(): number {
    return this.#parts.shares?.waiting ?? 0;
  }

  /**
   * The request to reconcile, until {@link ended}. Undefined: the key belongs to another replica, was set aside, or has
   * to wait.
   */
  admit(item: Item): Item | undefined {
    const { queue, work, selfWake, shares, metrics } = this.#parts;
    const { key, note = [] } = item;
    if (work.gate?.admits(key) === false) {
      metrics.notInShard();
      return this.#drop(key);
    }
    if (work.setAside?.(item)) return this.#drop(key);
    const waitMs = selfWake.waitMs(keyId(key), note);
    if (waitMs > 0) return this.#delay(item, waitMs);
    if (shares === undefined) return item;
    const admitted = shares.admit(item);
    // A key that waits for others of its cluster is enqueued again when one has ended; its failures still count.
    if (admitted === undefined) queue.done(key);
    return admitted;
  }

  /** The reconcile of a key that was admitted has ended. */
  ended(key: Request): void {
    this.#parts.queue.done(key);
    this.#parts.shares?.ended(key);
  }

  /** If the key is enqueued again, its failures count from zero. */
  #drop(key: Request): undefined {
    const { queue, outcomes, shares } = this.#parts;
    outcomes.forget(key);
    queue.done(key);
    shares?.next(key);
  }

  /** A change by anything else runs the key at once meanwhile. */
  #delay({ key, note, priority }: Item, waitMs: number): undefined {
    const { queue, shares } = this.#parts;
    queue.addAfter(key, waitMs, { note, priority });
    queue.done(key);
    shares?.next(key);
  }
}
