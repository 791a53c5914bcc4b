#!/usr/bin/env node
import { createRequire } from 'node:module';
import process from 'node:process';
import { signalHandler } from 'riata';
import { defaultRuntime } from 'riata/runtime';
import type { CommandIo } from './command/command-io.js';
import { runRiata } from './command/run-riata.js';

const { version } = createRequire(import.meta.url)('@riata/cli/package.json') as { readonly version: string };
const signals = signalHandler();
// Lines of a user's code in errors are those of the source: the config and `riata dev` run compiled code.
process.setSourceMapsEnabled(true);
// A reader that has seen enough, as head has, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const io: CommandIo = {
  cwd: process.cwd(),
  env: process.env,
  out: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${line}\n`),
  ...(process.stdin.isTTY &&
    process.stderr.isTTY && {
      terminal: { input: process.stdin, output: process.stderr, columns: process.stderr.columns },
    }),
  colors: process.stdout.isTTY === true && process.env.NO_COLOR === undefined && process.env.TERM !== 'dumb',
  signal: signals.signal,
  runtime: defaultRuntime(),
  self: [process.execPath, ...process.execArgv.filter((arg) => !arg.startsWith('--inspect')), process.argv[1] ?? ''],
};

process.exitCode = await runRiata(process.argv.slice(2), io, { version });
signals[Symbol.dispose]();
