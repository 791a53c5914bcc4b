import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { execPath } from 'node:process';

/** Runs in a separate process. Its input ends when its owner ends, for whatever reason: then it runs the command, unless it has read `done`. */
const script = `
  const { spawn } = require('node:child_process');
  const [command, ...args] = JSON.parse(process.argv[1]);
  let text = '';
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (piece) => { text += piece; });
  process.stdin.on('end', () => {
    if (!text.includes('done')) spawn(command, args, { stdio: 'ignore' });
  });
`;

/** What a {@link CrashGuard} runs. */
export interface GuardedCommand {
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Runs a command when this process ends without having called {@link end}, also when it is killed. */
export class CrashGuard {
  readonly #child: ChildProcess;

  constructor({ command, cwd, env }: GuardedCommand) {
    // Detached, so that a signal to the process group, as Ctrl-C is, leaves it to do its work.
    this.#child = spawn(execPath, ['-e', script, JSON.stringify(command)], {
      ...{ cwd, env, detached: true },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#child.on('error', () => {});
    this.#child.stdin?.on('error', () => {});
    this.#child.unref();
    (this.#child.stdin as Socket | null)?.unref();
  }

  /** Nothing is to be done any more. `isDone` false: ends it as a crash would, for tests. */
  async end({ isDone = true } = {}): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    this.#child.ref();
    const exited = once(this.#child, 'exit');
    this.#child.stdin?.end(isDone ? 'done\n' : '');
    await exited;
  }
}
