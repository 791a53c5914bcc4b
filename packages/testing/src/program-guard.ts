import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';

/**
 * Runs in a separate process. Its input says which processes run (`+pid`) and which have ended (`-pid`), a line each.
 * When the input ends, which it does however its owner ends, it kills those that still run and removes the folder.
 */
const script = `
  const { rmSync } = require('node:fs');
  let text = '';
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (piece) => { text += piece; });
  process.stdin.on('end', () => {
    const lines = text.split('\\n');
    for (const line of lines) {
      if (!line.startsWith('+') || lines.includes('-' + line.slice(1))) continue;
      try { process.kill(Number(line.slice(1)), 'SIGKILL'); } catch {}
    }
    rmSync(process.argv[1], { recursive: true, force: true, maxRetries: 10 });
  });
`;

/** Kills the programs of a test run and removes their folder when this process ends, also when it is killed. */
export class ProgramGuard {
  readonly #process: ChildProcess;

  constructor(folder: string) {
    // Detached, so that a signal to the process group of the test run leaves it to do its work.
    this.#process = spawn(process.execPath, ['-e', script, folder], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // Without a guard the test still runs; only a killed run would leave something behind.
    this.#process.on('error', () => {});
    this.#process.stdin?.on('error', () => {});
    this.#process.unref();
    (this.#process.stdin as Socket | null)?.unref();
  }

  /** Watches a program until it has ended. */
  watch(program: ChildProcess): void {
    const { pid } = program;
    if (pid === undefined) return;
    this.#process.stdin?.write(`+${pid}\n`);
    program.once('exit', () => this.#process.stdin?.write(`-${pid}\n`));
  }

  /** Resolves when nothing is left: neither programs nor the folder. */
  async end(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    this.#process.ref();
    const exited = once(this.#process, 'exit');
    this.#process.stdin?.end();
    await exited;
  }
}
