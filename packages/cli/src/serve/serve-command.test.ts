import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiServerCommand } from '@riata/apiserver/api-server-command';
import { serverOptions } from '@riata/apiserver/server-command';
import { sandboxCommand as sandboxServer } from '@riata/sandbox/sandbox-command';
import { createClient, loadConfig } from 'riata';
import { Node } from 'riata/kinds';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { memoryIo, runIn } from '../command/command-io.fixture.js';
import { runRiata } from '../command/run-riata.js';
import { apiserverCommand } from './apiserver-command.js';
import { sandboxCommand } from './sandbox-command.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'riata-serve-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['sandbox', ['--nodes', '2'], 2],
  ['apiserver', ['--no-controllers', '--data-dir', 'data'], 0],
])('%s serves until it is interrupted, and writes a kubeconfig', async (name, own, nodes) => {
  const stop = new AbortController();
  let announce = (_line: string) => {};
  const announced = new Promise<string>((resolve) => {
    announce = resolve;
  });
  const io = memoryIo({ cwd: folder, signal: stop.signal, out: (line) => announce(line) });
  const args = [name, '--port', '0', '--token', 'mine', '--kubeconfig', `${name}.yaml`, ...own];
  const commands = [sandboxCommand, apiserverCommand];
  const run = runRiata(args, io, { version: '0.0.0', commands });
  const line = await Promise.race([announced, run.then(() => io.read().notes)]);
  expect(line).toMatch(new RegExp(`^riata ${name} is ready at https://127\\.0\\.0\\.1:\\d+$`));
  const path = join(folder, `${name}.yaml`);
  expect(readFileSync(path, 'utf8')).toContain('"mine"');
  {
    await using client = createClient(await loadConfig({ path }));
    expect((await client.list(Node)).items).toHaveLength(nodes);
  }
  stop.abort(new Error('received SIGINT'));
  expect(await run).toBe(0);
});

test.each([
  ['apiserver', apiserverCommand, apiServerCommand],
  ['sandbox', sandboxCommand, sandboxServer],
] as const)('%s lists every option of the server', async (name, command, server) => {
  const { out } = await runIn('/', [name, '--help'], { commands: [command] });
  for (const { written } of serverOptions(server as never)) {
    const [flag] = written.split(' ');
    expect(out).toContain(`  ${flag}`);
  }
});

test.each([
  [['--port', '70000'], 'riata: --port must be an integer from 0 to 65535, got "70000"'],
  [['--token', ''], 'riata: --token must not be empty'],
  [['--nodse', '3'], "riata: unknown option '--nodse'\n(Did you mean --nodes?)"],
  [['stray'], "riata: too many arguments for 'sandbox'. Expected 0 arguments but got 1."],
])('sandbox %j is refused', async (args, message) => {
  expect(await runIn('/', ['sandbox', ...args], { commands: [sandboxCommand] })).toMatchObject({
    code: 2,
    out: '',
    notes: expect.stringContaining(message),
  });
});
