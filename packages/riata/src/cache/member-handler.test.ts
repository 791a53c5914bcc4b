import { expect, test } from 'vitest';
import { memoryLogger } from '../runtime/log/memory-logger.js';
import type { CacheMember } from './cache-member.js';
import { type Thing, thing } from './informer/informer.fixture.js';
import { MemberHandler } from './member-handler.js';
import { InformerStore } from './store/informer-store.js';

test('objects that are no longer held are reported in slices, as tombstones; a slow or failing handler does not stop the others', async () => {
  const base = new InformerStore<Thing>({});
  base.replace(
    Array.from({ length: 100 }, (_, i) => thing(`t${i}-`, 1)),
    '1',
  );
  let now = 0;
  let turns = 0;
  // Every look at the clock takes a millisecond.
  const clock = {
    ...{ now: () => 0, monotonic: () => ++now, after: () => expect.unreachable(), sleep: () => expect.unreachable() },
    yield: async () => {
      turns += 1;
    },
  };
  const informer = { addEventHandler: () => ({ remove: async () => undefined }) };
  const member = { base, clock, informer } as unknown as CacheMember<Thing>;
  const log = memoryLogger();
  const seen: string[] = [];
  const handler = new MemberHandler<Thing>(
    {
      onChange: ({ type, key, isFinalStateUnknown }) => {
        seen.push(`${type} ${key} ${isFinalStateUnknown}`);
        if (seen.length === 3) throw new Error('no');
        return seen.length === 4 ? Promise.reject(new Error('later')) : undefined;
      },
    },
    { name: 'noting' },
    log,
    () => undefined,
  );
  handler.join(member);
  await handler.leave(member, (key, obj) => key === 'shop/t0-' && obj.metadata.name === 't0-');
  expect(seen).toHaveLength(99);
  expect(seen[0]).toBe('Deleted shop/t1- true');
  expect(turns).toBeGreaterThan(10);
  expect(log.messages('error')).toHaveLength(2);
});
