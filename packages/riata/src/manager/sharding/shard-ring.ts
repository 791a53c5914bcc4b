import type { Run } from '../../client/operation/operation.js';
import { NotInShard } from '../../controller/loop/not-in-shard.js';
import { type Duration, durationMs } from '../../object/duration.js';
import { type ClusterKey, keyId } from '../../object/key.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { abortable, link } from '../../runtime/signals.js';
import type { LostLease } from '../../runtime/stop-reasons.js';
import { type FenceOptions, fence, type WriteGuard } from '../election/fence.js';
import { candidateIdentity } from '../election/lease-lock.js';
import { type JoinedRing, type ShardHold, ShardMembership } from './shard-membership.js';
import { type ShardMetrics, shardMetrics } from './shard-metrics.js';
import { isRefused, NotAShardRing, ShardRegister } from './shard-register.js';
import {
  checkShardRing,
  type ShardRingOptions,
  type ShardTimes,
  shardRingOptionNames,
  shardTimes,
} from './shard-ring-options.js';
import { ShardSight } from './shard-sight.js';
import { formatMember, parseMember, shardSlot } from './shard-table.js';

/** Slots that come or go. */
export interface ShardChange {
  /** May be worked on from now. */
  readonly gained: readonly number[];
  /** Nothing new may begin for these; `owns` says so already. */
  readonly lost: readonly number[];
  /**
   * Set when the lease is lost: other replicas may own the slots by now, and all work for them must end at once.
   * Otherwise the slots in `lost` are still owned, writes for them still pass, and they are handed over when the
   * promises of the listeners have settled.
   */
  readonly reason?: LostLease;
}

/** Called when slots are gained or lost. Errors are logged; the listener then counts as done. */
export type ShardListener = (change: ShardChange) => void | Promise<void>;

/** Options of {@link ShardRing.run}. */
export interface ShardRunOptions {
  /**
   * Leaves in order: work is stopped and awaited, slots are handed over, and the membership is renewed meanwhile. If
   * the server cannot be reached once the work has ended, the ring does not wait: others take over when the lease
   * expires.
   */
  readonly signal?: AbortSignal;
  /** Ends at once: nothing is waited for, and others take over when the lease has run out. */
  readonly abandon?: AbortSignal;
}

/**
 * Shares keys between replicas: each key falls into a slot by its hash, and each slot is owned by one replica at a
 * time. Slots move when replicas join, leave and crash, as few as possible, and are spread evenly.
 *
 * All state is in one Lease: a table of the owner of each slot, and a line for each member, which the member changes
 * every `retryPeriod`. That is one request (a JSON patch whose answer is the whole Lease), however many slots there
 * are; a change of owners is one more. Members give slots to each other: one that has too many hands some over when its
 * work on them has ended, and any member that finds another one dead distributes its slots.
 *
 * **Why no two replicas own a slot at once.** A replica R relies on owning a slot in an epoch when (a) a state of the
 * Lease that it was given says so, (b) it has not given up the slot in this epoch, and (c) its last renewal that was
 * answered was sent less than `renewDeadline` ago on its own monotonic clock, in the same membership; once late, a
 * membership is over, and R comes back under another id, which owns nothing. An entry of R in the table is replaced
 * only
 * - by R itself, after (b): that is noted before the request leaves, so it holds whether the request arrives, is lost,
 *   or arrives late, and whatever old state R may be shown afterwards; or
 * - by a replica S that has seen R's line unchanged for R's `leaseDuration` on S's own monotonic clock. The server does
 *   this write only if R's line still is the one that S saw, and a line is never written twice. So S saw R's last
 *   renewal after R had sent it, waited longer than R relies on it, and any renewal that is still on its way will be
 *   refused, as R's line no longer exists; or
 * - when the Lease is deleted, by hand. No replica takes a slot from a new Lease before having known it for
 *   `leaseDuration`: members of the old one cannot renew any more, and have stopped by then. This is why a ring that is
 *   started for the very first time waits that long. The same goes for a Lease that was put back to an earlier state,
 *   as with a backup of the cluster: a replica that has seen a later one gives up everything at once, and distributes
 *   nothing for that long. A replica that has not cannot know: put one back only when those that wrote to it are
 *   stopped, or their leases have expired.
 *
 * The server does one of two writes that rely on the same table, so that an entry has one successor. Neither wall
 * clocks nor the age of what is read matter; monotonic clocks must run at about the same speed (`leaseDuration` is one
 * and a half times `renewDeadline`). A replica that was stopped finds (c) false when it wakes, whatever it does first:
 * `owns` and the fence look at the clock. A write that had left before is bounded by its preconditions; see `fence`.
 *
 * A slot whose work does not end is not handed over, and a replica whose work ignores its abort signal keeps its slots
 * until it is restarted.
 *
 * @example
 * const ring = new ShardRing({ client, namespace: 'shop', name: 'carts' });
 * ring.onChange(({ lost, reason }) => workers.end(lost, reason));
 * void ring.run({ signal });
 * if (ring.owns(key)) await work(key, client.wrap(ring.fence(key)));
 */
export class ShardRing {
  /** This replica's name. */
  readonly identity: string;
  readonly #options: ShardRingOptions;
  readonly #times: ShardTimes;
  readonly #runtime: Runtime;
  readonly #metrics: ShardMetrics;
  readonly #register: ShardRegister;
  readonly #sight: ShardSight;
  readonly #listeners = new Set<ShardListener>();
  #membership: ShardMembership | undefined;
  /** Work that is ending because its lease was lost. */
  #ending: Promise<void> = Promise.resolve();
  #isRunning = false;
  /** From joining until what was lost or given up has ended. */
  #hasWork = false;

  constructor(options: ShardRingOptions) {
    refuseUnknownOptions('ShardRing', options, shardRingOptionNames);
    checkShardRing(options);
    const { namespace, name } = options;
    const { log, ...rest } = resolveRuntime(options.runtime);
    this.identity = options.identity ?? candidateIdentity(rest.random);
    this.#options = options;
    this.#times = shardTimes(options);
    this.#register = new ShardRegister(options.client, { namespace, name });
    this.#sight = new ShardSight(this.#times.leaseMs);
    this.#runtime = { ...rest, log: log.child({ ring: this.#register.description, identity: this.identity }) };
    this.#metrics = shardMetrics(rest.metrics, name);
  }

  /** How many slots there are; may turn out to be another number when the ring was made with one. */
  get slots(): number {
    return this.#membership?.state.table.slots.length ?? this.#options.slots ?? 64;
  }

  /** Slots that this replica may work on, by the clock of this moment. */
  get owned(): readonly number[] {
    if (!this.#membership?.term.isHeld) return [];
    return [...this.#membership.holds.values()].filter(({ state }) => state === 'held').map(({ slot }) => slot);
  }

  /** Identities of the replicas that are in the ring, as it was last seen. */
  get members(): readonly string[] {
    const lines = [...(this.#membership?.state.members.values() ?? [])];
    return lines.flatMap((line) => parseMember(line)?.identity ?? []).sort();
  }

  /** The identity of the owner of each slot, as it was last seen; undefined for a slot without one. */
  get owners(): readonly (string | undefined)[] {
    if (this.#membership === undefined) return [];
    const { table, members } = this.#membership.state;
    const identities = new Map([...members].map(([id, line]) => [id, parseMember(line)?.identity]));
    return table.slots.map(({ owner }) => (owner === undefined ? undefined : identities.get(owner)));
  }

  /** The slot of a key, or of a text such as a UID. */
  slotOf(key: ClusterKey | string): number {
    return shardSlot(key, this.slots);
  }

  /** Whether work on this key may begin here, by the clock of this moment. */
  owns(key: ClusterKey | string): boolean {
    return this.#holdOf(key)?.state === 'held' && this.#membership?.term.isHeld === true;
  }

  /** Throws {@link NotInShard} unless {@link owns}. */
  assertOwns(key: ClusterKey | string): void {
    if (!this.owns(key)) throw this.#notHere(key);
  }

  /** Which time of being owned a slot is in, if it is this replica's: another number each time that it moves. */
  epochOf(slot: number): number | undefined {
    const hold = this.#membership?.holds.get(slot);
    return hold !== undefined && this.#isWritable(this.#membership, hold) ? hold.epoch : undefined;
  }

  /**
   * Throws if this replica's lease ran out more than `maxTolerableExpiredLease` ago and it is still at what it had: its
   * work does not end. A health check, to have it restarted. Who waits to join is well.
   */
  check(maxTolerableExpiredLease: Duration = '0s'): void {
    const toleratedMs = durationMs(maxTolerableExpiredLease, 'maxTolerableExpiredLease');
    if (this.#membership === undefined || !this.#hasWork) return;
    const { leaseMs } = this.#times;
    const expiredMs = this.#runtime.clock.monotonic() - this.#membership.term.renewedAt - leaseMs;
    if (expiredMs <= toleratedMs) return;
    throw new Error(
      `${this.identity}'s lease in ${this.#register.description} ran out ${Math.round(expiredMs)} ms ago, and its work on ` +
        'what it has lost has not ended: let reconciles end when their signal aborts',
    );
  }

  /** Calls `listener` whenever slots are gained or lost; not for slots that are owned already. */
  onChange(listener: ShardListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /**
   * Allows writes for a key while this replica owns its slot, in the epoch of this call: also while it is being handed
   * over, so that what runs can end well, and not when it comes back later. Throws {@link NotInShard}, or the
   * {@link LostLease} by which the slot was lost.
   */
  guard(key: ClusterKey | string): WriteGuard {
    const membership = this.#membership;
    const hold = this.#holdOf(key);
    return {
      assertLeading: () => {
        if (hold !== undefined && this.#isWritable(membership, hold)) return;
        throw (hold && membership?.term.lost) ?? this.#notHere(key);
      },
      lostSignal: membership?.term.lostSignal,
    };
  }

  /** For `client.wrap(ring.fence(key))`: writes start only while {@link guard} allows it; see `fence`. */
  fence(key: ClusterKey | string, options?: FenceOptions): (run: Run) => Run {
    const guard = this.guard(key);
    return (run) => fence(run, guard, options);
  }

  /**
   * Joins and shares until `signal` aborts. After a lost lease it joins again once the work for the lost slots has
   * ended. Resolves when it has left. Rejects only if the Lease belongs to something else. May be called again
   * afterwards.
   */
  async run({ signal, abandon }: ShardRunOptions = {}): Promise<void> {
    if (this.#isRunning) throw new Error(`ShardRing ${this.#register.description}: already running`);
    this.#isRunning = true;
    using leave = link(signal, abandon);
    using atOnce = link(abandon);
    try {
      while (!leave.signal.aborted) {
        const membership = await this.#join(leave.signal, atOnce.signal);
        if (membership === undefined) break;
        this.#membership = membership;
        this.#hasWork = true;
        await membership.run(leave.signal, atOnce.signal);
        await abortable(this.#ending, atOnce.signal).catch(() => {});
        this.#hasWork = false;
        this.#sight.bury(membership.id);
      }
    } finally {
      this.#membership = undefined;
      this.#metrics.owned.set(0);
      this.#isRunning = false;
    }
  }

  async #join(leave: AbortSignal, abandon: AbortSignal): Promise<ShardMembership | undefined> {
    const { clock, log, random } = this.#runtime;
    const { retryPeriodMs } = this.#times;
    const id = random.uuid();
    for (let beat = 1; !leave.aborted; beat += 1) {
      let pauseMs = random.jitter(retryPeriodMs / 2, 1);
      try {
        const joined = await this.#tryToJoin(id, beat, leave, abandon);
        if (joined.state.table.slots.length !== (this.#options.slots ?? 64)) {
          const slots = joined.state.table.slots.length;
          log.warn('the ring has a different number of slots than the options; using that of the ring', { slots });
        }
        log.info('joined the ring', { id, members: joined.state.members.size });
        return this.#memberOf(id, joined);
      } catch (error) {
        if (error instanceof NotAShardRing) throw error;
        // Others were faster: that passes quickly.
        if (isRefused(error)) pauseMs = random.jitter(50, 4);
        else if (!leave.aborted) log.warn('cannot join the ring, will be retried', { error });
      }
      await clock.sleep(pauseMs, { signal: leave, background: true }).catch(() => {});
    }
    return undefined;
  }

  async #tryToJoin(id: string, beat: number, leave: AbortSignal, abandon: AbortSignal): Promise<JoinedRing> {
    const { clock } = this.#runtime;
    const { leaseMs, requestTimeoutMs } = this.#times;
    const what = `a request about ${this.#register.description}`;
    const text = formatMember({ identity: this.identity, leaseMs, beat, isLeaving: false });
    using scope = link({ signals: [abandon], timeoutMs: requestTimeoutMs, clock, what });
    // Not so the write: it may be done, and then others count on this replica.
    using reading = link(scope.signal, leave);
    const found = await this.#register.read(reading.signal);
    const sentAt = clock.monotonic();
    const state =
      found === undefined
        ? await this.#register.create(id, text, this.#options.slots ?? 64, leaseMs, scope.signal)
        : await this.#register.join(found, id, text, scope.signal);
    return { state, text, beat, sentAt };
  }

  #memberOf(id: string, joined: JoinedRing): ShardMembership {
    const metrics = this.#metrics;
    return new ShardMembership(
      {
        ...{ id, identity: this.identity, register: this.#register, sight: this.#sight },
        ...{ times: this.#times, runtime: this.#runtime },
        onGained: (holds) => {
          metrics.gained.inc(holds.length);
          this.#runtime.log.info('acquired slots', { slots: slotsOf(holds) });
          void this.#notify({ gained: slotsOf(holds), lost: [] });
        },
        onLeaving: (hold) => this.#notify({ gained: [], lost: [hold.slot] }),
        onGiven: () => metrics.given.inc(),
        onLost: (holds, reason) => {
          metrics.lost.inc(holds.length);
          this.#runtime.log.error('lost all slots', { error: reason, slots: slotsOf(holds) });
          this.#ending = this.#notify({ gained: [], lost: slotsOf(holds), reason });
        },
      },
      joined,
    );
  }

  async #notify(change: ShardChange): Promise<void> {
    const contained = async (listener: ShardListener) => {
      try {
        await listener(change);
      } catch (error) {
        this.#runtime.log.error('ring listener failed', { error });
      }
    };
    const notified = Promise.all([...this.#listeners].map(contained));
    this.#metrics.owned.set(this.owned.length);
    this.#metrics.members.set(this.#membership?.state.members.size ?? 0);
    await notified;
  }

  #holdOf(key: ClusterKey | string): ShardHold | undefined {
    return this.#membership?.holds.get(this.slotOf(key));
  }

  #isWritable(membership: ShardMembership | undefined, { state }: ShardHold): boolean {
    return membership?.term.isHeld === true && (state === 'held' || state === 'leaving');
  }

  #notHere(key: ClusterKey | string): NotInShard {
    const name = typeof key === 'string' ? key : keyId(key);
    const slot = this.slotOf(key);
    return new NotInShard(
      `${name} is in slot ${slot} of ${this.#register.description}, which is not ${this.identity}'s`,
    );
  }
}

function slotsOf(holds: readonly ShardHold[]): number[] {
  return holds.map(({ slot }) => slot);
}
