import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

test('riata-sandbox prints its address, has the given number of nodes, and stops on a signal', {
  timeout: 120_000,
}, async () => {
  const args = ['--port', '0', '--no-tls', '--token', 'mine', '--nodes', '2'];
  const child = spawn(process.execPath, ['tools/run-ts.mjs', 'packages/sandbox/src/bin.ts', ...args], { cwd: root });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const line = new Promise<string>((resolve) => child.stdout.once('data', (part) => resolve(String(part))));
  try {
    const [, url = ''] = /^riata-sandbox is ready at (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(await line) ?? [];
    const answer = await fetch(`${url}/api/v1/nodes`, { headers: { authorization: 'Bearer mine' } });
    expect(((await answer.json()) as { items: unknown[] }).items).toHaveLength(2);
  } finally {
    child.kill('SIGTERM');
  }
  expect(await ended).toBe(0);
});
