import { type Duration, durationMs } from '../../object/duration.js';
import { optionNames } from '../../runtime/option-names.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { ResourceLock } from './resource-lock.js';

/** Callbacks of a candidate (`leaderelection.LeaderCallbacks`). */
export interface LeaderCallbacks {
  /**
   * The work of the leader (`OnStartedLeading`). `signal` aborts with `LostLease` when the lease is lost, else with the
   * reason of the stop. The lease is kept until what this gives has settled. When it rejects, the term ends and `run`
   * rejects with the same; when it resolves early, this process keeps leading.
   */
  readonly onStartedLeading: (signal: AbortSignal) => void | Promise<void>;
  /**
   * Called exactly once per `run`, even if it never led (`OnStoppedLeading`): as soon as the lease is lost, otherwise
   * when the work has settled, before the lease is released. Errors are logged.
   */
  readonly onStoppedLeading?: () => void | Promise<void>;
  /** Called with each new leader, this process included (`OnNewLeader`). Errors are logged. */
  readonly onNewLeader?: (identity: string) => void;
}

/** Options of a `LeaderElector` (`leaderelection.LeaderElectionConfig`). */
export interface LeaderElectorOptions extends LeaderCallbacks {
  readonly lock: ResourceLock;
  /**
   * How long others wait after the last renewal that they saw, on their own clocks; rounded up to whole seconds.
   * @default '15s'
   */
  readonly leaseDuration?: Duration;
  /**
   * After this time without a renewal this process no longer leads and starts no more fenced writes. Counts from the
   * moment the last successful renewal was sent. @default '10s'
   */
  readonly renewDeadline?: Duration;
  /**
   * From the beginning of one try to renew to that of the next, which waits for the first; a candidate waits 1 to 2.2
   * times as long between two tries to acquire. @default '2s'
   */
  readonly retryPeriod?: Duration;
  /** Gives the lease up when stopped, so that the next leader need not wait (`ReleaseOnCancel`). @default true */
  readonly releaseOnStop?: boolean;
  /** The election's name in metrics. @default the lock's name */
  readonly name?: string;
  readonly runtime?: Partial<Runtime>;
}

export const leaderElectorOptionNames = optionNames<LeaderElectorOptions>({
  lock: true,
  leaseDuration: true,
  renewDeadline: true,
  retryPeriod: true,
  releaseOnStop: true,
  name: true,
  runtime: true,
  onStartedLeading: true,
  onStoppedLeading: true,
  onNewLeader: true,
});

/** The times of an election, checked, in milliseconds. */
export interface ElectionTimes {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  /** Of one request; so that a lost one leaves time for another before the deadline. */
  readonly requestTimeoutMs: number;
}

/** How much longer than `retryPeriod` a candidate waits at most, as a part of it (`leaderelection.JitterFactor`). */
export const jitterFactor = 1.2;

/** Fills in defaults, and refuses times that do not leave each other room: lease > renew > 1.2 × retry. */
export function electionTimes(options: LeaderElectorOptions, what: string): ElectionTimes {
  const { leaseDuration = '15s', renewDeadline = '10s', retryPeriod = '2s' } = options;
  const leaseMs = durationMs(leaseDuration, `${what}: leaseDuration`);
  const renewDeadlineMs = durationMs(renewDeadline, `${what}: renewDeadline`);
  const retryPeriodMs = durationMs(retryPeriod, `${what}: retryPeriod`);
  if (!(leaseMs > renewDeadlineMs)) {
    throw new RangeError(
      `${what}: leaseDuration must be longer than renewDeadline, got ${leaseDuration} and ${renewDeadline}`,
    );
  }
  if (!Number.isFinite(leaseMs)) throw new RangeError(`${what}: leaseDuration must be finite, got ${leaseDuration}`);
  if (!(renewDeadlineMs > jitterFactor * retryPeriodMs)) {
    throw new RangeError(
      `${what}: renewDeadline must be more than ${jitterFactor} times retryPeriod, got ${renewDeadline} and ${retryPeriod}`,
    );
  }
  if (!(retryPeriodMs > 0)) throw new RangeError(`${what}: retryPeriod must be greater than 0, got ${retryPeriod}`);
  const leaseDurationMs = Math.ceil(leaseMs / 1000) * 1000;
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs, requestTimeoutMs: renewDeadlineMs / 2 };
}
