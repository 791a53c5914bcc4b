import { expect, test } from 'vitest';
import { type Duration, durationMs } from './duration.js';

test.each([
  ['0s', 0],
  ['250ms', 250],
  ['30s', 30_000],
  ['1.1s', 1100],
  ['5m', 300_000],
  ['1.5h', 5_400_000],
  ['7d', 604_800_000],
  ['0.5ms', 0.5],
  ['never', Number.POSITIVE_INFINITY],
] as [Duration | 'never', number][])('%s is %s ms', (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

test.each(['', '30', 's', '-1s', '+1s', '1e3s', '1 s', ' 1s', '1w', '.5s', '1.s', '1h30m', 'NaNs', 'Never', 30, null])(
  '%j is refused',
  (value) => {
    expect(() => durationMs(value as Duration, 'syncPeriod')).toThrow(
      `syncPeriod: expected a number and one of ms, s, m, h, d, as in "30s", or "never"; got ${JSON.stringify(value)}`,
    );
  },
);

test('what is past counting is refused', () => {
  expect(() => durationMs('999999999999999d')).toThrow('write "never" for no limit');
});
