import fc from 'fast-check';
import { expect, test } from 'vitest';
import { reassigned, shardSurplus, shardTargets } from './shard-balance.js';
import {
  formatMember,
  formatTable,
  newTable,
  parseMember,
  parseTable,
  type ShardTable,
  shardSlot,
} from './shard-table.js';

const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
const aTable = fc
  .array(fc.record({ owner: fc.option(fc.constantFrom(...ids), { nil: undefined }), epoch: fc.nat(9) }), {
    minLength: 1,
  })
  .map((slots): ShardTable => ({ revision: 3, isOpen: true, slots }));
const someLive = fc.subarray(ids, { minLength: 1 });

test('a table is read as it was written', () => {
  fc.assert(fc.property(aTable, (table) => void expect(parseTable(formatTable(table))).toEqual(table)));
  expect(parseTable(formatTable(newTable(4)))).toEqual(newTable(4));
  for (const text of [undefined, '', '{}', '[]', '{"revision":1,"open":true,"owners":[],"slots":[[0,1]]}', 'null']) {
    expect(parseTable(text)).toBeUndefined();
  }
});

test('and so is a member', () => {
  const member = { identity: 'pod-a', leaseMs: 15_000, beat: 4, isLeaving: false };
  expect(parseMember(formatMember(member))).toEqual(member);
  expect(parseMember(formatMember({ ...member, isLeaving: true }))).toEqual({ ...member, isLeaving: true });
  expect(parseMember('{"identity":"pod-a"}')).toBeUndefined();
});

test('keys are spread over slots, the same everywhere', () => {
  expect([shardSlot('shop/cart', 64), shardSlot({ namespace: 'shop', name: 'cart' }, 64)]).toEqual([41, 41]);
  expect(shardSlot({ cluster: 'x', namespace: 'shop', name: 'cart' }, 4096)).not.toBe(shardSlot('shop/cart', 4096));
  const counts = new Array<number>(64).fill(0);
  for (let at = 0; at < 6_400; at += 1) counts[shardSlot(`shop/widget-${at}`, 64)]! += 1;
  expect(Math.min(...counts)).toBeGreaterThan(60);
  expect(Math.max(...counts)).toBeLessThan(150);
});

test('targets are even, and a member with the larger number keeps it', () => {
  fc.assert(
    fc.property(someLive, aTable, (live, table) => {
      const targets = [...shardTargets(live, table).values()];
      expect(targets.reduce((a, b) => a + b)).toBe(table.slots.length);
      expect(Math.max(...targets) - Math.min(...targets)).toBeLessThanOrEqual(1);
    }),
  );
});

test('members who each do their part reach their targets, moving no slot more often than needed', () => {
  fc.assert(
    fc.property(someLive, aTable, fc.infiniteStream(fc.nat(5)), (live, begin, order) => {
      const isLive = (owner: string | undefined) => owner !== undefined && live.includes(owner);
      const start = reassigned(begin, live, ({ owner }) => !isLive(owner));
      const needed = live.reduce((sum, id) => sum + shardSurplus(id, live, start), 0);
      let table = start;
      let moved = 0;
      for (let turn = 0; turn < 200; turn += 1) {
        const id = live[(order.next().value ?? 0) % live.length] as string;
        let count = Math.min(shardSurplus(id, live, table), 2);
        const given = new Set<number>();
        for (const [at, { owner }] of table.slots.entries()) {
          if (owner !== id || count === 0) continue;
          given.add(at);
          count -= 1;
        }
        if (given.size === 0) continue;
        const next = reassigned(table, live, (_, at) => given.has(at));
        moved += given.size;
        for (const [at, slot] of next.slots.entries()) {
          if (given.has(at)) expect(slot.epoch).toBe((table.slots[at]?.epoch ?? 0) + 1);
          else expect(slot).toEqual(table.slots[at]);
        }
        table = next;
      }
      for (const id of live) {
        while (shardSurplus(id, live, table) > 0) {
          const at = table.slots.findIndex(({ owner }) => owner === id);
          table = reassigned(table, live, (_, slot) => slot === at);
          moved += 1;
        }
      }
      expect(moved).toBe(needed);
      const shares = live.map((id) => table.slots.filter(({ owner }) => owner === id).length);
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    }),
  );
});

test('without members, slots have no owner', () => {
  const table = {
    ...newTable(2),
    slots: [
      { owner: 'a', epoch: 4 },
      { owner: undefined, epoch: 2 },
    ],
  };
  const next = reassigned(table, [], () => true);
  expect(next.slots).toEqual([
    { owner: undefined, epoch: 4 },
    { owner: undefined, epoch: 2 },
  ]);
  expect(next.revision).toBe(table.revision + 1);
});
