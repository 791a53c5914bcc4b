import { dirname } from 'node:path';
import { describeError } from 'riata/runtime';
import type { CommandIo } from '../command/command-io.js';
import type { ProjectOptions } from '../command/project-options.js';
import {
  type BuiltProject,
  buildProject,
  configPath,
  importOperator,
  type LoadedOperator,
} from '../config/load-operator.js';
import type { Operator } from '../config/resolve-operator.js';
import { describeProblem } from './build-problem.js';
import { type AppliedChange, isInterrupted, type RunningOperator } from './running-operator.js';
import { anyChange, type SourceChanges } from './source-changes.js';
import { SourceWatcher } from './source-watcher.js';
import type { TypeChecker, TypeMode } from './types/type-checker.js';
import { describeTypeProblems, isInTests, type TypeProblem } from './types/type-problem.js';

/** What a {@link DevLoop} is made of. */
export interface DevLoopParts {
  readonly io: CommandIo;
  readonly project: ProjectOptions;
  readonly running: RunningOperator;
  readonly types: TypeMode;
  /** Undefined if types are not checked. It is not disposed of. */
  readonly checker: TypeChecker | undefined;
  /** Called once, when the operator runs for the first time. */
  readonly onStarted?: () => Promise<void>;
}

/** The check of a change; undefined without a checker, or if its answer is outdated. */
type Checked = Promise<readonly TypeProblem[] | undefined> | undefined;

/** Loads a project, runs its operator, and does so again with each change of its source. */
export class DevLoop {
  readonly #parts: DevLoopParts;
  readonly #folder: string;
  /** The last code that could be loaded, and is to run. */
  #loaded: LoadedOperator | undefined;
  /** The last code that runs, and has no type errors as far as is known. */
  #sound: LoadedOperator | undefined;
  /** Whether the last change was not put in place. */
  #isHeldBack = false;
  /** The type check in flight. */
  #checking: Promise<void> = Promise.resolve();
  /** Changes are put in place one after the other. */
  #applying: Promise<unknown> = Promise.resolve();
  /** What follows the first start. */
  #started: Promise<void> | undefined;

  constructor(parts: DevLoopParts) {
    this.#parts = parts;
    this.#folder = dirname(configPath(parts.io, parts.project.config));
  }

  /** Until the signal of the command aborts. */
  async run(): Promise<void> {
    const { io, types, checker } = this.#parts;
    const { signal, runtime } = io;
    if (types !== 'off' && checker === undefined) io.note('types are not checked: no typescript or tsconfig.json');
    using watcher = new SourceWatcher(this.#folder, runtime.clock);
    try {
      // Before the first load: an edit during it counts.
      watcher.follow([configPath(io, this.#parts.project.config)]);
      let changes: SourceChanges | undefined = anyChange;
      while (changes !== undefined) {
        await this.#reload(changes, runtime.clock.monotonic(), watcher);
        changes = await watcher.changed(signal);
      }
    } finally {
      await this.#checking;
      await this.#applying.catch(() => {});
      await this.#started;
    }
  }

  async #reload(changes: SourceChanges, startedMs: number, watcher: SourceWatcher): Promise<void> {
    const { io, project, types, checker } = this.#parts;
    // Beside the build, which takes about as long.
    const checked: Checked = checker?.check(changes).catch((error: unknown) => {
      io.note(`types cannot be checked: ${describeError(error)}`);
      return undefined;
    });
    let loaded: LoadedOperator | undefined;
    try {
      const built = await buildProject(io, project, { asWritten: true });
      watcher.follow(built.sources);
      if (types === 'hold' && !(await this.#mayRun(built, checked, watcher))) return;
      loaded = await importOperator(built);
    } catch (error) {
      if (isInterrupted(error, io.signal)) return;
      io.note(describeProblem(error, { folder: this.#folder, colors: io.colors }));
      this.#oldCodeRuns();
      return;
    }
    const before = this.#loaded;
    const checkBeside = (code: LoadedOperator) => {
      if (types === 'revert' || types === 'show') this.#checking = this.#checkBeside(checked, code, before);
    };
    // The same build again: types may have changed, and nothing else.
    if (before !== undefined && loaded.config === before.config) {
      if (this.#isHeldBack) io.out('no errors; the code that runs is up to date');
      this.#isHeldBack = false;
      checkBeside(before);
      return;
    }
    this.#loaded = loaded;
    await this.#apply(loaded.operator, startedMs);
    checkBeside(loaded);
  }

  /** False with type errors in the operator, which are shown. */
  async #mayRun({ sources }: BuiltProject, checked: Checked, watcher: SourceWatcher): Promise<boolean> {
    const problems = (await checked) ?? [];
    // Files of types alone are no part of the build.
    watcher.follow([...sources, ...(this.#parts.checker?.sources ?? [])]);
    if (this.#parts.io.signal.aborted) return false;
    if (!this.#showTypeProblems(problems)) return true;
    this.#oldCodeRuns();
    return false;
  }

  /** Whether there are some in the operator itself. */
  #showTypeProblems(problems: readonly TypeProblem[]): boolean {
    const { io } = this.#parts;
    if (problems.length === 0) return false;
    io.note(describeTypeProblems(problems, { folder: this.#folder, colors: io.colors }));
    const isOwn = problems.some((each) => !isInTests(each, this.#folder));
    if (!isOwn) io.note('type errors in tests alone: the new code runs');
    return isOwn;
  }

  async #checkBeside(checked: Checked, loaded: LoadedOperator, before: LoadedOperator | undefined): Promise<void> {
    const { io, types } = this.#parts;
    const problems = await checked;
    if (problems === undefined || this.#loaded !== loaded || io.signal.aborted) return;
    if (!this.#showTypeProblems(problems)) {
      this.#sound = loaded;
      return;
    }
    // The check of the code before may not have ended when this one came.
    const sound = this.#sound ?? before;
    if (types !== 'revert' || sound === undefined || sound === loaded) return;
    io.note('type errors: the code before runs again (--types show leaves it)');
    this.#loaded = sound;
    await this.#apply(sound.operator, io.runtime.clock.monotonic());
  }

  async #apply(operator: Operator, startedMs: number): Promise<void> {
    const { io, running } = this.#parts;
    const { signal, runtime } = io;
    const applying = this.#applying.then(() => running.apply(operator, { signal }));
    this.#applying = applying.catch(() => {});
    try {
      const change = await applying;
      for (const { name, error } of change.failed) io.note(`${name}: the code before runs on: ${describeError(error)}`);
      const ms = Math.round(runtime.clock.monotonic() - startedMs);
      io.out(`${describeChange(change)} in ${ms} ms`);
      this.#isHeldBack = false;
      this.#started ??= this.#parts.onStarted?.();
    } catch (error) {
      if (isInterrupted(error, signal)) return;
      io.note(describeError(error));
      this.#oldCodeRuns();
    }
  }

  #oldCodeRuns(): void {
    const { io, running } = this.#parts;
    this.#isHeldBack = true;
    io.note(running.manager === undefined ? 'waiting for a change' : 'the code before runs on');
  }
}

function describeChange({ added, replaced, restarted, removed, isRestart }: AppliedChange): string {
  const parts = [
    isRestart ? 'manager started anew, as its options have changed' : '',
    listed('started', added),
    listed('replaced', replaced),
    listed('started anew', restarted),
    listed('removed', removed),
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'nothing to do' : parts.join('; ');
}

function listed(verb: string, names: readonly string[]): string {
  return names.length === 0 ? '' : `${verb} ${names.join(', ')}`;
}
