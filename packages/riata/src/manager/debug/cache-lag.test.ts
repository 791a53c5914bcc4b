import { expect, test } from 'vitest';
import { ConfigMap } from '../../kinds/generated/groups/core/v1.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { type CacheLagSource, CacheLags } from './cache-lag.js';

/** A cache at version 5, and a server whose watches show what they are given. */
function setUp(events: readonly unknown[]) {
  const clock = new VirtualClock();
  const informer = { name: 'configmaps', resourceVersion: '5' };
  const opened: unknown[] = [];
  const watch = async (_: unknown, options: unknown) => {
    opened.push(options);
    let stop = () => {};
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    return {
      stop: () => stop(),
      async *[Symbol.asyncIterator]() {
        yield* events;
        await stopped;
      },
    };
  };
  const health = () => [{ kind: ConfigMap, synced: true, informers: [informer], selections: [{ namespace: 'n' }] }];
  const cache = {
    get health() {
      return health();
    },
  };
  const source = { cache, clusters: { names: [] }, client: { watch }, mask: (text: string) => text };
  const lags = new CacheLags(source as unknown as CacheLagSource, clock);
  return { clock, lags, informer, opened };
}

const changed = (resourceVersion: string) => ({ type: 'MODIFIED', object: { metadata: { resourceVersion } } });

test('0 if the server has nothing newer, or the cache has it as well', async () => {
  const quiet = setUp([{ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } }]);
  const measured = quiet.lags.measure();
  await quiet.clock.advance(500);
  expect(await measured).toEqual([{ id: 'configmaps', lagMs: 0 }]);
  expect(quiet.opened).toMatchObject([{ namespace: 'n', resourceVersion: '5', allowWatchBookmarks: false }]);
  const busy = setUp([changed('6')]);
  busy.informer.resourceVersion = '6';
  expect(await busy.lags.measure()).toEqual([{ id: 'configmaps', lagMs: 0 }]);
});

test('the time until the cache has the change that another watch shows', async () => {
  const { clock, lags, informer } = setUp([changed('10')]);
  const measured = lags.measure();
  await clock.advance(290);
  informer.resourceVersion = '12';
  await clock.advance(10);
  expect(await measured).toEqual([{ id: 'configmaps', lagMs: 300 }]);
});

test('of a cache that gets no changes any more, at least two seconds; all who ask share one watch for five', async () => {
  const { clock, lags, opened } = setUp([changed('10')]);
  const both = Promise.all([lags.measure(), lags.measure()]);
  await clock.advance(2_000);
  const stalled = [{ id: 'configmaps', lagMs: 2_000, isAtLeast: true }];
  expect(await both).toEqual([stalled, stalled]);
  expect(opened).toHaveLength(1);
  await clock.advance(3_000);
  void lags.measure();
  expect(opened).toHaveLength(2);
});

test('says why it could not be measured', async () => {
  const expired = setUp([{ type: 'ERROR', error: new Error('too old resource version') }]);
  expect(await expired.lags.measure()).toEqual([{ id: 'configmaps', problem: 'Error: too old resource version' }]);
  const unlisted = setUp([]);
  unlisted.informer.resourceVersion = '';
  expect(await unlisted.lags.measure()).toEqual([{ id: 'configmaps', problem: 'not listed yet' }]);
  const unordered = setUp([changed('a-1')]);
  expect(await unordered.lags.measure()).toMatchObject([
    { problem: 'resourceVersions of this server are not numbers' },
  ]);
});
