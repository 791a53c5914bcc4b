import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scheduleProblem } from './cron-schedule.js';

test.each(['* * * * *', '*/5 0-12/2 1,15 jan-DEC mon-fri', '? ? ? ? ?', '5/10 * * * *', '@daily', '@every 1h30m'])(
  '%s is a schedule',
  (schedule) => {
    expect(scheduleProblem(schedule)).toBeUndefined();
  },
);

test.each([
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * * 0 *', 'beginning of range (0) below minimum (1): 0'],
  ['* * * * 5-2', 'beginning of range (5) beyond end of range (2): 5-2'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['@never', 'unrecognized descriptor: @never'],
])('%s is none', (schedule, problem) => {
  expect(scheduleProblem(schedule)).toBe(problem);
});

test('any text is a schedule or gets an error', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(['string', 'undefined']).toContain(typeof scheduleProblem(text));
    }),
    { numRuns: 200 },
  );
});
