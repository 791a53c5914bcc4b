import { expect, test } from 'vitest';
import { humanDuration } from './human-duration.js';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

test.each([
  [-5, '<invalid>'],
  [-1.5, '0s'],
  [0, '0s'],
  [119, '119s'],
  [2 * minute, '2m'],
  [9 * minute + 59, '9m59s'],
  [10 * minute + 30, '10m'],
  [3 * hour - 1, '179m'],
  [3 * hour, '3h'],
  [7 * hour + 5 * minute, '7h5m'],
  [47 * hour, '47h'],
  [2 * day, '2d'],
  [7 * day + 23 * hour, '7d23h'],
  [700 * day, '700d'],
  [2 * year, '2y'],
  [3 * year + 20 * day, '3y20d'],
  [9 * year + 20 * day, '9y'],
])('%i seconds are %s', (seconds, text) => {
  expect(humanDuration(seconds * 1000)).toBe(text);
});
