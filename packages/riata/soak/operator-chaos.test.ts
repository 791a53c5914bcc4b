import process from 'node:process';
import { expect, test } from 'vitest';
import { writeToStandardError } from '../src/runtime/index.js';
import { operatorChaos } from './operator-chaos.js';

const runs = Number(process.env.CHAOS_RUNS ?? 20);
const seed = Number(process.env.SEED ?? 1);
const widgets = Number(process.env.CHAOS_WIDGETS ?? 1_000);

test.each(Array.from({ length: runs }, (_, at) => seed + at))('operators under chaos, seed %i', async (each) => {
  const report = await operatorChaos({ seed: each, widgets });
  writeToStandardError(`seed ${each}: ${JSON.stringify(report)}\n`);
  expect(report.terms).toBeGreaterThan(0);
});
