import process from 'node:process';
import { writeToStandardError } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { operatorChaos } from './operator-chaos.js';

const runs = Number(process.env.CHAOS_RUNS ?? 20);
const seed = Number(process.env.SEED ?? 1);
const widgets = Number(process.env.CHAOS_WIDGETS ?? 1_000);

describe.each(['leader', 'sharded'] as const)('operators under chaos, %s', (mode) => {
  test.each(Array.from({ length: runs }, (_, at) => seed + at))('seed %i', async (each) => {
    const report = await operatorChaos({ seed: each, widgets, mode });
    writeToStandardError(`${mode}, seed ${each}: ${JSON.stringify(report)}\n`);
    expect(report.terms).toBeGreaterThanOrEqual(mode === 'leader' ? 3 : 64);
  });
});
