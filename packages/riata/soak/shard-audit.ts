import { parseMember, parseTable, shardSlot } from '../src/manager/sharding/shard-table.js';
import type { AuditedWrite } from './audit-log.js';

/** One time of owning a slot, from the moment that the server had answered the write that gave it. */
interface SlotTerm {
  readonly replica: string;
  readonly epoch: number;
  readonly from: number;
}

/** Who owned which slot of a ring when, by every version of its Lease that a replica wrote. */
export function slotTerms(audited: readonly AuditedWrite[], ring: string): readonly (readonly SlotTerm[])[] {
  const terms: SlotTerm[][] = [];
  const identities = new Map<string, string>();
  const versions = audited.filter(({ resource, name, code }) => resource === 'leases' && name === ring && code < 300);
  // In the order in which they were stored.
  const ordered = versions.sort((a, b) => revisionOf(a) - revisionOf(b));
  for (const { stored, answeredAt } of ordered) {
    for (const [key, text] of Object.entries(stored?.metadata.annotations ?? {})) {
      const member = key.startsWith('member.') ? parseMember(text) : undefined;
      if (member !== undefined) identities.set(key.slice(key.indexOf('/') + 1), member.identity);
      const table = key.startsWith('member.') ? undefined : parseTable(text);
      for (const [slot, { owner, epoch }] of table?.slots.entries() ?? []) {
        terms[slot] ??= [];
        if (owner === undefined || terms[slot].at(-1)?.epoch === epoch) continue;
        terms[slot].push({ replica: identities.get(owner) ?? owner, epoch, from: answeredAt });
      }
    }
  }
  return terms;
}

/** In which epoch of its key's slot a write was made, -1 for none; what is written for a key has the key's name. */
export function slotTermOf(
  audited: readonly AuditedWrite[],
  ring: string,
  namespace: string,
): (write: AuditedWrite) => number {
  const terms = slotTerms(audited, ring);
  return ({ name, replica, answeredAt }) => {
    const own = terms[shardSlot({ namespace, name }, terms.length)] ?? [];
    return own.findLast((term) => term.replica === replica && term.from <= answeredAt)?.epoch ?? -1;
  };
}

function revisionOf({ stored }: AuditedWrite): number {
  return Number(stored?.metadata.resourceVersion ?? 0);
}
