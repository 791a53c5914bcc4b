import type { ShardSlot, ShardTable } from './shard-table.js';

/**
 * How many slots each of `live` should own, as evenly as possible. A member that already has the larger number keeps
 * it, so that no slot moves without need and the numbers stay the same while slots move.
 */
export function shardTargets(live: readonly string[], table: ShardTable): ReadonlyMap<string, number> {
  const counts = countOwned(live, table.slots);
  const base = Math.floor(table.slots.length / live.length);
  const larger = table.slots.length % live.length;
  const isLarge = (id: string) => Math.min(counts.get(id) ?? 0, base + 1);
  const order = [...live].sort((a, b) => isLarge(b) - isLarge(a) || (a < b ? -1 : 1));
  return new Map(order.map((id, at) => [id, at < larger ? base + 1 : base]));
}

/** How many slots `id` should give up for others. */
export function shardSurplus(id: string, live: readonly string[], table: ShardTable): number {
  if (!live.includes(id)) return table.slots.filter(({ owner }) => owner === id).length;
  const owned = countOwned([id], table.slots).get(id) ?? 0;
  return Math.max(0, owned - (shardTargets(live, table).get(id) ?? 0));
}

/**
 * The table with every slot for which `isMovable` is true given to a member that should own more, or to none if none is
 * `live`. Other slots stay. The result depends on nothing but the arguments, so that all members compute the same.
 */
export function reassigned(
  table: ShardTable,
  live: readonly string[],
  isMovable: (slot: ShardSlot, at: number) => boolean,
): ShardTable {
  const staying = table.slots.map((slot, at) => (isMovable(slot, at) ? undefined : slot));
  const lacking = lacks(live, table, staying);
  const slots = table.slots.map((slot, at) => {
    if (staying[at] !== undefined) return slot;
    const owner = lacking.find(({ count }) => count > 0) ?? undefined;
    if (owner === undefined) return slot.owner === undefined ? slot : { owner: undefined, epoch: slot.epoch };
    owner.count -= 1;
    lacking.sort((a, b) => b.count - a.count);
    return { owner: owner.id, epoch: slot.epoch + 1 };
  });
  return { revision: table.revision + 1, isOpen: true, slots };
}

function lacks(live: readonly string[], table: ShardTable, staying: readonly (ShardSlot | undefined)[]) {
  const slots = staying.map((slot, at) => slot ?? { owner: undefined, epoch: table.slots[at]?.epoch ?? 0 });
  const targets = shardTargets(live, { ...table, slots });
  const counts = countOwned(live, slots);
  const lacking = [...targets].map(([id, target]) => ({ id, count: target - (counts.get(id) ?? 0) }));
  return lacking.sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1));
}

function countOwned(live: readonly string[], slots: readonly ShardSlot[]): Map<string, number> {
  const counts = new Map(live.map((id) => [id, 0]));
  for (const { owner } of slots) {
    const count = owner === undefined ? undefined : counts.get(owner);
    if (owner !== undefined && count !== undefined) counts.set(owner, count + 1);
  }
  return counts;
}
