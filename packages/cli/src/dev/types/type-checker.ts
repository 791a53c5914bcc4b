import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { anyChange, mergeChanges, type SourceChanges } from '../source-changes.js';
import { CompilerRun } from './compiler-run.js';
import { NativeTypes } from './native-types.js';
import type { TypeProblem } from './type-problem.js';
import type { WarmTypes } from './warm-types.js';
import { WorkerTypes } from './worker-types.js';

/** What type errors lead to; see `riata dev --help`. */
export const typeModes = ['hold', 'revert', 'show', 'off'] as const;

/** One of {@link typeModes}. */
export type TypeMode = (typeof typeModes)[number];

/**
 * Checks the types of a project by its own compiler, which is kept running: the first check takes a second or two, the next
 * ones some ten milliseconds. A compiler that cannot be used so is run once for each check. The watch mode of `tsc` is not
 * used: that of TypeScript 7.0 misses changes.
 */
export class TypeChecker implements AsyncDisposable {
  readonly #folder: string;
  readonly #tsc: string;
  #warm: WarmTypes | undefined;
  #run: CompilerRun | undefined;
  /** Checks are made one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  /** Changes of checks that were left out, as a newer one came. */
  #pending: SourceChanges | undefined;
  #newest = 0;
  /** When the check of {@link warmUp} began, on the clock of the file system. */
  #warmedAt: number | undefined;

  private constructor(folder: string, tsc: string, warm: WarmTypes | undefined) {
    this.#folder = folder;
    this.#tsc = tsc;
    this.#warm = warm;
  }

  /**
   * Undefined for a project without a `tsconfig.json` or the package `typescript`. `compiler`: the folder of another
   * `typescript`, for tests.
   */
  static of(folder: string, { compiler }: { readonly compiler?: string } = {}): TypeChecker | undefined {
    if (!existsSync(join(folder, 'tsconfig.json'))) return undefined;
    try {
      const path = compiler
        ? join(compiler, 'package.json')
        : createRequire(join(folder, 'package.json')).resolve('typescript/package.json');
      const found = JSON.parse(readFileSync(path, 'utf8')) as CompilerPackage;
      return new TypeChecker(folder, join(dirname(path), found.bin.tsc), warmTypes(folder, path, found));
    } catch {
      return undefined;
    }
  }

  /** The files of the project that the last check has read, types alone among them. */
  get sources(): readonly string[] {
    return this.#warm?.sources ?? [];
  }

  /** Begins the first check, before anyone asks for it. `now`: the time of day, in milliseconds. */
  warmUp(now: number): void {
    this.#warmedAt = now;
    this.#last = this.#last.then(() => this.#check(anyChange)).catch(() => {});
  }

  /**
   * The errors of the project as it is on disk; undefined if a newer check has begun meanwhile, or if it was disposed of.
   * Checks run one after the other.
   */
  async check(changes: SourceChanges = anyChange): Promise<readonly TypeProblem[] | undefined> {
    this.#newest += 1;
    const own = this.#newest;
    this.#pending = this.#pending === undefined ? changes : mergeChanges(this.#pending, changes);
    const done = this.#last.then(async () => {
      if (own !== this.#newest) return undefined;
      const all = this.#pending ?? anyChange;
      this.#pending = undefined;
      const problems = await this.#check(this.#sinceWarmUp() ?? all);
      return own === this.#newest ? problems : undefined;
    });
    this.#last = done.catch(() => {});
    // The answer of one in flight is of no use any more.
    await this.#run?.end();
    return done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#newest += 1;
    await this.#run?.end();
    await this.#warm?.[Symbol.asyncDispose]();
    await this.#last;
  }

  /** Of the first check after {@link warmUp}: files that have changed since then. */
  #sinceWarmUp(): SourceChanges | undefined {
    const [since, sources] = [this.#warmedAt, this.sources];
    this.#warmedAt = undefined;
    if (since === undefined || sources.length === 0) return undefined;
    const files = sources.filter(
      (path) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? since) >= since - 1000,
    );
    return { files: new Set(files), isAll: false };
  }

  async #check(changes: SourceChanges): Promise<readonly TypeProblem[]> {
    const own = this.#newest;
    try {
      if (this.#warm !== undefined) return await this.#warm.check(changes);
    } catch {
      if (own !== this.#newest) return [];
      // The interface may change with each release of the compiler, and its process may be killed: tsc itself will do.
      await this.#warm?.[Symbol.asyncDispose]();
      this.#warm = undefined;
    }
    this.#run = new CompilerRun(this.#folder, this.#tsc);
    try {
      return await this.#run.problems();
    } finally {
      this.#run = undefined;
    }
  }
}

interface CompilerPackage {
  readonly version: string;
  readonly bin: { readonly tsc: string };
  readonly exports?: Readonly<Record<string, unknown>>;
}

/** The way in which a compiler can be kept running; undefined if it cannot. */
function warmTypes(folder: string, path: string, { version, exports }: CompilerPackage): WarmTypes | undefined {
  const api = './unstable/async';
  const target = exports?.[api];
  if (typeof target === 'string') return new NativeTypes(folder, join(dirname(path), target));
  // Before version 7, the compiler is a module.
  return /^[56]\./.test(version) ? new WorkerTypes(folder, join(dirname(path), 'lib/typescript.js')) : undefined;
}
