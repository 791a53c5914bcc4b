import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { execPath, kill, platform } from 'node:process';

/** What type errors lead to; see `riata dev --help`. */
export const typeModes = ['revert', 'hold', 'show', 'off'] as const;

/** One of {@link typeModes}. */
export type TypeMode = (typeof typeModes)[number];

/**
 * Checks the types of a project by its own compiler, once for each call, with what it knows from the last one. The watch mode
 * of the compiler is not used: that of TypeScript 7.0 misses changes.
 */
export class TypeChecker implements AsyncDisposable {
  readonly #folder: string;
  readonly #compiler: string;
  readonly #pretty: boolean;
  #running: ChildProcess | undefined;

  private constructor(folder: string, compiler: string, pretty: boolean) {
    this.#folder = folder;
    this.#compiler = compiler;
    this.#pretty = pretty;
  }

  /** Undefined for a project without a `tsconfig.json` or the package `typescript`. `pretty`: with colours. */
  static of(folder: string, { pretty = false } = {}): TypeChecker | undefined {
    if (!existsSync(join(folder, 'tsconfig.json'))) return undefined;
    try {
      const path = createRequire(join(folder, 'package.json')).resolve('typescript/package.json');
      const { bin } = JSON.parse(readFileSync(path, 'utf8')) as { readonly bin: { readonly tsc: string } };
      return new TypeChecker(folder, join(dirname(path), bin.tsc), pretty);
    } catch {
      return undefined;
    }
  }

  /** The errors as the compiler writes them, `''` without any; undefined if a newer check has begun meanwhile. */
  async check(): Promise<string | undefined> {
    this.cancel();
    const info = join(this.#folder, 'node_modules/.cache/riata/types.tsbuildinfo');
    const settings = ['--noEmit', '--incremental', '--tsBuildInfoFile', info, '--pretty', String(this.#pretty)];
    const child = spawn(execPath, [this.#compiler, '-p', this.#folder, ...settings], {
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: the compiler may be a program that starts another one, and both have to end.
      detached: platform !== 'win32',
    });
    this.#running = child;
    lowerPriority(child);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part));
    const [code] = (await once(child, 'close')) as [number | null];
    if (this.#running !== child) return undefined;
    this.#running = undefined;
    return code === 0 ? '' : text.trim() || `the compiler ended with exit code ${code}`;
  }

  /** Ends a check: its answer is undefined. */
  cancel(): void {
    if (this.#running !== undefined) end(this.#running);
    this.#running = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#running;
    this.#running = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    end(child);
    await closed;
  }
}

function end(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && platform !== 'win32') kill(-child.pid);
    else child.kill();
  } catch {
    // It has ended by itself.
  }
}

/** The operator comes first: its reconciles should not wait for a check. */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Not everywhere.
  }
}
