import type { KubeClient } from '../../client/kube-client.js';
import type { Runtime } from '../../runtime/runtime.js';
import { onAbort } from '../../runtime/signals.js';
import { isLostLease } from '../../runtime/stop-reasons.js';
import type { LeaderElectionOptions } from '../manager-options.js';
import type { RunnableGroup } from '../runnable-group.js';
import { LeaderElector } from './leader-elector.js';
import { LeaseLock } from './lease-lock.js';

/** What a {@link Leadership} needs. */
export interface LeadershipParts {
  /** Undefined: this replica always leads. */
  readonly options: LeaderElectionOptions | undefined;
  readonly client: KubeClient;
  readonly runtime: Runtime;
  /** What only the leader runs. */
  readonly group: RunnableGroup;
  /** Aborts when the manager stops. */
  readonly stopping: AbortSignal;
  readonly onLost: (error: unknown) => void;
  readonly onFailed: (error: unknown) => void;
}

/** Decides when a manager runs what only the leader runs: while it holds the lease, or always without leader election. */
export class Leadership {
  readonly elector: LeaderElector | undefined;
  /** Resolves when this replica leads. */
  readonly elected: Promise<void>;
  readonly #parts: LeadershipParts;
  readonly #end = new AbortController();
  readonly #abandon = new AbortController();
  #resolve: () => void = () => {};
  #hasLed = false;
  #election: Promise<void> = Promise.resolve();

  constructor(parts: LeadershipParts) {
    this.#parts = parts;
    this.elected = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.elector = parts.options && this.#makeElector(parts.options);
  }

  /** Joins the election, or leads at once. */
  start(): void {
    const { onLost, onFailed } = this.#parts;
    if (this.elector === undefined) {
      this.#lead();
      return;
    }
    this.#election = this.elector.run({ signal: this.#end.signal, abandon: this.#abandon.signal }).then(
      (outcome) => {
        if (outcome.outcome === 'lost') onLost(outcome.reason);
      },
      (error: unknown) => onFailed(error),
    );
  }

  /** Leaves the election unless it leads: the other replicas would wait for one that stops. */
  resign(reason: unknown): void {
    if (!this.#hasLed) this.#end.abort(reason);
  }

  /** Releases the lease. Resolves when that is done. */
  async release(reason: unknown): Promise<void> {
    this.#end.abort(reason);
    await this.#election;
  }

  /** Leaves the lease to expire: work that does not end may still write. */
  abandon(reason: unknown): void {
    this.#abandon.abort(reason);
  }

  #lead(): void {
    this.#hasLed = true;
    this.#resolve();
    this.#parts.group.start();
  }

  #makeElector(options: LeaderElectionOptions): LeaderElector {
    const { client, runtime, group, stopping, onLost } = this.#parts;
    const { leaseDuration, renewDeadline, retryPeriod, releaseOnStop, ...lock } = options;
    return new LeaderElector({
      ...{ leaseDuration, renewDeadline, retryPeriod, releaseOnStop, runtime },
      lock: new LeaseLock(client, { ...lock, random: runtime.random }),
      onStartedLeading: async (signal) => {
        if (stopping.aborted) return;
        this.#lead();
        await Promise.race([abortOf(signal), abortOf(stopping)]);
        const isLost = isLostLease(signal.reason);
        if (isLost) onLost(signal.reason);
        // The lease is held until everything that the leader runs has ended.
        await group.stop(isLost ? signal.reason : stopping.reason);
      },
    });
  }
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => void onAbort(signal, resolve));
}
