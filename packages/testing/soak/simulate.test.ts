import { simulate } from '@riata/testing';
import { describe, expect, test } from 'vitest';
import { corpus } from '../corpus/index.js';
import { simulateCase } from '../corpus/simulate-case.js';
import { exampleSimulations } from '../simulations/examples.js';
import { sandboxSimulations } from '../simulations/sandbox.js';

/** The most runs of each simulation: `SIMULATE_RUNS=100 npm run soak`. */
const runs = Number(process.env.SIMULATE_RUNS ?? Number.POSITIVE_INFINITY);
const seed = Number(process.env.SEED ?? 1);

describe('the corpus', () => {
  test.each(corpus)('the fix of "$name" survives every single fault, pairs, and several at random', async (each) => {
    for (const shift of [0, 1, 2]) {
      const report = await simulateCase(each, 'fixed', { seed: seed + shift, pairs: 200, random: 100, runs });
      expect(report.runs).toBeGreaterThanOrEqual(Math.min(250, runs));
    }
  });
});

describe.each([
  ['examples', exampleSimulations],
  ['controllers of the sandbox', sandboxSimulations],
] as const)('%s', (_, simulations) => {
  test.each(simulations)('$name', async ({ options }) => {
    const report = await simulate({ ...options, seed, pairs: 200, random: 100, runs });
    expect(report.runs).toBeGreaterThanOrEqual(Math.min(50, runs));
  });
});
