import { describe, expect, test } from 'vitest';
import { isForbidden } from '../../rest/errors/error-guards.js';
import { scriptedFailure } from '../../rest/transport/scripted-transport.js';
import {
  errorEvent,
  event,
  expectBackoff,
  fails,
  list,
  open,
  refused,
  start,
  status,
  watch,
} from './retrying-watch.fixture.js';

describe('the server is in trouble', () => {
  test('5xx: waits that double up to 30 s, each with jitter; the list is not asked for again', async () => {
    const t = start({
      steps: [list(5), ...Array(7).fill(refused(500, 'InternalError')), watch(event('ADDED', 'a', 6), open)],
    });
    t.read();
    await t.clock.advance(300_000);
    expectBackoff(t.retries, [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000]);
    expect(t.whats().slice(1)).toEqual(Array(8).fill('watch 5'));
    expect(t.events).toEqual(['RESET', 'SYNCED 5', 'ADDED a']);
  });

  test('an event makes the waits short again', async () => {
    const down = refused(503, 'ServiceUnavailable');
    const t = start({ steps: [list(5), down, down, watch(event('ADDED', 'a', 6), scriptedFailure('reset')), down] });
    t.read();
    await t.clock.advance(60_000);
    expectBackoff(t.retries, [800, 1_600, 800, 1_600]);
  });

  test('so does a watch that lived, though quietly', async () => {
    const down = refused(503, 'ServiceUnavailable');
    const t = start({ steps: [list(5), down, down, watch(5_000, scriptedFailure('reset')), down] });
    t.read();
    await t.clock.advance(60_000);
    expectBackoff(t.retries, [800, 1_600, 800, 1_600]);
  });

  test('a server that cannot be reached is tried every 1.5 s at most, and what comes then is no repetition', async () => {
    const away = Array.from({ length: 40 }, () => fails('connect-refused'));
    const t = start({
      steps: [list(5), ...away, refused(410, 'Expired'), list(9), refused(503, 'ServiceUnavailable')],
    });
    t.read();
    await t.clock.advance(120_000);
    expect(t.events).toEqual(['RESET', 'SYNCED 5', 'RESET', 'SYNCED 9']);
    const waits = t.requests.slice(2, 42).map(({ at }, i) => at - (t.requests[i + 1]?.at ?? 0));
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_500);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(1_250);
    expect(t.requests[42]?.at).toBe(t.requests[41]?.at);
    expect(t.retries.at(-1)?.delayMs).toBeLessThan(3_200);
  });

  test('the list fails: tried again like the watch', async () => {
    const t = start({ steps: [refused(500, 'InternalError'), fails('connect-refused'), list(5)] });
    t.read();
    await t.clock.advance(10_000);
    // How long a server is away is counted apart.
    expectBackoff(t.retries, [800, 800]);
    expect(t.events).toEqual(['RESET', 'SYNCED 5']);
  });

  test('a server that asks to stay away for hours is asked again after a minute, and onRetry knows', async () => {
    const away = { status: 503, headers: { 'retry-after': '7200' }, body: status(503, 'ServiceUnavailable') };
    const t = start({ steps: [away, list(5), away, fails('reset'), watch(event('ADDED', 'a', 6), open)] });
    t.read();
    await t.clock.advance(59_999);
    expect(t.whats()).toEqual(['list']);
    await t.clock.advance(1);
    expect(t.whats()).toEqual(['list', 'list', 'watch 5']);
    await t.clock.advance(70_000);
    expect(t.events).toEqual(['RESET', 'SYNCED 5', 'ADDED a']);
    expect(t.retries.map(({ delayMs }) => delayMs >= 60_000)).toEqual([true, true, false]);
  });

  test('429: as long as it asks for, by header or Status', async () => {
    const busy = { status: 429, headers: { 'retry-after': '7' }, body: status(429, 'TooManyRequests') };
    const t = start({
      steps: [
        list(5),
        busy,
        refused(429, 'TooManyRequests', { retryAfterSeconds: 9 }),
        watch(event('ADDED', 'a', 6), open),
      ],
    });
    t.read();
    await t.clock.advance(6_900);
    expect(t.requests).toHaveLength(2);
    await t.clock.advance(100);
    expect(t.requests).toHaveLength(3);
    await t.clock.advance(8_900);
    expect(t.requests).toHaveLength(3);
    await t.clock.advance(100);
    expect(t.events.at(-1)).toBe('ADDED a');
    expect(t.whats()).toEqual(['list', 'watch 5', 'watch 5', 'watch 5']);
  });

  test('an error inside the stream that is no expiry: continues from the last event', async () => {
    const t = start({ steps: [list(5), watch(event('ADDED', 'a', 6), errorEvent(500, 'InternalError')), watch(open)] });
    t.read();
    await t.clock.advance(2_000);
    expect(t.whats()).toEqual(['list', 'watch 5', 'watch 6']);
  });
});

describe('expiry', () => {
  test.each([
    ['inside the stream', watch(event('ADDED', 'b', 6), errorEvent(410, 'Expired'))],
    ['inside the stream, by its other name', watch(event('ADDED', 'b', 6), errorEvent(410, 'Gone'))],
    ['on opening', refused(410, 'Expired')],
    ['too new, after a restore', refused(504, 'Timeout', { causes: [{ reason: 'ResourceVersionTooLarge' }] })],
  ])('%s: all again, at once', async (_, expired) => {
    const t = start({ steps: [list(5, 'a'), expired, list(20, 'a', 'c'), watch(open)] });
    t.read();
    await t.clock.settle();
    expect(t.events.filter((e) => e !== 'ADDED b')).toEqual([
      ...['RESET', 'ADDED a', 'SYNCED 5'],
      ...['RESET', 'ADDED a', 'ADDED c', 'SYNCED 20'],
    ]);
    expect(t.whats()).toEqual(['list', 'watch 5', 'list', 'watch 20']);
    expect(t.retries.map((r) => r.delayMs)).toEqual([0]);
  });

  test('from a given resourceVersion, too', async () => {
    const t = start({ steps: [refused(410, 'Expired'), list(20, 'a')], resourceVersion: '1' });
    t.read();
    await t.clock.settle();
    expect(t.events).toEqual(['RESET', 'ADDED a', 'SYNCED 20']);
  });

  test.each([
    ['without an event', () => refused(410, 'Expired')],
    ['with an event before each', (rv: number) => watch(event('ADDED', 'x', rv + 1), errorEvent(410, 'Expired'))],
  ])('again and again, %s: waits that grow', async (_, expired) => {
    const t = start({ steps: [1, 2, 3, 4].flatMap((n) => [list(n * 10), expired(n * 10)]) });
    t.read();
    await t.clock.settle();
    expect(t.whats().filter((what) => what === 'list')).toHaveLength(2);
    await t.clock.advance(60_000);
    expect(t.retries[0]?.delayMs).toBe(0);
    expectBackoff(t.retries.slice(1), [800, 1_600, 3_200]);
  });

  test('after calm it is the first again', async () => {
    const t = start({
      steps: [
        list(1),
        refused(410, 'Expired'),
        list(2),
        watch(180_000, errorEvent(410, 'Expired')),
        list(3),
        watch(open),
      ],
    });
    t.read();
    await t.clock.advance(180_000);
    expect(t.retries.map((r) => r.delayMs)).toEqual([0, 0]);
    expect(t.events.at(-1)).toBe('SYNCED 3');
  });
});

describe('what waiting cannot mend', () => {
  test.each([
    ['list', [refused(403, 'Forbidden')]],
    ['watch', [list(5), refused(403, 'Forbidden')]],
    ['stream', [list(5), watch(errorEvent(403, 'Forbidden'))]],
  ])('403 on the %s: rejects with it', async (_, steps) => {
    const t = start({ steps });
    const outcome = t.read();
    await t.clock.settle();
    expect(outcome.error).toSatisfy(isForbidden);
    expect(t.retries).toEqual([]);
    await t.clock.advance(100_000);
    expect(t.requests).toHaveLength(steps.length);
    expect(t.transport.running).toBe(0);
  });

  test.each([400, 401, 404, 405, 422])('%i rejects, too', async (code) => {
    const t = start({ steps: [refused(code, '')] });
    const outcome = t.read();
    await t.clock.settle();
    expect(outcome.error).toMatchObject({ code });
  });

  test('a transport that was closed, and a mistake of the caller', async () => {
    const t = start({ steps: [list(5), fails('closed')] });
    const outcome = t.read();
    await t.clock.settle();
    expect(outcome.error).toMatchObject({ kind: 'closed' });
    const mistaken = start({ steps: [], labelSelector: { app: 5 } as never });
    const refusal = mistaken.read();
    await mistaken.clock.settle();
    expect(refusal.error).toBeInstanceOf(TypeError);
  });

  test('what onRetry throws ends it', async () => {
    const t = start({
      steps: [refused(500, 'InternalError')],
      onRetry: () => {
        throw new Error('enough');
      },
    });
    const outcome = t.read();
    await t.clock.settle();
    expect(outcome.error).toMatchObject({ message: 'enough' });
  });
});
