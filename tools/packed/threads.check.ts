import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { simulate } from '@riata/testing';
import { expect, test } from 'vitest';
import { sitesSurvive } from '../../packages/testing/src/simulate/threads/sites.fixture.js';

const program = `
import { isMainThread } from 'node:worker_threads';
import { defineSimulation, simulate } from '@riata/testing';
import { defineKind } from 'riata';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { z } from 'zod';

const Site = defineKind({ group: 'example.com', version: 'v1', kind: 'Site', spec: z.object({ title: z.string() }) });
const sites = control(Site)
  .owns(ConfigMap)
  .reconcile(async ({ object, apply }) => {
    await apply(ConfigMap({ metadata: { name: 'page' }, data: { title: object.spec.title } }));
  });
const site = Site({ metadata: { namespace: 'default', name: 'blog' }, spec: { title: 'Hello' } });

export const survive = defineSimulation(
  { kinds: [Site], run: [sites], story: ({ client }) => client.create(site), faults: ['crash-after'], pairs: 2, random: 0 },
  { module: import.meta.url, export: 'survive' },
);

if (isMainThread) {
  const [alone, both] = [await simulate(survive), await simulate({ ...survive, threads: 2 })];
  console.log(String(alone) === String(both) && alone.hash === both.hash ? 'the same' : 'different', both.runs);
}
`;

test('a simulation runs in worker threads of plain Node', () => {
  const folder = mkdtempSync(join(process.cwd(), 'threads-'));
  try {
    const file = join(folder, 'survive.mjs');
    writeFileSync(file, program);
    const said = execFileSync(process.execPath, [file], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    expect(said).toMatch(/^the same \d+\n$/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

// Here, as Vite would compile all the source of the packages for each thread in the repository.
test('modules in TypeScript are loaded as the test itself', async () => {
  const report = await simulate({
    ...sitesSurvive,
    faults: ['crash-before', 'crash-after'],
    pairs: 1,
    random: 0,
    threads: 2,
  });
  expect(report.faults.get('crash-after')).toBeGreaterThan(0);
});
