import { expect, test } from 'vitest';
import { exampleSimulations } from '../../simulations/examples.js';
import { simulate } from './simulate.js';

/** Few, to be cheap: all single faults of these take minutes, and are made in the soak. */
test.each(exampleSimulations)('$name', async ({ options, runs = 4 }) => {
  const report = await simulate({ ...options, runs });
  expect(report.runs).toBe(runs + 2);
});

test('webhooks that are slow or fail', async () => {
  const { options } = exampleSimulations.find(({ name }) => name.startsWith('guarded-sites')) ?? expect.fail();
  const report = await simulate({ ...options, changes: [], faults: ['slow-webhook', 'failed-webhook'], runs: 4 });
  expect(new Set(report.faults.keys())).toEqual(new Set(['slow-webhook', 'failed-webhook']));
});
