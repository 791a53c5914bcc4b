import { Command } from 'commander';
import { expect, test } from 'vitest';
import type { CommandDefinition } from './command-definition.js';
import { CommandError, exitCodes } from './command-error.js';
import { runIn } from './command-io.fixture.js';

const failing =
  (error: () => unknown): CommandDefinition =>
  () =>
    new Command('fail').option('--force', 'do it').action(() => {
      throw error();
    });

test('without arguments, and with --help', async () => {
  const none = await runIn('/', []);
  expect(none.code).toBe(2);
  expect(none.out).toContain('Usage: riata');
  const help = await runIn('/', ['--help']);
  expect(help.code).toBe(0);
  expect(help.out).toContain('Exit codes: 0 success');
  expect(await runIn('/', ['--version'], { version: '1.2.3' })).toEqual({ code: 0, out: '1.2.3', notes: '' });
});

test('unknown commands and options name the nearest one', async () => {
  const commands = [failing(() => new Error('not reached'))];
  const command = await runIn('/', ['fial'], { commands });
  expect(command).toMatchObject({ code: 2, out: '' });
  expect(command.notes).toContain("unknown command 'fial'\n(Did you mean fail?)");
  const option = await runIn('/', ['fail', '--forse'], { commands });
  expect(option).toMatchObject({ code: 2, out: '' });
  expect(option.notes).toContain("unknown option '--forse'\n(Did you mean --force?)");
});

test('errors end with their exit code, and without a stack', async () => {
  const stale = failing(() => new CommandError('crds.yaml is stale', { exitCode: exitCodes.found }));
  expect(await runIn('/', ['fail'], { commands: [stale] })).toEqual({
    code: 3,
    out: '',
    notes: 'riata: crds.yaml is stale',
  });
  const unexpected = failing(() => new TypeError('no such thing'));
  expect(await runIn('/', ['fail'], { commands: [unexpected] })).toEqual({
    code: 1,
    out: '',
    notes: 'riata: TypeError: no such thing',
  });
  const debugged = await runIn('/', ['fail'], { commands: [unexpected], env: { RIATA_DEBUG: '1' } });
  expect(debugged.notes).toContain('run-riata.test.ts');
});

test('a command that was interrupted', async () => {
  const stop = new AbortController();
  stop.abort(new Error('received SIGINT'));
  const interrupted = failing(() => stop.signal.reason);
  expect(await runIn('/', ['fail'], { commands: [interrupted], signal: stop.signal })).toEqual({
    code: 130,
    out: '',
    notes: '',
  });
});
