import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import * as entry from './index.js';

/** A change of what users can import shows here, so that it is made on purpose. */
test('what there is to import', () => {
  expect(Object.keys(entry).sort()).toEqual([
    'FaultScript',
    'RequestRecorder',
    'SimulationError',
    'SimulationReport',
    'TestConnection',
    'TestEnvironment',
    'TestIdentity',
    'defineSimulation',
    'environmentPerFile',
    'eventually',
    'expectRightsSuffice',
    'expectRoundTrips',
    'fromSchema',
    'simulate',
    'usedRights',
  ]);
});

test('no test framework is imported, and nothing but riata, its server and Node', async () => {
  const files = (await readdir(new URL('.', import.meta.url))).filter((name) => /^[^.]+\.ts$/.test(name));
  const imported = new Set<string>();
  for (const file of files) {
    const text = await readFile(new URL(file, import.meta.url), 'utf8');
    const code = text.replace(/\/\*\*[\s\S]*?\*\//g, '');
    for (const [, from = ''] of code.matchAll(/(?:\bfrom\s+|import\()'([^']+)'/g)) imported.add(from);
  }
  expect(files.length).toBeGreaterThan(10);
  const strange = [...imported].filter((from) => !/^(\.\/|node:|riata$|riata\/|@riata\/apiserver$)/.test(from));
  expect(strange).toEqual([]);
});
