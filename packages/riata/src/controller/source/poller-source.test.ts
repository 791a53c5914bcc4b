import { expect, test } from 'vitest';
import { type PollerSourceOptions, pollerSource } from './poller-source.js';
import { sourceBench } from './source.fixture.js';
import { inCluster } from './source.js';

interface Bucket {
  readonly arn: string;
  readonly size: number;
  readonly owner?: string;
}

const minute = 60_000;

function setUp(options: Partial<PollerSourceOptions<Bucket>> = {}) {
  const bench = sourceBench();
  let answer: () => Promise<Iterable<Bucket> | undefined> = async () => [];
  const source = pollerSource<Bucket>({
    poll: () => answer(),
    id: ({ arn }) => arn,
    keys: ({ arn, owner }) => ({ namespace: 'shop', name: owner ?? arn }),
    jitter: 0,
    name: 'cloud',
    ...options,
  });
  const say = async (...buckets: readonly Bucket[]) => {
    answer = async () => buckets;
    await bench.clock.advance(minute);
    return bench.take().map(({ name, causes }) => [name, causes[0]?.change]);
  };
  const setAnswer = (next: typeof answer) => {
    answer = next;
  };
  return { ...bench, source, say, setAnswer };
}

test('what came, changed or went since the last time', async () => {
  const { source, setAnswer, run, take, say, end, clock } = setUp();
  setAnswer(async () => [
    { arn: 'a', size: 1 },
    { arn: 'b', size: 1 },
  ]);
  await run(source);
  expect(take()).toMatchObject([
    { name: 'shop/a', priority: -100, causes: [{ source: 'cloud', change: 'Added', object: 'a' }] },
    { name: 'shop/b', priority: -100 },
  ]);
  expect(await say({ arn: 'a', size: 1 }, { arn: 'b', size: 1 })).toEqual([]);
  expect(await say({ arn: 'b', size: 2 }, { arn: 'a', size: 1 }, { arn: 'c', size: 1 })).toEqual([
    ['shop/b', 'Updated'],
    ['shop/c', 'Added'],
  ]);
  expect(await say({ arn: 'c', size: 1 })).toEqual([
    ['shop/b', 'Deleted'],
    ['shop/a', 'Deleted'],
  ]);
  expect(await say()).toEqual([['shop/c', 'Deleted']]);
  await end();
  expect(clock.pending).toBe(0);
});

test('an item that goes from one key to another: both hear of it', async () => {
  const { source, setAnswer, run, take, say, end } = setUp();
  setAnswer(async () => [{ arn: 'a', size: 1, owner: 'x' }]);
  await run(source);
  take();
  expect(await say({ arn: 'a', size: 1, owner: 'y' })).toEqual([
    ['shop/y', 'Updated'],
    ['shop/x', 'Updated'],
  ]);
  await end();
});

test('a key is put in line once for all that came of one poll, though someone waits for it', async () => {
  const { source, setAnswer, queue, run, end, clock } = setUp({ keys: () => ({ name: 'all' }) });
  const runs: string[][] = [];
  const worker = (async () => {
    for await (const { note = [] } of queue) runs.push(note.map(({ change, object }) => `${change} ${object}`));
  })();
  setAnswer(async () => [{ arn: 'a', size: 1 }]);
  await run(source);
  setAnswer(async () => [
    { arn: 'a', size: 2 },
    { arn: 'b', size: 1 },
  ]);
  await clock.advance(minute);
  await end();
  queue.shutDown();
  await worker;
  expect(runs).toEqual([['Added a'], ['Updated a', 'Added b']]);
});

test('by a version, with several keys', async () => {
  const { source, run, say, end } = setUp({
    version: ({ size }) => String(size > 10),
    keys: ({ arn }) => [{ name: `${arn}-1` }, { name: `${arn}-2` }],
  });
  await run(source);
  expect(await say({ arn: 'a', size: 1 })).toHaveLength(2);
  expect(await say({ arn: 'a', size: 9 })).toEqual([]);
  expect(await say({ arn: 'a', size: 11 })).toEqual([
    ['a-1', 'Updated'],
    ['a-2', 'Updated'],
  ]);
  await end();
});

test('a failure changes nothing, and neither does "as before"', async () => {
  const { source, setAnswer, run, take, say, end, log, clock } = setUp();
  setAnswer(async () => [{ arn: 'a', size: 1 }]);
  await run(source);
  take();
  setAnswer(async () => {
    throw new Error('down');
  });
  await clock.advance(3 * minute);
  setAnswer(async () => undefined);
  await clock.advance(minute);
  setAnswer(async () => [
    { arn: 'b', size: 1 },
    { arn: 'b', size: 2 },
  ]);
  await clock.advance(minute);
  expect(take()).toEqual([]);
  expect(log.messages('error')).toEqual(Array.from({ length: 4 }, () => 'a poll failed'));
  expect(String(log.records.at(-1)?.fields.error)).toContain('duplicate item id "b"');
  expect(await say({ arn: 'a', size: 1 })).toEqual([]);
  await end();
});

test('one poll at a time, each no longer than its timeout', async () => {
  const { run, end, log, clock } = setUp();
  const signals: AbortSignal[] = [];
  const slow = pollerSource<Bucket>({
    poll: ({ signal }) => {
      signals.push(signal);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
    id: ({ arn }) => arn,
    keys: ({ arn }) => ({ name: arn }),
    ...{ every: '1m', timeout: '5s', jitter: 0 },
  });
  await run(slow);
  await clock.advance(4_999);
  expect(log.messages('error')).toEqual([]);
  await clock.advance(1);
  expect(log.messages('error')).toEqual(['a poll failed']);
  await clock.advance(minute);
  expect(signals).toHaveLength(2);
  await end();
  expect([clock.pending, signals.every(({ aborted }) => aborted)]).toEqual([0, true]);
});

test('one that ignores its signal does not hold up the next', async () => {
  const { run, end, log, clock } = setUp();
  let polls = 0;
  const deaf = pollerSource<Bucket>({
    poll: () => {
      polls += 1;
      return new Promise(() => {});
    },
    id: ({ arn }) => arn,
    keys: ({ arn }) => ({ name: arn }),
    ...{ every: '1m', timeout: '5s', jitter: 0 },
  });
  await run(deaf);
  await clock.advance(5_000 + minute);
  expect([polls, log.messages('error')]).toEqual([2, ['a poll failed']]);
  await end();
  expect(clock.pending).toBe(0);
});

test('makes no sense without a time', () => {
  expect(() => setUp({ every: '0ms' })).toThrow('every must be at least 1ms, got 0ms');
  expect(() => setUp({ jitter: Number.NaN })).toThrow('pollerSource: jitter must be ≥ 0, got NaN');
});

test('in one of several clusters', async () => {
  const { source, setAnswer, run, queue, end } = setUp();
  setAnswer(async () => [{ arn: 'a', size: 1 }]);
  await run(inCluster(source, 'east'));
  expect(queue.tryGet()?.key).toEqual({ cluster: 'east', namespace: 'shop', name: 'a' });
  await end();
});

test('an item that a function fails for holds up none of the others, and does not count as gone', async () => {
  const { run, names, end, clock, log } = sourceBench();
  const items: { readonly name: string; readonly at: number }[] = [
    { name: 'a', at: 1 },
    { name: 'bad', at: 1 },
    { name: 'z', at: 1 },
  ];
  let fails: 'id' | 'version' | 'keys' | undefined = 'keys';
  const check = (func: typeof fails, { name }: { readonly name: string }) => {
    if (name === 'bad' && fails === func) throw new Error(`no ${func}`);
  };
  await run(
    pollerSource({
      every: '1m',
      jitter: 0,
      poll: async () => items,
      id: (item) => {
        check('id', item);
        return item.name;
      },
      version: (item) => {
        check('version', item);
        return String(item.at);
      },
      keys: (item) => {
        check('keys', item);
        return { name: item.name };
      },
    }),
  );
  expect(names()).toEqual(['a', 'z']);
  expect(log.records).toMatchObject([{ level: 'error', fields: { source: 'poller', function: 'keys', item: 'bad' } }]);
  expect(log.records[0]?.fields.at).toContain('poller-source.test.ts');
  fails = undefined;
  await clock.advance(60_000);
  expect(names()).toEqual(['bad']);
  for (const func of ['id', 'version'] as const) {
    fails = func;
    items[0] = { name: 'a', at: (items[0]?.at ?? 0) + 1 };
    await clock.advance(60_000);
    expect(names()).toEqual(['a']);
  }
  fails = undefined;
  await clock.advance(60_000);
  expect(names()).toEqual([]);
  await end();
});
