import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { corpus } from '../../corpus/index.js';
import { simulateCase, tableOf } from '../../corpus/simulate-case.js';
import type { SimulationError } from './simulation-error.js';

/** Runs with faults that a fixed controller has to survive here; the soak makes all of them. */
const runs = 8;
const found = new Map<string, SimulationError>();

describe.each(corpus)('$name', (each) => {
  test('the bug is found', async () => {
    const error: unknown = await simulateCase(each, 'faulty').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'SimulationError' });
    found.set(each.name, error as SimulationError);
    expect((error as SimulationError).rule).not.toBe('determinism');
  });

  test('the fix is accepted', async () => {
    const report = await simulateCase(each, 'fixed', { runs });
    expect(report.runs).toBeGreaterThan(2);
  });
});

test('at least twenty bugs', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(20);
});

afterAll(() => {
  if (found.size !== corpus.length) return;
  // The table of the guide.
  expect(readFileSync(new URL('../../../../docs/simulation.md', import.meta.url), 'utf8')).toContain(tableOf(found));
});
