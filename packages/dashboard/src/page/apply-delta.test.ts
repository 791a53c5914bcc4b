import type { DebugState } from 'riata/manager';
import { expect, test } from 'vitest';
import { applyDelta } from './apply-delta.js';

test('members are replaced, added and removed by their ids, values as a whole', () => {
  const state = {
    ...{ process: { rssBytes: 1 }, leader: { identity: 'a' }, caches: [], clusters: [], webhooks: [] },
    controllers: [
      { id: 'a', queued: 1 },
      { id: 'b', queued: 2 },
      { id: 'c', queued: 3 },
    ],
  } as unknown as DebugState;
  const changed = {
    process: { rssBytes: 2 },
    controllers: [
      { id: 'b', queued: 5 },
      { id: 'd', queued: 6 },
    ],
  } as never;
  expect(applyDelta(state, { changed, removed: { controllers: ['a'], leader: true } })).toEqual({
    ...{ process: { rssBytes: 2 }, caches: [], clusters: [], webhooks: [] },
    controllers: [
      { id: 'b', queued: 5 },
      { id: 'c', queued: 3 },
      { id: 'd', queued: 6 },
    ],
  });
});
