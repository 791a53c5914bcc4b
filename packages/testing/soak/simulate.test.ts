import { expect, test } from 'vitest';
import { corpus } from '../corpus/index.js';
import { simulateCase } from '../corpus/simulate-case.js';

test.each(corpus)('the fix of "$name" survives every single fault, pairs, and several at random', async (each) => {
  for (const seed of [1, 2, 3]) {
    const report = await simulateCase(each, 'fixed', { seed, pairs: 200, random: 100 });
    expect(report.runs).toBeGreaterThan(250);
  }
});
