import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatTime, parseTime } from '../../object/time.js';
import { parseCron } from './cron-schedule.js';

/** The next times after a moment. */
function times(expression: string, after: string, count = 1, timeZone?: string): string[] {
  const schedule = parseCron(expression, timeZone);
  const found: string[] = [];
  for (let ms = parseTime(after); found.length < count; ) {
    ms = schedule.next(ms);
    found.push(formatTime(ms));
  }
  return found;
}

describe('what is due', () => {
  test.each([
    ['* * * * *', '2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'],
    ['* * * * *', '2026-01-01T00:00:59Z', '2026-01-01T00:01:00Z'],
    ['30 3 * * *', '2026-01-01T03:30:00Z', '2026-01-02T03:30:00Z'],
    ['30 3 * * *', '2026-01-01T03:29:59Z', '2026-01-01T03:30:00Z'],
    ['*/15 9-17 * * *', '2026-01-01T17:45:00Z', '2026-01-02T09:00:00Z'],
    ['5/20 * * * *', '2026-01-01T00:25:00Z', '2026-01-01T00:45:00Z'],
    ['0 0 1,15 * *', '2026-01-02T00:00:00Z', '2026-01-15T00:00:00Z'],
    ['0 0 31 * *', '2026-01-31T00:00:00Z', '2026-03-31T00:00:00Z'],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00Z'],
    ['0 0 29 2 *', '2096-03-01T00:00:00Z', '2104-02-29T00:00:00Z'],
    ['0 12 * * 1-5', '2026-01-02T12:00:00Z', '2026-01-05T12:00:00Z'],
    ['0 12 * * mon-FRI', '2026-01-02T12:00:00Z', '2026-01-05T12:00:00Z'],
    ['0 12 * * 7', '2026-01-01T00:00:00Z', '2026-01-04T12:00:00Z'],
    ['0 12 * * 5-7', '2026-01-03T13:00:00Z', '2026-01-04T12:00:00Z'],
    ['0 0 * JUN ?', '2026-01-01T00:00:00Z', '2026-06-01T00:00:00Z'],
    ['@hourly', '2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'],
    ['@Daily', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
    ['@weekly', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00Z'],
    ['@monthly', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
    [' @yearly ', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ])('%s after %s: %s', (expression, after, expected) => {
    expect(times(expression, after)).toEqual([expected]);
  });

  test('either day will do if both are restricted, both must fit if one begins with *', () => {
    expect(times('0 0 13 * 5', '2026-01-31T00:00:00Z', 3)).toEqual([
      ...['2026-02-06T00:00:00Z', '2026-02-13T00:00:00Z', '2026-02-20T00:00:00Z'],
    ]);
    expect(times('0 0 */2 * 5', '2026-01-31T00:00:00Z', 2)).toEqual(['2026-02-13T00:00:00Z', '2026-02-27T00:00:00Z']);
  });

  test('comes next from any moment before it', () => {
    const field = (min: number, max: number) =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min, max }).map(String),
        fc.integer({ min: 2, max: 9 }).map((step) => `*/${step}`),
        fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map((ends) => {
          const [from, to] = ends.sort((a, b) => a - b);
          return `${from}-${to}`;
        }),
      );
    const start = parseTime('2026-01-30T00:00:00Z');
    fc.assert(
      fc.property(
        field(0, 59),
        field(0, 23),
        field(1, 28),
        field(0, 6),
        fc.integer({ min: 0, max: 10_000 }),
        (...given) => {
          const [minute, hour, day, weekday, offset] = given;
          const schedule = parseCron(`${minute} ${hour} ${day} * ${weekday}`);
          const after = start + offset * 17_000;
          const found = schedule.next(after);
          expect(found).toBeGreaterThan(after);
          expect(found % 60_000).toBe(0);
          // Nothing lies between, and it is one itself: asking from just before gives it again.
          expect(schedule.next(found - 1)).toBe(found);
          const middle = after + Math.floor((found - after) / 2);
          expect(schedule.next(middle)).toBe(found);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('where clocks change', () => {
  // Berlin: forward on 29 March 2026, 02:00 → 03:00 (01:00 UTC); back on 25 October, 03:00 → 02:00 (01:00 UTC).
  const berlin = 'Europe/Berlin';

  test('local time counts', () => {
    expect(times('0 6 * * *', '2026-03-27T12:00:00Z', 3, berlin)).toEqual([
      ...['2026-03-28T05:00:00Z', '2026-03-29T04:00:00Z', '2026-03-30T04:00:00Z'],
    ]);
    expect(times('0 6 * * *', '2026-01-01T12:00:00Z', 1, 'Asia/Kolkata')).toEqual(['2026-01-02T00:30:00Z']);
    expect(times('0 0 1 * *', '2026-01-15T00:00:00Z', 1, 'America/New_York')).toEqual(['2026-02-01T05:00:00Z']);
  });

  test('a fixed time that is skipped comes as long after the change', () => {
    expect(times('30 2 * * *', '2026-03-28T02:00:00Z', 3, berlin)).toEqual([
      ...['2026-03-29T01:30:00Z', '2026-03-30T00:30:00Z', '2026-03-31T00:30:00Z'],
    ]);
  });

  test('a fixed time that comes twice comes once', () => {
    expect(times('30 2 * * *', '2026-10-24T01:00:00Z', 3, berlin)).toEqual([
      ...['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z', '2026-10-27T01:30:00Z'],
    ]);
  });

  test('what comes every hour comes every hour', () => {
    expect(times('30 * * * *', '2026-03-29T00:00:00Z', 3, berlin)).toEqual([
      ...['2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z', '2026-03-29T02:30:00Z'],
    ]);
    expect(times('30 * * * *', '2026-10-25T00:00:00Z', 3, berlin)).toEqual([
      ...['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T02:30:00Z'],
    ]);
  });

  test('every time of a year comes on, and daily ones 365 times', () => {
    const zones = [
      berlin,
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kolkata',
      'America/Santiago',
      'Africa/Casablanca',
    ];
    const start = parseTime('2026-01-01T12:00:00Z');
    for (const zone of zones) {
      for (const expression of ['30 2 * * *', '0 0 * * *', '30 0 * * *']) {
        const schedule = parseCron(expression, zone);
        let count = 0;
        for (let ms = schedule.next(start); ms <= parseTime('2027-01-01T12:00:00Z'); ms = schedule.next(ms)) count += 1;
        expect([zone, expression, count]).toEqual([zone, expression, 365]);
      }
    }
  });

  test.each([
    [berlin, '2026-03-28T12:00:00Z'],
    [berlin, '2026-10-24T12:00:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T00:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T00:00:00Z'],
    ['America/Santiago', '2026-04-04T12:00:00Z'],
    ['America/Santiago', '2026-09-05T12:00:00Z'],
  ])('in %s from %s: what goes by the hour, as looking at every minute finds it', (timeZone, from) => {
    const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', hour: 'numeric', minute: 'numeric' });
    const clock = (ms: number) => {
      const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
      return { hour: parts.hour ?? 0, minute: parts.minute ?? 0 };
    };
    const start = parseTime(from);
    const end = start + 36 * 3_600_000;
    const seen: string[] = [];
    for (let ms = start + 60_000; ms <= end; ms += 60_000) {
      const { hour, minute } = clock(ms);
      if (hour % 2 === 0 && minute % 20 === 5) seen.push(formatTime(ms));
    }
    const found: string[] = [];
    const schedule = parseCron('5/20 */2 * * *', timeZone);
    for (let ms = schedule.next(start); ms <= end; ms = schedule.next(ms)) found.push(formatTime(ms));
    expect(found).toEqual(seen);
  });

  test('an unknown zone is refused', () => {
    expect(() => parseCron('* * * * *', 'Mars/Phobos')).toThrow('time zone "Mars/Phobos" is unknown');
  });
});

describe('a malformed cron expression', () => {
  test.each([
    ['* * * *', 'expected five fields'],
    ['* * * * * *', 'expected five fields'],
    ['', 'expected five fields'],
    ['@never', 'expected five fields'],
    ['60 * * * *', 'minute "60": expected values from 0 to 59'],
    ['* 24 * * *', 'hour "24": expected values from 0 to 23'],
    ['* * 0 * *', 'day of month "0": expected values from 1 to 31'],
    ['* * * 13 *', 'month "13": expected values from 1 to 12'],
    ['* * * foo *', 'month "foo": expected values from 1 to 12'],
    ['* * * * 8', 'day of week "8": expected values from 0 to 7'],
    ['*/0 * * * *', 'minute "*/0": the step must be ≥ 1'],
    ['5-3 * * * *', 'minute "5-3": the range ends before it starts'],
    ['1, * * * *', 'minute "": expected *, 5, 1-5, */5'],
    ['-1 * * * *', 'minute "-1": expected *'],
    ['*-5 * * * *', 'minute "*-5": expected *'],
    ['1.5 * * * *', 'minute "1.5": expected *'],
    ['0 0 30 2 *', 'no such day exists'],
  ])('%s', (expression, why) => {
    expect(() => parseCron(expression)).toThrow(SyntaxError);
    expect(() => parseCron(expression)).toThrow(`cron expression ${JSON.stringify(expression)}: ${why}`);
  });
});
