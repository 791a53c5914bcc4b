// @ts-check
// The keeper: a process of its own that starts everything else and outlives its owner just long enough to clean up.
// Its owner (keeper.mjs) asks over the IPC channel. The channel closes however the owner ends, by SIGKILL too; that is
// the sign to kill every process group started here and to remove the temporary folder.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * @typedef {object} StartRequest
 * @property {'start'} op
 * @property {string} name
 * @property {string} command
 * @property {string[]} args
 * @property {NodeJS.ProcessEnv} env
 * @property {string | undefined} cwd
 * @property {string | undefined} logFile Where both outputs are appended; without it they are the owner's own.
 *
 * @typedef {{ op: 'stop', name: string, signal: NodeJS.Signals, graceMs: number }} StopRequest
 * @typedef {{ op: 'signal', name: string, signal: NodeJS.Signals }} SignalRequest
 * @typedef {{ op: 'removeAtEnd', path: string }} RemoveRequest
 * @typedef {StartRequest | StopRequest | SignalRequest | RemoveRequest | { op: 'end' }} Request
 */

/** @type {Map<string, { pid: number, exited: Promise<void> }>} */
const running = new Map();
const dir = mkdtempSync(join(tmpdir(), 'riata-control-plane-'));
const toRemove = new Set([dir]);
let ending = false;

/** @param {Request} request */
async function handle(request) {
  switch (request.op) {
    case 'start':
      return start(request);
    case 'stop':
      return stop(request);
    case 'signal':
      return signalGroup(running.get(request.name)?.pid, request.signal);
    case 'removeAtEnd':
      toRemove.add(request.path);
      return;
    case 'end':
      return end(0);
  }
}

/** @param {StartRequest} request */
async function start({ name, command, args, env, cwd, logFile }) {
  if (ending) throw new Error('the keeper is ending');
  const log = logFile === undefined ? undefined : openSync(logFile, 'a');
  /** @type {import('node:child_process').StdioOptions} */
  const stdio = log === undefined ? 'inherit' : ['ignore', log, log];
  // A group of its own: one signal reaches its children, and a Ctrl-C on the terminal reaches none of them.
  const child = spawn(command, args, { env, cwd, stdio, detached: true });
  if (log !== undefined) closeSync(log);
  if (child.pid === undefined) {
    const [error] = await once(child, 'error');
    throw error;
  }
  const { pid } = child;
  const exited = once(child, 'exit').then(([code, signal]) => {
    signalGroup(pid, 'SIGKILL'); // what the leader may have left behind
    running.delete(name);
    send({ exit: name, code, signal });
  });
  running.set(name, { pid, exited });
  return pid;
}

/** @param {StopRequest} request */
async function stop({ name, signal, graceMs }) {
  const entry = running.get(name);
  if (!entry) return;
  signalGroup(entry.pid, signal);
  const timer = setTimeout(() => signalGroup(entry.pid, 'SIGKILL'), graceMs);
  await entry.exited;
  clearTimeout(timer);
}

/** @param {number} code */
async function end(code) {
  if (ending) return;
  ending = true;
  const all = [...running.values()];
  for (const { pid } of all) signalGroup(pid, 'SIGKILL');
  await Promise.all(all.map(({ exited }) => exited));
  for (const path of toRemove) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  process.exit(code);
}

/** @param {number | undefined} pid @param {NodeJS.Signals} signal */
function signalGroup(pid, signal) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}

/** @param {unknown} message */
function send(message) {
  // The callback swallows the error of a channel that closes meanwhile.
  if (process.connected) process.send?.(message, () => {});
}

process.on('message', (/** @type {{ id: number, request: Request }} */ { id, request }) => {
  handle(request).then(
    (result) => send({ id, result }),
    (error) => send({ id, error: String(error?.message ?? error) }),
  );
});
process.on('disconnect', () => end(0));
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, () => end(1));
process.on('uncaughtException', (error) => {
  console.error(error);
  void end(1);
});
send({ ready: dir });
