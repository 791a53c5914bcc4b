import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { corpus } from '../../corpus/index.js';
import { simulateCase, tableOf } from '../../corpus/simulate-case.js';
import type { SimulationRule } from './simulate-options.js';
import type { SimulationError } from './simulation-error.js';

/** Further faults that a fixed controller has to survive here; the soak makes all of them. */
const runs = 2;
/** Few, as endless loops are cut off earlier then. */
const maxReconciles = 100;
const rules: readonly SimulationRule[] = [
  ...(['same end state', 'nothing left', 'no foreign deletion', 'one owner', 'bounded reconciles'] as const),
  ...(['no failing reconcile', 'steady state', 'undone change'] as const),
];
const found = new Map<string, SimulationError>();

describe.each(corpus)('$name', (each) => {
  test('the bug is found', async () => {
    const error: unknown = await simulateCase(each, 'faulty', { maxReconciles }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'SimulationError' });
    found.set(each.name, error as SimulationError);
    expect((error as SimulationError).rule).not.toBe('determinism');
  });

  test('the fix is accepted, also in the run that shows the bug', async () => {
    const replay = found.get(each.name)?.replay;
    if (replay?.includes('@')) await simulateCase(each, 'fixed', { replay });
    const report = await simulateCase(each, 'fixed', { runs });
    expect(report.runs).toBeGreaterThan(2);
  });
});

test.each(corpus.filter(({ isChanged }) => isChanged))('$name: only a change of the spec shows it', async (each) => {
  const report = await simulateCase(each, 'faulty', { runs: 8, changes: [] });
  expect(report.runs).toBeGreaterThan(2);
});

test('at least twenty bugs', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(20);
});

afterAll(() => {
  if (found.size !== corpus.length) return;
  // Every rule is needed to find something.
  expect(new Set([...found.values()].map(({ rule }) => rule))).toEqual(new Set(rules));
  // The table of the guide.
  expect(readFileSync(new URL('../../../../docs/simulation.md', import.meta.url), 'utf8')).toContain(tableOf(found));
});
