import { expect, test } from 'vitest';
import { seededRandom } from '../../runtime/random.js';
import { notice } from './event.fixture.js';
import { EventNames } from './event-notice.js';
import { EventSeriesKeeper, type SeriesOptions } from './event-series-keeper.js';

const minute = 60_000;

function setUp(options: SeriesOptions = {}) {
  const keeper = new EventSeriesKeeper(new EventNames(seededRandom(1)), options);
  const say = (atMs: number, changes = {}) => keeper.observe(notice({ atMs, ...changes }));
  return { keeper, say };
}

test('the first is written, the second starts a series, the rest is counted', () => {
  const { keeper, say } = setUp();
  const [first, ...none] = say(0);
  expect(none).toEqual([]);
  expect(first?.change).toBeUndefined();
  expect(first?.object).toMatchObject({
    apiVersion: 'events.k8s.io/v1',
    eventTime: '1970-01-01T00:00:00.000000Z',
    reportingController: 'carts',
    reportingInstance: 'host-1',
    reason: 'Filled',
    action: 'Filled',
    note: 'filled',
    regarding: { kind: 'Cart', name: 'cart' },
  });
  expect(first?.object).not.toHaveProperty('series');
  const [second] = say(1_000);
  expect(second?.change).toEqual({ series: { count: 2, lastObservedTime: '1970-01-01T00:00:01.000000Z' } });
  expect(second?.key).toEqual(first?.key);
  expect(say(2_000)).toEqual([]);
  expect(say(3_000)).toEqual([]);
  expect(keeper.flush()).toMatchObject([{ change: { series: { count: 4 } } }]);
  expect(keeper.flush()).toEqual([]);
});

test('another message is of the same series, another version of the object too; another action is not', () => {
  const { say } = setUp();
  say(0);
  expect(say(1, { message: 'other words' })).toMatchObject([{ change: { series: { count: 2 } } }]);
  expect(say(2, { regarding: { ...notice().regarding, resourceVersion: '9' } })).toEqual([]);
  expect(say(3, { action: 'Fill' })).toMatchObject([{ object: { action: 'Fill' } }]);
});

test('refreshing writes series, and nothing else', () => {
  const { keeper, say } = setUp();
  say(0);
  say(0, { reason: 'Once' });
  for (let at = 1; at < 5; at += 1) say(at);
  expect(keeper.refresh()).toMatchObject([{ change: { series: { count: 5 } } }]);
});

test('what has not gone on for six minutes ends, with its last number', () => {
  const { keeper, say } = setUp();
  say(0);
  say(1);
  say(2);
  say(0, { reason: 'Once' });
  expect(keeper.finish(5 * minute)).toEqual([]);
  expect(keeper.finish(6 * minute + 2)).toMatchObject([{ change: { series: { count: 3 } } }]);
  expect(say(7 * minute)).toMatchObject([{ object: { eventTime: '1970-01-01T00:07:00.000000Z' } }]);
  expect(keeper.finish(6 * minute + 2)).toEqual([]);
});

test('an evicted series is written before', () => {
  const { say } = setUp({ remembered: 1 });
  say(0);
  say(1);
  say(2);
  expect(say(3, { reason: 'Other' })).toMatchObject([
    { change: { series: { count: 3 } } },
    { object: { reason: 'Other' } },
  ]);
});

test('a note is cut to what a server takes, never within a character', () => {
  const { say } = setUp();
  const [write] = say(0, { message: 'ü'.repeat(2_000) });
  const note = String((write?.object as { note?: string } | undefined)?.note);
  expect(note).toMatch(/^ü+…$/);
  expect(new TextEncoder().encode(note).length).toBeLessThanOrEqual(1024);
  expect(new TextEncoder().encode(note).length).toBeGreaterThan(1000);
});
