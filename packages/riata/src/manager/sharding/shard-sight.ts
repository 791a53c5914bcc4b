import type { ShardState } from './shard-register.js';
import { parseMember, type ShardTable } from './shard-table.js';

/** A member as it was last seen, and since when it is so on the monotonic clock of this process. */
interface Seen {
  /** Undefined: it owns slots, and says nothing. */
  readonly text: string | undefined;
  readonly at: number;
  readonly leaseMs: number;
}

/**
 * What one process has seen of the members, and when. It judges by nothing else: times of other machines are never
 * compared with its own.
 */
export class ShardSight {
  readonly #leaseMs: number;
  readonly #members = new Map<string, Seen>();
  readonly #buried = new Set<string>();
  #uid: string | undefined;
  #revision = 0;
  #slots = 0;
  /** Since when this Lease is there, or one that was put back to an earlier state or cut by hand. */
  #newAt = 0;
  #putBackAt: number | undefined;

  /** `leaseMs`: for members that don't say how long to wait for them. */
  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Notes a state that was received at `now`; a member that has changed has its time again. */
  observe({ uid, table, members }: ShardState, now: number): void {
    const isGoingOn = table.revision >= this.#revision && table.slots.length === this.#slots;
    if (uid !== this.#uid || !isGoingOn) {
      this.#putBackAt = uid === this.#uid ? now : undefined;
      this.#newAt = now;
      this.#uid = uid;
      this.#members.clear();
    }
    this.#revision = table.revision;
    this.#slots = table.slots.length;
    const present = new Set(members.keys());
    for (const { owner } of table.slots) if (owner !== undefined) present.add(owner);
    for (const id of present) {
      const text = members.get(id);
      const seen = this.#members.get(id);
      if (seen !== undefined && seen.text === text) continue;
      const leaseMs = (text === undefined ? seen?.leaseMs : parseMember(text)?.leaseMs) ?? this.#leaseMs;
      this.#members.set(id, { text, at: now, leaseMs });
    }
    for (const id of this.#members.keys()) if (!present.has(id)) this.#members.delete(id);
    // No id comes back.
    for (const id of this.#buried) if (!present.has(id)) this.#buried.delete(id);
  }

  /** Notes that a member, of this very process, has ended. */
  bury(id: string): void {
    this.#buried.add(id);
  }

  /**
   * Whether slots may be given away: members that own some by a Lease that was deleted, or by a later state of one that
   * was put back, have stopped. If the table is open, the first was checked by the member that opened it.
   */
  isQuiet({ isOpen }: ShardTable, now: number): boolean {
    const since = isOpen ? this.#putBackAt : this.#newAt;
    return since === undefined || now - since >= this.#leaseMs;
  }

  /** Members that must have stopped: they did not renew for as long as they said. */
  dead(now: number): readonly string[] {
    const isDead = ([id, { at, leaseMs }]: [string, Seen]) => this.#buried.has(id) || now - at >= leaseMs;
    return [...this.#members].filter(isDead).map(([id]) => id);
  }

  /** Members that may be given slots, in order. */
  live(now: number): readonly string[] {
    const dead = new Set(this.dead(now));
    const isLive = ([id, { text }]: [string, Seen]) =>
      !dead.has(id) && text !== undefined && parseMember(text)?.isLeaving === false;
    return [...this.#members]
      .filter(isLive)
      .map(([id]) => id)
      .sort();
  }
}
