import { formatMicroTime } from '../../object/time.js';
import { findApiError } from '../../rest/errors/api-error.js';
import { isAlreadyExists, isConflict, isNotFound } from '../../rest/errors/error-guards.js';
import type { Runtime } from '../../runtime/runtime.js';
import { link } from '../../runtime/signals.js';
import { isTimeout } from '../../runtime/stop-reasons.js';
import type { ElectionTimes } from './leader-elector-options.js';
import type { LeaderElectionRecord, LockOptions, LockState, ResourceLock } from './resource-lock.js';

/** What a {@link LockCandidate} needs. */
export interface LockCandidateOptions {
  readonly lock: ResourceLock;
  readonly times: ElectionTimes;
  readonly runtime: Pick<Runtime, 'clock' | 'log'>;
  /** Called with each new holder that is seen. Must not throw. */
  readonly onNewLeader: (identity: string) => void;
  /** Called when a renewal has to read the lock first. */
  readonly onSlowPath: () => void;
}

/** Ends the requests of one try. */
export interface TryOptions {
  /** Ends reads. */
  readonly signal?: AbortSignal;
  /** Ends writes, too: whether they were done is then not known. */
  readonly writeSignal?: AbortSignal;
}

/** A lock as it was last seen, and when: on the monotonic clock, as nothing else is ever compared. */
interface Observed extends LockState {
  readonly at: number;
}

/** A release meets at most its own last renewal and the odd edit by hand. */
const maxReleaseTries = 5;

/** For a release that goes to a server which has not answered before either. */
const lastTryMs = 1_000;

/** The highest count of a server. If it is set by hand, elections must still work. */
const mostTransitions = 2 ** 31 - 1;

/**
 * One candidate's dealings with the lock: reads it, judges whether its holder's time is over, writes. It decides by what
 * it has seen itself and by its own monotonic clock; times that stand in the record are for people.
 */
export class LockCandidate {
  readonly #options: LockCandidateOptions;
  #observed: Observed | undefined;
  #reported = '';
  /** Whether the last request was given up, as nothing came. */
  #isSilent = false;
  /** The acquireTime of the term that this candidate is in: two processes of one identity differ in it. */
  #termStart: string | undefined;

  constructor(options: LockCandidateOptions) {
    this.#options = options;
  }

  get observed(): LeaderElectionRecord | undefined {
    return this.#observed?.record;
  }

  /**
   * Tries once to begin a term. Returns the moment, on the monotonic clock, at which the successful write was sent;
   * undefined if another candidate holds the lock. Rejects when the lock cannot be reached.
   */
  async acquire(options: TryOptions): Promise<number | undefined> {
    this.#termStart = undefined;
    const sentAt = await this.#readAndWrite(options);
    if (sentAt !== undefined) this.#termStart = this.#observed?.record.acquireTime;
    return sentAt;
  }

  /**
   * Tries once to keep the term: at first without reading (the fast path), as normally no other client writes. Returns
   * the same as {@link acquire}; undefined means that the term is over.
   */
  async renew(options: TryOptions): Promise<number | undefined> {
    const { runtime, onSlowPath } = this.#options;
    if (this.#observed !== undefined && this.#isOwn(this.#observed.record) && this.#isValid(this.#observed)) {
      try {
        return await this.#write(this.#observed, options);
      } catch (error) {
        if (findApiError(error) === undefined) throw error;
        runtime.log.debug('the lock differs from the last renewal, reading it', { error });
      }
    }
    onSlowPath();
    return this.#readAndWrite(options);
  }

  /**
   * Releases the lock if this candidate holds it: the holder becomes empty, for one second. Conflicts are retried. Any
   * other failure is logged, and the lease expires: an unreachable server must not hold up the shutdown, and one that
   * did not answer the last request either gets one second.
   */
  async release(options: LockOptions = {}): Promise<void> {
    const { lock, runtime, times } = this.#options;
    const timeoutMs = this.#isSilent ? Math.min(lastTryMs, times.requestTimeoutMs) : times.requestTimeoutMs;
    try {
      for (let tries = 1; this.#isOwn(this.#observed?.record); tries += 1) {
        try {
          await this.#request(options.signal, (signal) => lock.update(this.#emptyRecord(), { signal }), timeoutMs);
          runtime.log.info('released the lease');
          this.#observed = undefined;
          this.#termStart = undefined;
          return;
        } catch (error) {
          if (!isConflict(error) || tries >= maxReleaseTries) throw error;
          // Deleted by hand: there is nothing left to give up.
          if ((await this.#read(options.signal)) === undefined) return;
        }
      }
    } catch (error) {
      if (isNotFound(error)) return;
      runtime.log.warn('cannot release the lease; the next leader has to wait until it expires', { error });
    }
  }

  async #readAndWrite(options: TryOptions): Promise<number | undefined> {
    const { identity } = this.#options.lock;
    const found = await this.#read(options.signal);
    const seen = this.#observed;
    const holder = seen?.record.holderIdentity ?? '';
    if (this.#termStart !== undefined && found !== undefined) {
      // A leader has lost its term once another name was in the lock, even if the lock is free again by now.
      if (!this.#isOwn(seen?.record)) return undefined;
    } else if (seen !== undefined && holder !== '' && holder !== identity && this.#isValid(seen)) {
      // Also when it was deleted: its holder may not know yet.
      return undefined;
    }
    try {
      return await this.#write(found && seen, options);
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) return this.#termStart === undefined ? undefined : raise(error);
      throw error;
    }
  }

  /** Reads the lock; if it has changed, its holder's time starts over. */
  async #read(signal: AbortSignal | undefined): Promise<LockState | undefined> {
    const found = await this.#request(signal, (limited) => this.#options.lock.get({ signal: limited }));
    if (found !== undefined && found.version !== this.#observed?.version) this.#observe(found);
    return found;
  }

  /** Writes this candidate into the existing lock or, if that was deleted, into a new one. */
  async #write(present: Observed | undefined, { writeSignal }: TryOptions): Promise<number> {
    const { lock, runtime } = this.#options;
    const record = this.#ownRecord();
    const sentAt = runtime.clock.monotonic();
    const store = present === undefined ? lock.create.bind(lock) : lock.update.bind(lock);
    this.#observe(await this.#request(writeSignal, (signal) => store(record, { signal })));
    return sentAt;
  }

  #observe(state: LockState): void {
    const { runtime, onNewLeader } = this.#options;
    this.#observed = { ...state, at: runtime.clock.monotonic() };
    const { holderIdentity } = state.record;
    if (holderIdentity === '' || holderIdentity === this.#reported) return;
    this.#reported = holderIdentity;
    onNewLeader(holderIdentity);
  }

  /** Of this term: another process may, by mistake, have the same name. */
  #isOwn(record: LeaderElectionRecord | undefined): boolean {
    return record?.holderIdentity === this.#options.lock.identity && record.acquireTime === this.#termStart;
  }

  #isValid({ record, at }: Observed): boolean {
    const { times, runtime } = this.#options;
    const ms = record.leaseDurationSeconds > 0 ? record.leaseDurationSeconds * 1000 : times.leaseDurationMs;
    return runtime.clock.monotonic() - at < ms;
  }

  #ownRecord(): LeaderElectionRecord {
    const { lock, times } = this.#options;
    const previous = this.#observed?.record;
    const renewTime = this.#timeAfter(previous);
    const goesOn = previous === undefined || previous.holderIdentity === lock.identity;
    return {
      holderIdentity: lock.identity,
      leaseDurationSeconds: times.leaseDurationMs / 1000,
      acquireTime: this.#termStart ?? renewTime,
      renewTime,
      leaderTransitions: Math.min((previous?.leaderTransitions ?? 0) + (goesOn ? 0 : 1), mostTransitions),
    };
  }

  #emptyRecord(): LeaderElectionRecord {
    const previous = this.#observed?.record;
    const now = this.#timeAfter(previous);
    const leaderTransitions = previous?.leaderTransitions ?? 0;
    return { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaderTransitions };
  }

  /**
   * The wall clock's time, but never the time that the lock already has: the server would store no change, others would
   * see no renewal, and a wall clock may stand still or be set back.
   */
  #timeAfter(previous: LeaderElectionRecord | undefined): string {
    const wall = this.#options.runtime.clock.now();
    const now = formatMicroTime(wall);
    return now === previous?.renewTime ? formatMicroTime(wall + 0.001) : now;
  }

  async #request<T>(
    signal: AbortSignal | undefined,
    send: (signal: AbortSignal) => Promise<T>,
    timeoutMs = this.#options.times.requestTimeoutMs,
  ): Promise<T> {
    const { lock, runtime } = this.#options;
    const what = `a request about ${lock.description}`;
    using scope = link({ signals: [signal], timeoutMs, clock: runtime.clock, what });
    try {
      const answer = await send(scope.signal);
      this.#isSilent = false;
      return answer;
    } catch (error) {
      if (!signal?.aborted) this.#isSilent = isTimeout(error);
      throw error;
    }
  }
}

function raise(error: unknown): never {
  throw error;
}
