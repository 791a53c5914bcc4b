import { ApiServer } from '@riata/apiserver';
import { loadConfig, type RestConfig } from 'riata';
import { expect, test } from 'vitest';
import { tour } from './main.js';

/** On the real server where there is one (`npm run test:real`), else on the embedded one. */
async function onServer(run: (config: RestConfig) => Promise<void>): Promise<void> {
  if (process.env.RIATA_CONTROL_PLANE !== undefined) return run(await loadConfig());
  await using server = await ApiServer.start();
  await run(server.config);
}

test('the tour', async () => {
  const lines: string[] = [];
  await onServer((config) => tour(config, (line) => lines.push(line)));
  expect(lines[0]).toMatch(/^connected to Kubernetes v1\./);
  const events = lines.filter((line) => /^(ADDED|MODIFIED|DELETED)/.test(line));
  expect(events).toEqual([
    'ADDED prices {"apple":"1"}',
    'MODIFIED prices {"apple":"1","pear":"2"}',
    'DELETED prices {"apple":"1","pear":"2"}',
  ]);
  expect(lines).toContain('applied twice, stored once: true');
  expect(lines).toContain('the update was too late: read again, or patch');
});
