import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatMicroTime, formatTime, parseTime } from './time.js';

test.each([
  ['2026-01-31T08:30:00Z', Date.UTC(2026, 0, 31, 8, 30)],
  ['2026-01-31T08:30:00.25Z', Date.UTC(2026, 0, 31, 8, 30, 0, 250)],
  ['2026-01-31T08:30:00.000001Z', Date.UTC(2026, 0, 31, 8, 30) + 0.001],
  ['2026-01-31T08:30:00.123456789Z', Date.UTC(2026, 0, 31, 8, 30, 0, 123) + 0.456],
  ['2026-01-31T09:30:00+01:00', Date.UTC(2026, 0, 31, 8, 30)],
  ['2026-01-31T03:00:00-05:30', Date.UTC(2026, 0, 31, 8, 30)],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['1969-12-31T23:59:59Z', -1000],
])('%s is read', (text, ms) => {
  expect(parseTime(text)).toBeCloseTo(ms, 3);
});

test('the year 99 is not 1999', () => {
  expect(formatTime(parseTime('0099-03-01T00:00:00Z'))).toBe('0099-03-01T00:00:00Z');
});

test.each([
  '',
  '2026-01-31',
  '2026-01-31T08:30:00',
  '2026-01-31 08:30:00Z',
  '2026-01-31t08:30:00z',
  '2026-02-29T00:00:00Z',
  '1900-02-29T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:60:00Z',
  '2026-01-01T00:00:60Z',
  '2026-01-01T00:00:00.Z',
  '2026-01-01T00:00:00+0100',
  '2026-01-01T00:00:00Z ',
  'Thu, 01 Jan 2026 00:00:00 GMT',
])('%j is refused', (text) => {
  expect(() => parseTime(text)).toThrow(`${JSON.stringify(text)} is not an RFC 3339 time`);
});

test('a time has whole seconds, a micro time six decimals', () => {
  const ms = Date.UTC(2026, 0, 31, 8, 30, 1, 999);
  expect(formatTime(ms)).toBe('2026-01-31T08:30:01Z');
  expect(formatMicroTime(ms)).toBe('2026-01-31T08:30:01.999000Z');
  expect(formatMicroTime(ms + 0.9996)).toBe('2026-01-31T08:30:02.000000Z');
  expect(formatTime(-1)).toBe('1969-12-31T23:59:59Z');
  expect(formatMicroTime(-1)).toBe('1969-12-31T23:59:59.999000Z');
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, 1e18, -1e15])('%s is no time', (ms) => {
  expect(() => formatTime(ms)).toThrow(RangeError);
  expect(() => formatMicroTime(ms)).toThrow(RangeError);
});

test('what is printed is read back', () => {
  const seconds = fc.integer({ min: -2_000_000_000, max: 7_000_000_000 });
  fc.assert(
    fc.property(seconds, fc.nat({ max: 999_999 }), (s, micros) => {
      expect(parseTime(formatTime(s * 1000))).toBe(s * 1000);
      const text = formatMicroTime(s * 1000 + micros / 1000);
      expect(text).toMatch(new RegExp(`\\.${String(micros).padStart(6, '0')}Z$`));
      expect(formatMicroTime(parseTime(text))).toBe(text);
    }),
  );
});
