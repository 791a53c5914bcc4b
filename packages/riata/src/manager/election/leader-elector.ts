import type { Run } from '../../client/operation/operation.js';
import { type Duration, durationMs } from '../../object/duration.js';
import { describeError } from '../../runtime/log/describe-error.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { abortable, isAbortOf, link, onAbort } from '../../runtime/signals.js';
import { LostLease } from '../../runtime/stop-reasons.js';
import { LoopLag } from '../probes/loop-lag.js';
import { idleHint } from '../probes/loop-monitor.js';
import { ReportedProblems } from '../reported-problems.js';
import { fence, type WriteGuard } from './fence.js';
import { type LeaderElectionMetrics, leaderElectionMetrics } from './leader-election-metrics.js';
import {
  type ElectionTimes,
  electionTimes,
  jitterFactor,
  type LeaderElectorOptions,
  leaderElectorOptionNames,
} from './leader-elector-options.js';
import { LeadershipTerm } from './leadership-term.js';
import { LockCandidate } from './lock-candidate.js';
import type { LeaderElectionRecord, ResourceLock } from './resource-lock.js';

/** How an election ended for this process. */
export type ElectionOutcome =
  /** `run` was stopped, whether this process led or not. */
  | { readonly outcome: 'stopped' }
  /** It led and lost the lease. */
  | { readonly outcome: 'lost'; readonly reason: LostLease };

/** Options of {@link LeaderElector.run}. */
export interface ElectionRunOptions {
  /** Stops in order: the work's signal aborts, the lease is renewed until the work has settled, then released. */
  readonly signal?: AbortSignal;
  /** Ends it at once: nothing is waited for, and the lease is left to run out, as the work may still be going on. */
  readonly abandon?: AbortSignal;
}

/**
 * Runs for leadership, and keeps it (`leaderelection.LeaderElector`, `RunOrDie`): of all candidates on one lock at most
 * one leads at a time, provided that their monotonic clocks run at about the same speed. Wall clocks do not matter: a
 * candidate takes a lease over when it has seen no change of it for the lease's duration on its own monotonic clock.
 *
 * The holder relies on a renewal for `renewDeadline` from the moment it was sent, the others wait `leaseDuration` from
 * the moment they saw it: with the defaults, 5 s lie between the last write that a fenced client of the old leader
 * starts and the first of the new one. Only their preconditions bound writes that were sent before; see `fence`.
 *
 * All of it runs on one event loop. With the defaults (a renewal every 2 s, a deadline of 10 s) the loop may be blocked
 * for 8 s, less the time of a request, before the lease is lost. When a renewal is late by half a retry period or more,
 * the log says how long the loop was blocked.
 *
 * If a lease is deleted while it is held, candidates that have not seen it held may acquire it at once; those that
 * have, wait as if it still existed, and its holder creates it again. If you take a lease from its holder by hand (by
 * writing another holder, none, or a shorter duration into it), that takes effect at once, while the holder finds out
 * with its next renewal, at the latest at its renew deadline. The same goes for two processes that share an identity;
 * they must not.
 *
 * @example
 * const lock = new LeaseLock(client, { namespace: 'shop', name: 'operator' });
 * const elector = new LeaderElector({ lock, onStartedLeading: (signal) => work(client.wrap(elector.fence), signal) });
 * await elector.run({ signal });
 */
export class LeaderElector implements WriteGuard {
  readonly #options: LeaderElectorOptions;
  readonly #lock: ResourceLock;
  readonly #times: ElectionTimes;
  readonly #runtime: Runtime;
  readonly #metrics: LeaderElectionMetrics;
  readonly #candidate: LockCandidate;
  readonly #problems: ReportedProblems;
  /** From winning the lease until the work has settled, lost or not. */
  #term: LeadershipTerm | undefined;
  #running = false;

  constructor(options: LeaderElectorOptions) {
    refuseUnknownOptions('LeaderElector', options, leaderElectorOptionNames);
    const { lock } = options;
    const times = electionTimes(options, `LeaderElector of ${lock.description}`);
    const { log, ...rest } = resolveRuntime(options.runtime);
    const runtime = { ...rest, log: log.child({ lock: lock.description, identity: lock.identity }) };
    const metrics = leaderElectionMetrics(rest.metrics, options.name ?? lock.name);
    const onNewLeader = (identity: string) => {
      runtime.log.info('new leader', { leader: identity });
      void this.#contained('onNewLeader', () => options.onNewLeader?.(identity));
    };
    const onSlowPath = () => metrics.slowPath.inc();
    this.#options = options;
    this.#lock = lock;
    this.#times = times;
    this.#runtime = runtime;
    this.#metrics = metrics;
    this.#problems = new ReportedProblems(runtime.clock);
    this.#candidate = new LockCandidate({ lock, times, runtime, onNewLeader, onSlowPath });
  }

  /** The identity of this candidate. */
  get identity(): string {
    return this.#lock.identity;
  }

  /** Whether this process leads, by the clock of this moment (`IsLeader`). */
  get isLeader(): boolean {
    return this.#term?.isHeld ?? false;
  }

  /** The leader when the lock was last seen (`GetLeader`), undefined if there was none. It may have changed since. */
  get observedLeader(): string | undefined {
    return this.#candidate.observed?.holderIdentity || undefined;
  }

  /** The lock's record when it was last seen. */
  get observedRecord(): LeaderElectionRecord | undefined {
    return this.#candidate.observed;
  }

  /** Aborts with {@link LostLease} when the present term is lost; undefined while this process does not lead. */
  get lostSignal(): AbortSignal | undefined {
    return this.#term?.lostSignal;
  }

  /** Throws {@link LostLease} unless this process leads, by the clock of this moment. */
  assertLeading(): void {
    if (this.isLeader) return;
    throw this.#term?.lost ?? new LostLease(`${this.#lock.description} is not held by ${this.identity}`);
  }

  /** For `client.wrap(elector.fence)`: writes start only while this process leads; see `fence`, which has options. */
  readonly fence = (run: Run): Run => fence(run, this);

  /**
   * Throws when this process still acts as the leader though its lease expired longer than `maxTolerableExpiredLease`
   * ago (`Check`), i.e. its work does not end: a health check that gets it restarted. A process that does not lead is
   * healthy.
   */
  check(maxTolerableExpiredLease: Duration = '0s'): void {
    const toleratedMs = durationMs(maxTolerableExpiredLease, 'maxTolerableExpiredLease');
    if (this.#term === undefined) return;
    const expiredMs = this.#runtime.clock.monotonic() - this.#term.renewedAt - this.#times.leaseDurationMs;
    if (expiredMs <= toleratedMs) return;
    throw new Error(
      `${this.#lock.description} ran out ${Math.round(expiredMs)} ms ago, and what ${this.identity} does as the leader ` +
        'has not ended: let onStartedLeading end when its signal aborts',
    );
  }

  /**
   * Waits for leadership, leads, and resolves when that is over and the work has settled. Rejects with what
   * `onStartedLeading` rejects with. May be called again afterwards, not meanwhile.
   */
  async run(options: ElectionRunOptions = {}): Promise<ElectionOutcome> {
    if (this.#running) throw new Error(`LeaderElector of ${this.#lock.description}: already running`);
    this.#running = true;
    let notified: Promise<void> | undefined;
    const notifyStopped = () => {
      notified ??= this.#contained('onStoppedLeading', () => this.#options.onStoppedLeading?.());
      return notified;
    };
    try {
      this.#metrics.masterStatus.set(0);
      const sentAt = await this.#acquire(options);
      if (sentAt === undefined) return { outcome: 'stopped' };
      return await this.#lead(sentAt, options, notifyStopped);
    } finally {
      await unlessAborted(notifyStopped(), options.abandon);
      this.#running = false;
    }
  }

  /** Gives the moment at which the write that won was sent; undefined when it was stopped before. */
  async #acquire({ signal, abandon }: ElectionRunOptions): Promise<number | undefined> {
    const { clock, random, log } = this.#runtime;
    const { retryPeriodMs, renewDeadlineMs } = this.#times;
    using stop = link(signal, abandon);
    if (!stop.signal.aborted) log.info('waiting to become leader');
    while (!stop.signal.aborted) {
      try {
        const sentAt = await this.#candidate.acquire({ signal: stop.signal, writeSignal: abandon });
        this.#reportReached();
        // An answer that took too long cannot be relied on; it counts as a failure.
        const isGood = sentAt !== undefined && clock.monotonic() - sentAt < renewDeadlineMs;
        if (isGood && !stop.signal.aborted) return sentAt;
        if (sentAt !== undefined && stop.signal.aborted) await this.#release(abandon);
      } catch (error) {
        if (!stop.signal.aborted) this.#reportProblem('cannot read or write the lock, will be retried', error);
      }
      const pause = random.jitter(retryPeriodMs, jitterFactor);
      await clock.sleep(pause, { signal: stop.signal }).catch(() => {});
    }
    return undefined;
  }

  async #lead(
    sentAt: number,
    { signal, abandon }: ElectionRunOptions,
    notifyStopped: () => Promise<void>,
  ): Promise<ElectionOutcome> {
    const { clock, log } = this.#runtime;
    const { renewDeadlineMs } = this.#times;
    using over = link(abandon);
    const onLost = (reason: LostLease) => {
      this.#metrics.masterStatus.set(0);
      log.error('lost leadership', { error: reason });
      void notifyStopped();
      over.abort(reason);
    };
    const term = new LeadershipTerm({ clock, what: this.#lock.description, sentAt, renewDeadlineMs, onLost });
    this.#term = term;
    this.#metrics.masterStatus.set(1);
    log.info('became leader');
    const work = this.#work(term);
    const ended = work.then(({ failed }) => {
      if (failed || term.signal.aborted) over.abort();
    });
    // The lease is held and renewed until the work has settled, whatever the reason to stop.
    using _ = onAbort(signal, () => {
      term.stop(signal?.reason);
      void work.then(() => over.abort());
    });
    await this.#renew(term, over.signal);
    if (abandon?.aborted) term.stop(abandon.reason);
    await unlessAborted(ended, abandon);
    const reason = term.lost;
    await unlessAborted(notifyStopped(), abandon);
    term.end();
    this.#metrics.masterStatus.set(0);
    await this.#release(abandon);
    this.#term = undefined;
    const { failed, error } = await (abandon?.aborted ? { failed: false, error: undefined } : work);
    if (failed) throw error;
    return reason === undefined ? { outcome: 'stopped' } : { outcome: 'lost', reason };
  }

  async #work(term: LeadershipTerm): Promise<{ readonly failed: boolean; readonly error?: unknown }> {
    try {
      await this.#options.onStartedLeading(term.signal);
      return { failed: false };
    } catch (error) {
      // Work that ends because its signal aborted has not failed.
      return { failed: !isAbortOf(term.signal, error), error };
    }
  }

  /** Renews until the term is lost or `over` aborts. */
  async #renew(term: LeadershipTerm, over: AbortSignal): Promise<void> {
    const { clock } = this.#runtime;
    const { retryPeriodMs } = this.#times;
    using lag = new LoopLag(clock, retryPeriodMs / 4);
    const options = { signal: over, writeSignal: over };
    for (let began = clock.monotonic(); ; ) {
      // A try that hung was a pause itself: the rest of the time until the deadline is for the next try.
      const pauseMs = Math.max(0, began + retryPeriodMs - clock.monotonic());
      const due = clock.monotonic() + pauseMs;
      await clock.sleep(pauseMs, { signal: over }).catch(() => {});
      this.#reportLag(lag, clock.monotonic() - due, term);
      if (over.aborted || !term.isHeld) return;
      began = clock.monotonic();
      try {
        const sentAt = await this.#candidate.renew(options);
        if (sentAt === undefined) term.lose(`${this.#lock.description} is lost: ${this.#holder()} holds it`);
        else term.renewed(sentAt);
        this.#reportReached();
      } catch (error) {
        if (over.aborted) return;
        term.failed(error);
        this.#reportProblem('cannot renew the lease, will be retried', error);
      }
    }
  }

  /** A server can be away for hours, and a right be missing for days: no reason for a line every two seconds. */
  #reportProblem(message: string, error: unknown): void {
    const isNews = this.#problems.isNews('lock', `${message} ${describeError(error)}`);
    this.#runtime.log[isNews ? 'warn' : 'debug'](message, { error });
  }

  #reportReached(): void {
    if (this.#problems.isResolved('lock')) this.#runtime.log.info('the lock can be read and written again');
  }

  #reportLag(lag: LoopLag, lateMs: number, term: LeadershipTerm): void {
    const blockedMs = lag.take();
    if (lateMs < this.#times.retryPeriodMs / 2) return;
    const leftMs = Math.round(term.renewedAt + this.#times.renewDeadlineMs - this.#runtime.clock.monotonic());
    const [blocked, late] = [Math.round(blockedMs), Math.round(lateMs)];
    const [what, hint] = lag.tookIdle
      ? [`the process did not run for ${blocked} ms`, idleHint]
      : [`the event loop was blocked for ${blocked} ms`, 'let long computations pause'];
    this.#runtime.log.warn(`${what}; renewal late by ${late} ms: ${hint}`, {
      blockedMs: blocked,
      lateMs: late,
      leftMs,
    });
  }

  #holder(): string {
    const holder = this.observedLeader;
    if (holder === undefined) return 'nobody';
    return holder === this.identity ? `another process called ${holder}` : holder;
  }

  /** Only when the work has ended; after an abandoned run that is not known. */
  async #release(abandon: AbortSignal | undefined): Promise<void> {
    if (abandon?.aborted || this.#options.releaseOnStop === false) return;
    await this.#candidate.release({ signal: abandon });
  }

  async #contained(what: string, call: () => void | Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      this.#runtime.log.error(`${what} failed`, { error });
    }
  }
}

/** Waits for `promise`, which never rejects, but no longer than until `signal` aborts. */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  await abortable(promise, signal).catch(() => {});
}
