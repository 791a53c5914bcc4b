import { parseCron } from 'riata/controller';
import { expect, test } from 'vitest';
import { latestDue } from './latest-due.js';

const at = (text: string) => Date.parse(`2026-01-01T${text}Z`);

test.each([
  ['nothing is due yet', '*/5 * * * *', '00:01:00', '00:04:59', undefined, false],
  ['one is due', '*/5 * * * *', '00:01:00', '00:05:00', '00:05:00', false],
  ['of several the newest counts', '*/5 * * * *', '00:01:00', '00:22:00', '00:20:00', false],
  ['a hundred may be missed', '* * * * *', '00:00:00', '01:40:00', '01:40:00', false],
  ['more are too many', '* * * * *', '00:00:00', '01:41:00', '01:41:00', true],
  ['intervals may differ', '0 1,2,20 * * *', '00:30:00', '20:30:00', '20:00:00', false],
] as const)('%s', (_, schedule, from, now, due, hasMissedMany) => {
  expect(latestDue(parseCron(schedule), at(from), at(now))).toEqual({ due: due && at(due), hasMissedMany });
});

test('years that were missed are not counted one by one', () => {
  let asked = 0;
  const times = { next: (ms: number) => ++asked && Math.floor(ms / 60_000) * 60_000 + 60_000 };
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(latestDue(times, 0, now)).toEqual({ due: now, hasMissedMany: true });
  expect(asked).toBeLessThan(10);
});
