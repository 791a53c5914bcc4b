import { expect, test } from 'vitest';
import { firstCommon, parseIndexes } from './job-indexes.js';

test('indexes are single ones and intervals in order', () => {
  expect(parseIndexes('', 5)).toEqual({ total: 0, intervals: [] });
  expect(parseIndexes('0,2-4', 5)).toEqual({
    total: 4,
    intervals: [
      [0, 0],
      [2, 4],
    ],
  });
});

test.each([
  ['x', 'cannot convert string to integer for index: "x"'],
  ['5', 'too large index: "5"'],
  ['3-1', 'non-increasing order, previous: 3, current: 1'],
  ['2,1', 'non-increasing order, previous: 2, current: 1'],
  [
    '1-2-3',
    'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\'',
  ],
])('%s is refused', (text, problem) => {
  expect(parseIndexes(text, 5)).toEqual({ problem });
});

test('what stands in both is found', () => {
  expect(
    firstCommon(
      [
        [0, 2],
        [5, 9],
      ],
      [
        [3, 4],
        [7, 8],
      ],
    ),
  ).toBe(7);
  expect(firstCommon([[0, 2]], [[3, 4]])).toBeUndefined();
});
