import { expect, test } from 'vitest';
import { sandboxSimulations } from '../../simulations/sandbox.js';
import { simulate } from './simulate.js';

/** Few, to be cheap: the soak makes many. */
test.each(sandboxSimulations)('$name', async ({ options, runs = 2 }) => {
  const report = await simulate({ ...options, runs });
  expect(report.runs).toBe(runs + 2);
});
