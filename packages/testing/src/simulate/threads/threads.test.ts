import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type SimulateOptions, simulate } from '@riata/testing';
import { build } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type * as boxes from './boxes.fixture.js';

/** The fixture and the packages as JavaScript, as users have them: worker threads import it without Vite. */
let compiled: typeof boxes;
const folder = mkdtempSync(fileURLToPath(new URL('../../../../../node_modules/.threads-', import.meta.url)));

beforeAll(async () => {
  const file = join(folder, 'boxes.mjs');
  await build({
    input: fileURLToPath(new URL('./boxes.fixture.ts', import.meta.url)),
    platform: 'node',
    resolve: { conditionNames: ['riata-source', 'node', 'import', 'default'] },
    external: ['zod', 'fast-check', 'classic-level', 'yaml'],
    transform: { target: 'node20' },
    output: { file, format: 'esm', codeSplitting: false },
  });
  compiled = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as typeof compiled;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Failure extends Error {
  readonly replay?: string;
  readonly runs?: number;
}

const failureOf = (simulating: Promise<unknown>): Promise<Failure> =>
  simulating.then(
    () => expect.fail('no failure'),
    (error: Failure) => error,
  );

test('any number of threads gives the same report', async () => {
  const few = { pairs: 3, random: 2, faults: ['crash-after'] } satisfies Partial<SimulateOptions>;
  const alone = await compiled.simulate({ ...compiled.sound, ...few });
  expect(alone.faults.get('crash-after')).toBeGreaterThan(2);
  const report = await compiled.simulate({ ...compiled.sound, ...few, threads: 3 });
  expect(String(report)).toBe(String(alone));
  expect([report.hash, report.runs]).toEqual([alone.hash, alone.runs]);
});

test('any number of threads finds the same failure first', async () => {
  const options = { ...compiled.forgetful, faults: ['crash-before', 'late'] } satisfies SimulateOptions;
  const alone = await failureOf(compiled.simulate(options));
  expect(alone.replay).toBe('seed=1 steps=1 crash-before@2');
  const found = await failureOf(compiled.simulate({ ...options, threads: 2 }));
  expect([found.message, found.runs]).toEqual([alone.message, alone.runs]);
});

test('a thread that ends or differs is an error with its cause', async () => {
  await expect(compiled.simulate({ ...compiled.deadly, threads: 2, runs: 1 })).rejects.toThrow(
    /^simulate: worker thread \d exited with code 3 before its runs were made$/,
  );
  await expect(compiled.simulate({ ...compiled.other, threads: 2, runs: 1 })).rejects.toThrow(
    'makes another run without faults in a worker thread than here',
  );
  await expect(compiled.simulate({ ...compiled.misnamed, threads: 2, runs: 1 })).rejects.toThrow(
    /boxes\.mjs does not export a simulation as "missing"; export the value of defineSimulation by this name$/,
  );
});

test('what threads can not do is refused', async () => {
  await expect(simulate({ story: () => {}, threads: 2 })).rejects.toThrow(
    'simulate: threads requires options of defineSimulation',
  );
  await expect(simulate({ story: () => {}, threads: 0 })).rejects.toThrow(
    'simulate: threads must be an integer ≥ 1, got 0',
  );
});
