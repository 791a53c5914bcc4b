import { findApiError } from '../../rest/errors/api-error.js';
import type { Runtime } from '../../runtime/runtime.js';
import { link, onAbort } from '../../runtime/signals.js';
import { isTimeout, type LostLease } from '../../runtime/stop-reasons.js';
import { LeadershipTerm } from '../election/leadership-term.js';
import { reassigned, shardSurplus } from './shard-balance.js';
import { isRefused, type ShardRegister, type ShardState } from './shard-register.js';
import type { ShardTimes } from './shard-ring-options.js';
import type { ShardSight } from './shard-sight.js';
import { formatMember } from './shard-table.js';

/** One time of owning one slot. */
export interface ShardHold {
  readonly slot: number;
  readonly epoch: number;
  /** `leaving`: nothing new begins, what runs may end. `given` and `lost`: nothing may be written any more. */
  state: 'held' | 'leaving' | 'given' | 'lost';
}

/** How a member came in. */
export interface JoinedRing {
  /** The answer to the write. */
  readonly state: ShardState;
  /** What the member wrote about itself, and its number. */
  readonly text: string;
  readonly beat: number;
  /** When that was sent, on the monotonic clock. */
  readonly sentAt: number;
}

/** What a {@link ShardMembership} needs. */
export interface MembershipParts {
  readonly id: string;
  readonly identity: string;
  readonly register: ShardRegister;
  readonly sight: ShardSight;
  readonly times: ShardTimes;
  readonly runtime: Pick<Runtime, 'clock' | 'log'>;
  /** Slots that may be worked on from now. */
  readonly onGained: (holds: readonly ShardHold[]) => void;
  /** Has the work on these end; they are handed over when it has. */
  readonly onLeaving: (hold: ShardHold) => Promise<void>;
  /** These may not be written for any more. */
  readonly onLost: (holds: readonly ShardHold[], reason: LostLease) => void;
  readonly onGiven: (hold: ShardHold) => void;
}

/** Between two tries to leave. */
const lastTryMs = 1_000;

/**
 * One replica's time in a ring under one id, from joining until it has left or its lease is lost. After that the id is
 * never used again: whatever the table says of it is void.
 */
export class ShardMembership {
  readonly id: string;
  readonly term: LeadershipTerm;
  readonly holds = new Map<number, ShardHold>();
  readonly #parts: MembershipParts;
  /** Slots that were given up, by epoch: a state that is read later, however old, cannot bring them back. */
  readonly #given = new Map<number, number>();
  #state: ShardState;
  #text: string;
  #beat: number;
  #isLeaving = false;
  /** Tries in a row that have failed, and why the last one did. */
  #failures = 0;
  #lastFailure: unknown;
  #isAwake = false;
  #wake = () => {};

  constructor(parts: MembershipParts, joined: JoinedRing) {
    const { register, times, runtime } = parts;
    this.#parts = parts;
    this.id = parts.id;
    this.#text = joined.text;
    this.#beat = joined.beat;
    this.#state = joined.state;
    this.term = new LeadershipTerm({
      clock: runtime.clock,
      what: `the place of ${parts.identity} in ${register.description}`,
      sentAt: joined.sentAt,
      renewDeadlineMs: times.renewDeadlineMs,
      onLost: (reason) => this.#lose(reason),
    });
  }

  get state(): ShardState {
    return this.#state;
  }

  /**
   * Renews, takes and gives slots until the membership is lost, or `leave` has aborted and everything is handed over.
   * `abandon` ends it at once and leaves its slots to expire. It also ends when its work has ended and the server
   * cannot be reached: a shutdown must not wait for that.
   */
  async run(leave: AbortSignal, abandon: AbortSignal): Promise<void> {
    const { times, runtime } = this.#parts;
    using _ = onAbort(leave, () => {
      this.#isLeaving = true;
      // Whether or not the server can be reached: the work is to end.
      this.#letGo(this.#state.table.slots.length);
      this.#rouse();
    });
    using over = link(this.term.lostSignal, abandon);
    const { clock } = runtime;
    this.#accept(this.#state);
    let began = clock.monotonic();
    let isGone = await this.#tried(() => this.#tend(over.signal), over.signal);
    while (!over.signal.aborted && !isGone) {
      if (this.#isDone && this.#failures > 0) {
        if (this.#isHopeless) break;
        await clock.sleep(lastTryMs, { signal: over.signal }).catch(() => {});
      } else {
        // A round that hung was a pause itself: the rest of the time until the deadline is for the next one.
        await this.#nap(Math.max(0, began + times.retryPeriodMs - clock.monotonic()), over.signal);
      }
      if (over.signal.aborted || !this.term.isHeld) break;
      began = clock.monotonic();
      isGone = await this.#tried(() => this.#round(over.signal), over.signal);
    }
    if (abandon.aborted) this.term.lose('the ring was abandoned', abandon.reason);
    else if (!isGone && this.term.isHeld) {
      const error = this.#lastFailure;
      runtime.log.warn('cannot leave the ring; other replicas take over when its lease has expired', { error });
    }
    this.term.end();
    runtime.log.debug('left the ring', { id: this.id });
  }

  async #tried(work: () => Promise<boolean>, over: AbortSignal): Promise<boolean> {
    try {
      const isGone = await work();
      this.#failures = 0;
      return isGone;
    } catch (error) {
      if (over.aborted) return false;
      this.#failures += 1;
      this.#lastFailure = error;
      this.term.failed(error);
      this.#parts.runtime.log.warn('cannot read or write the ring, will be retried', { error });
      return false;
    }
  }

  /** Leaves, and nothing runs here any more for what it has. */
  get #isDone(): boolean {
    return this.#isLeaving && [...this.holds.values()].every(({ state }) => state === 'given');
  }

  /** Whether another try is not worth the wait: a server that answers has more than one that does not. */
  get #isHopeless(): boolean {
    if (isTimeout(this.#lastFailure)) return true;
    return this.#failures >= (findApiError(this.#lastFailure) === undefined ? 2 : 3);
  }

  /** True when this member has left. */
  async #round(over: AbortSignal): Promise<boolean> {
    const { register, runtime } = this.#parts;
    let from: string | undefined = this.#text;
    // Retries if the answer to the last renewal was lost and the stored state is unknown.
    for (let tries = 0; from !== undefined && tries < 2; tries += 1) {
      const [known, text] = [from, this.#nextText()];
      const sentAt = runtime.clock.monotonic();
      try {
        this.#accept(await this.#request(over, (signal) => register.beat(this.id, known, text, signal)));
        this.#text = text;
        this.term.renewed(sentAt);
        return this.term.isHeld && (await this.#tend(over));
      } catch (error) {
        if (!isRefused(error)) throw error;
        from = (await this.#look(over))?.members.get(this.id);
      }
    }
    if (from === undefined) this.term.lose(`${this.#parts.identity} was taken out of ${register.description}`);
    else this.#text = from;
    return false;
  }

  async #look(over: AbortSignal): Promise<ShardState | undefined> {
    const { register } = this.#parts;
    const found = await this.#request(over, (signal) => register.read(signal));
    return found?.uid === this.#state.uid ? found : undefined;
  }

  /** Takes in what the server said. */
  #accept(state: ShardState): void {
    const { sight, runtime, onGained } = this.#parts;
    sight.observe(state, runtime.clock.monotonic());
    if (state.uid !== this.#state.uid) return;
    const { register, identity } = this.#parts;
    // Each state here is the answer to a write, and none is older than the one before.
    const { table } = this.#state;
    if (state.table.slots.length !== table.slots.length) {
      this.term.lose(`${register.description} has another number of slots than it had: all keys are in other ones`);
      return;
    }
    if (state.table.revision < table.revision) {
      this.term.lose(
        `${register.description} was put back to an earlier state, in which others may own what ${identity} has`,
      );
      return;
    }
    this.#state = state;
    const gained: ShardHold[] = [];
    const missing: ShardHold[] = [];
    for (const [slot, { owner, epoch }] of state.table.slots.entries()) {
      const hold = this.holds.get(slot);
      const isMine = owner === this.id;
      if (hold !== undefined && (!isMine || hold.epoch !== epoch)) {
        this.holds.delete(slot);
        if (hold.state !== 'given') missing.push(hold);
      }
      if (!isMine || this.holds.has(slot) || epoch <= (this.#given.get(slot) ?? -1)) continue;
      const fresh: ShardHold = { slot, epoch, state: 'held' };
      this.holds.set(slot, fresh);
      gained.push(fresh);
    }
    // No other member takes them while this membership lasts, unless the Lease was changed by hand.
    if (missing.length > 0) {
      this.term.lose(`${register.description} gives slots away that ${identity} has`);
      return;
    }
    if (gained.length > 0 && this.term.isHeld) onGained(gained);
  }

  /**
   * Gives away slots that are free, whose owner is dead, or whose work here has ended; starts to release those that
   * others should own.
   */
  async #tend(over: AbortSignal): Promise<boolean> {
    const { sight, runtime, register } = this.#parts;
    const now = runtime.clock.monotonic();
    const state = this.#state;
    const { table } = state;
    if (this.holds.size === 0 && !sight.isQuiet(table, now)) {
      return this.#isLeaving && (await this.#replace(over, [this.id], []));
    }
    const live = sight.live(now).filter((id) => id !== this.id || !this.#isLeaving);
    this.#letGo(this.#isLeaving ? table.slots.length : shardSurplus(this.id, live, table));
    const dead = sight.dead(now).filter((id) => id !== this.id);
    const gone = this.#isDone ? [...dead, this.id] : dead;
    const hasLoose = table.slots.some((slot, at) => this.#isLoose(slot.owner, at, dead));
    if (gone.length === 0 && !(hasLoose && live.length > 0) && table.isOpen) return false;
    if (gone.length > 0) runtime.log.info('members left the ring', { ring: register.description, gone });
    return await this.#replace(over, gone, live);
  }

  /** True if that was the end of this member. */
  async #replace(over: AbortSignal, gone: readonly string[], live: readonly string[]): Promise<boolean> {
    const { register } = this.#parts;
    const state = this.#state;
    const { table } = state;
    const next = reassigned(table, live, ({ owner }, at) => this.#isLoose(owner, at, gone));
    const isOpen = table.isOpen || live.length > 0;
    try {
      const done = await this.#request(over, (signal) => register.replace(state, { ...next, isOpen }, gone, signal));
      const isGone = gone.includes(this.id);
      if (!isGone) this.#accept(done);
      return isGone;
    } catch (error) {
      if (!isRefused(error)) throw error;
      // Another member was faster; its result comes with the next renewal. A leaving member doesn't wait for that.
      if (this.#isLeaving) this.#rouse();
      return false;
    }
  }

  #isLoose(owner: string | undefined, slot: number, gone: readonly string[]): boolean {
    if (owner === undefined) return true;
    if (owner === this.id) return this.holds.get(slot)?.state === 'given';
    return gone.includes(owner);
  }

  /** Ends the work of this many slots, including those that are already ending. */
  #letGo(count: number): void {
    const { runtime, onLeaving, onGiven } = this.#parts;
    const all = [...this.holds.values()];
    let left = count - all.filter(({ state }) => state !== 'held').length;
    for (const hold of all.reverse()) {
      if (left <= 0) return;
      if (hold.state !== 'held') continue;
      left -= 1;
      hold.state = 'leaving';
      void onLeaving(hold).then(() => {
        if (!this.term.isHeld) return;
        // Before anything is sent: from here on the next owner may begin, whatever becomes of the answer.
        hold.state = 'given';
        this.#given.set(hold.slot, hold.epoch);
        runtime.log.debug('released a slot', { slot: hold.slot, epoch: hold.epoch });
        onGiven(hold);
        this.#rouse();
      });
    }
  }

  #lose(reason: LostLease): void {
    const held = [...this.holds.values()].filter(({ state }) => state !== 'given');
    for (const hold of held) hold.state = 'lost';
    this.#parts.onLost(held, reason);
  }

  #nextText(): string {
    const { identity, times } = this.#parts;
    this.#beat += 1;
    return formatMember({ identity, leaseMs: times.leaseMs, beat: this.#beat, isLeaving: this.#isLeaving });
  }

  #rouse(): void {
    this.#isAwake = true;
    this.#wake();
  }

  async #nap(ms: number, over: AbortSignal): Promise<void> {
    const { clock } = this.#parts.runtime;
    if (!this.#isAwake) {
      using nap = link(over);
      this.#wake = () => nap.abort();
      await clock.sleep(ms, { signal: nap.signal, background: true }).catch(() => {});
      this.#wake = () => {};
    }
    this.#isAwake = false;
  }

  async #request<T>(signal: AbortSignal, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { times, runtime, register } = this.#parts;
    const what = `a request about ${register.description}`;
    using scope = link({ signals: [signal], timeoutMs: times.requestTimeoutMs, clock: runtime.clock, what });
    return await send(scope.signal);
  }
}
