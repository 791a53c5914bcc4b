import { type ClusterKey, keyId } from '../../object/key.js';

/** Whose a slot is. */
export interface ShardSlot {
  /** A member's id; undefined while the slot has no owner. */
  readonly owner: string | undefined;
  /** How often it has been given to a member: increases each time, so that two terms of ownership differ. */
  readonly epoch: number;
}

/** Who owns which slot, as it stands in the Lease of a ring. */
export interface ShardTable {
  /** Grows with each change: no text of a table is ever written twice. */
  readonly revision: number;
  /** Whether slots may be given away: not before members of an earlier, deleted Lease must have stopped. */
  readonly isOpen: boolean;
  readonly slots: readonly ShardSlot[];
}

/** A table without any owners. */
export function newTable(slots: number): ShardTable {
  return { revision: 1, isOpen: false, slots: Array.from({ length: slots }, () => ({ owner: undefined, epoch: 0 })) };
}

/** A table as text; owners are named once, as it is stored with every renewal of every member. */
export function formatTable({ revision, isOpen, slots }: ShardTable): string {
  const owners = [...new Set(slots.flatMap(({ owner }) => (owner === undefined ? [] : [owner])))];
  const pairs = slots.map(({ owner, epoch }) => [owner === undefined ? -1 : owners.indexOf(owner), epoch]);
  return JSON.stringify({ revision, open: isOpen, owners, slots: pairs });
}

/** Reads what {@link formatTable} writes; undefined for any other text. */
export function parseTable(text: string | undefined): ShardTable | undefined {
  const parsed = parseObject(text);
  const { revision, open, owners, slots } = parsed ?? {};
  if (!isCount(revision) || typeof open !== 'boolean' || !Array.isArray(owners) || !Array.isArray(slots)) {
    return undefined;
  }
  const read: ShardSlot[] = [];
  for (const pair of slots as readonly unknown[]) {
    const [at, epoch] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    if (typeof at !== 'number' || !isCount(epoch)) return undefined;
    const owner: unknown = at < 0 ? undefined : owners[at];
    if (at >= 0 && typeof owner !== 'string') return undefined;
    read.push({ owner: owner as string | undefined, epoch });
  }
  return read.length === 0 ? undefined : { revision, isOpen: open, slots: read };
}

/** What a member writes about itself. */
export interface ShardMemberRecord {
  readonly identity: string;
  /** How long others wait after the last change that they have seen. */
  readonly leaseMs: number;
  /** Grows with each renewal: no text of a member is ever written twice. */
  readonly beat: number;
  /** It takes no more slots. */
  readonly isLeaving: boolean;
}

export function formatMember({ identity, leaseMs, beat, isLeaving }: ShardMemberRecord): string {
  return JSON.stringify({ identity, leaseMs, beat, ...(isLeaving && { leaving: true }) });
}

/** Reads what {@link formatMember} writes; undefined for any other text. */
export function parseMember(text: string): ShardMemberRecord | undefined {
  const { identity, leaseMs, beat, leaving } = parseObject(text) ?? {};
  if (typeof identity !== 'string' || !isCount(leaseMs) || !isCount(beat)) return undefined;
  return { identity, leaseMs, beat, isLeaving: leaving === true };
}

/**
 * The slot of a key, or of any other text such as a UID: the same in every process. FNV-1a over UTF-16 units, and mixed,
 * as names that are counted through differ in their last letters alone.
 */
export function shardSlot(key: ClusterKey | string, slots: number): number {
  const text = typeof key === 'string' ? key : keyId(key);
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % slots;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function parseObject(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(text ?? '');
    return typeof parsed === 'object' && parsed !== null ? (parsed as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
