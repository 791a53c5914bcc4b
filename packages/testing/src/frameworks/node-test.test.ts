import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('node:test runs such tests, too', async () => {
  const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  const args = [path('../../../../tools/run-ts.mjs'), path('./with-node-test.fixture.ts')];
  const { stdout } = await promisify(execFile)(process.execPath, ['--test-reporter=tap', ...args], { env });
  expect(stdout).toContain('# pass 3\n');
  expect(stdout).toContain('# fail 0\n');
}, 120_000);
