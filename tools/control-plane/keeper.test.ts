import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startKeeper } from './keeper.mjs';

// A process that has a child of its own and goes on for ever; both must end with the group.
const parent = `
  const { spawn } = require('node:child_process');
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  process.on('SIGTERM', () => {});
  console.log(child.pid);
  setInterval(() => {}, 1000);
`;

test('starts, logs, reports exits, and leaves nothing behind', async () => {
  const keeper = await startKeeper();
  const logFile = join(keeper.dir, 'log');
  const extra = join(keeper.dir, '..', `riata-keeper-test-${process.pid}`);
  writeFileSync(extra, '');
  await keeper.removeAtEnd(extra);

  const short = await keeper.start({
    name: 'short',
    command: process.execPath,
    args: ['-e', 'process.exit(7)'],
    logFile,
  });
  expect(await short.exited).toEqual({ code: 7, signal: null });

  const long = await keeper.start({ name: 'long', command: process.execPath, args: ['-e', parent], logFile });
  await expect(keeper.start({ name: 'long', command: 'true', args: [] })).rejects.toThrow('long is running already');
  const grandchild = Number(await eventually(() => readFileSync(logFile, 'utf8').trim()));
  await keeper.stop('long', { graceMs: 50 }); // it ignores SIGTERM
  expect(await long.exited).toEqual({ code: null, signal: 'SIGKILL' });
  await eventually(() => !isAlive(long.pid) && !isAlive(grandchild));

  const last = await keeper.start({ name: 'last', command: process.execPath, args: ['-e', parent], logFile });
  await keeper.end();
  await eventually(() => !isAlive(last.pid));
  expect(existsSync(keeper.dir)).toBe(false);
  expect(existsSync(extra)).toBe(false);
});

test('a command that does not exist is an error, and the keeper goes on', async () => {
  const keeper = await startKeeper();
  await expect(keeper.start({ name: 'x', command: '/nowhere/at-all', args: [] })).rejects.toThrow('ENOENT');
  const next = await keeper.start({ name: 'x', command: process.execPath, args: ['-e', ''] });
  expect(await next.exited).toEqual({ code: 0, signal: null });
  await keeper.end();
});

test.each([
  [true, 'ended'],
  [false, 'waited'],
])('with background: %s, an owner that has nothing else to do has %s', async (background, outcome) => {
  const owner = `
    import { startKeeper } from ${JSON.stringify(new URL('./keeper.mjs', import.meta.url).href)};
    const keeper = await startKeeper();
    process.on('exit', () => console.log('ended'));
    const args = ['-e', 'setTimeout(() => {}, ${background ? 60_000 : 200})'];
    const kept = await keeper.start({ name: 'x', command: process.execPath, args, background: ${background} });
    kept.exited.then(() => console.log('waited'));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', owner], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout), 'line');
  expect(line).toBe(outcome);
});

test.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)('nothing outlives an owner that ends by %s', async (signal) => {
  const owner = `
    import { startKeeper } from ${JSON.stringify(new URL('./keeper.mjs', import.meta.url).href)};
    const keeper = await startKeeper();
    const kept = await keeper.start({
      name: 'x', command: process.execPath, args: ['-e', ${JSON.stringify(parent)}], logFile: keeper.dir + '/log',
    });
    console.log(JSON.stringify({ dir: keeper.dir, pid: kept.pid }));
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', owner], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  const { dir, pid } = JSON.parse(line);
  const grandchild = Number(await eventually(() => readFileSync(join(dir, 'log'), 'utf8').trim()));
  expect(isAlive(pid) && isAlive(grandchild)).toBe(true);
  child.kill(signal);
  await eventually(() => !isAlive(pid) && !isAlive(grandchild) && !existsSync(dir));
});

test('a keeper that is killed itself takes nothing with it into the dark', async () => {
  const keeper = await startKeeper();
  const logFile = join(keeper.dir, 'log');
  const kept = await keeper.start({ name: 'x', command: process.execPath, args: ['-e', parent], logFile });
  process.kill(keeper.pid ?? Number.NaN, 'SIGKILL');
  expect(await kept.exited).toEqual({ code: null, signal: 'SIGKILL' });
  await eventually(() => !isAlive(kept.pid));
  expect(existsSync(keeper.dir)).toBe(false);
  await expect(keeper.start({ name: 'y', command: 'true', args: [] })).rejects.toThrow('keeper process is gone');
});

function isAlive(pid: number) {
  try {
    process.kill(pid, 0);
    // A dead orphan waits for init to collect it, which can take seconds in a container.
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Waits, without a deadline of its own (the test has one), until `probe` gives something truthy. */
async function eventually<T>(probe: () => T): Promise<T> {
  for (;;) {
    const value = probe();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
