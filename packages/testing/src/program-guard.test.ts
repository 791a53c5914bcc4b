import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from 'riata/runtime';
import { build } from 'rolldown';
import { expect, test } from 'vitest';
import { ProgramGuard } from './program-guard.js';

const endless = ['-e', 'setInterval(() => {}, 1000)'];

test('leaves alone what has ended, kills what has not, and removes the folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'riata-guard-'));
  const guard = new ProgramGuard(folder);
  const short = spawn(process.execPath, ['-e', '']);
  const long = spawn(process.execPath, endless);
  guard.watch(short);
  guard.watch(long);
  await once(short, 'exit');
  const exited = once(long, 'exit');
  await guard.end();
  expect(await exited).toEqual([null, 'SIGKILL']);
  expect(short.exitCode).toBe(0);
  expect(existsSync(folder)).toBe(false);
  await guard.end();
});

test('an owner that is killed leaves neither a program nor the folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'riata-guard-'));
  const owner = await startOwner(folder);
  const [output] = await once(owner.stdout ?? owner, 'data');
  const pid = Number(String(output));
  expect(isAlive(pid)).toBe(true);
  owner.kill('SIGKILL');
  while (isAlive(pid) || existsSync(folder)) await systemClock.sleep(10);
});

/** A process that guards a program, prints its pid and continues. */
async function startOwner(folder: string): Promise<ChildProcess> {
  const source = fileURLToPath(new URL('./program-guard.ts', import.meta.url));
  const { output } = await build({ input: source, platform: 'node', write: false });
  const program = `${output[0].code}
    import { spawn as start } from 'node:child_process';
    const guard = new ProgramGuard(process.argv[1]);
    const program = start(process.execPath, ${JSON.stringify(endless)});
    guard.watch(program);
    console.log(program.pid);`;
  return spawn(process.execPath, ['--input-type=module', '-e', program, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
