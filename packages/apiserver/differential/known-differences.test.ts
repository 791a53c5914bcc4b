import { expect, test } from 'vitest';
import { knownDifferences } from './known-differences.js';

test('at most twenty differences are known, each with its reason', () => {
  expect(knownDifferences.length).toBeLessThanOrEqual(20);
  expect(knownDifferences.filter(({ reason }) => reason.length < 40)).toEqual([]);
});
