import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { execPath, kill, platform } from 'node:process';
import type { TypeProblem } from './type-problem.js';

/** One run of `tsc` over a project, with what the last one has left on disk. */
export class CompilerRun {
  readonly #child: ChildProcess;
  readonly #ended: Promise<readonly TypeProblem[]>;

  /** `tsc`: the path of its script. */
  constructor(folder: string, tsc: string) {
    const info = join(folder, 'node_modules/.cache/riata/types.tsbuildinfo');
    const settings = ['--noEmit', '--incremental', '--tsBuildInfoFile', info, '--pretty', 'false'];
    const child = spawn(execPath, [tsc, '-p', folder, ...settings], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: the compiler may be a program that starts another one, and both have to end.
      detached: platform !== 'win32',
    });
    this.#child = child;
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part));
    this.#ended = once(child, 'close').then(([code]) => (code === 0 ? [] : problemsIn(text, folder, code as number)));
    this.#ended.catch(() => {});
  }

  /** Those that it reports. */
  problems(): Promise<readonly TypeProblem[]> {
    return this.#ended;
  }

  /** Ends it, and waits for that. */
  async end(): Promise<void> {
    try {
      if (this.#child.pid !== undefined && platform !== 'win32') kill(-this.#child.pid);
      else this.#child.kill();
    } catch {
      // It has ended by itself.
    }
    await this.#ended.catch(() => {});
  }
}

/** What the compiler has written, one problem per line that is not indented. */
function problemsIn(text: string, folder: string, exitCode: number | null): readonly TypeProblem[] {
  const problems: TypeProblem[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, file, at, column, code, message = ''] =
      /^(?:(.+?)\((\d+),(\d+)\): )?error TS(\d+): (.*)$/.exec(line) ?? [];
    const last = problems.at(-1);
    if (code !== undefined) {
      const place = { line: Number(at ?? 1), column: Number(column ?? 1), length: 1, code: Number(code), message };
      problems.push(file === undefined ? place : { file: resolve(folder, file), ...place });
    } else if (last !== undefined && /^\s+\S/.test(line)) {
      problems[problems.length - 1] = { ...last, message: `${last.message}\n${line}` };
    }
  }
  if (problems.length > 0) return problems;
  const message = text.trim() || `the compiler ended with exit code ${exitCode}`;
  return [{ line: 1, column: 1, length: 1, code: 0, message }];
}
