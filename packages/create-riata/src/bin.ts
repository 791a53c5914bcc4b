#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import process from 'node:process';
import type { CreateIo } from './create-io.js';
import { createRiata } from './create-riata.js';

const { version } = createRequire(import.meta.url)('create-riata/package.json') as { readonly version: string };

const io: CreateIo = {
  cwd: process.cwd(),
  env: process.env,
  out: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${line}\n`),
  ...(process.stdin.isTTY && process.stdout.isTTY && { terminal: { input: process.stdin, output: process.stdout } }),
  run: (command, args, folder) =>
    new Promise((resolve, reject) => {
      // On Windows, package managers are scripts, which only a shell runs; the arguments are constants.
      const child = spawn(command, args, { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' });
      child.on('error', reject);
      child.on('close', (code) => resolve(code ?? 1));
    }),
};

process.exitCode = await createRiata(process.argv.slice(2), io, version);
