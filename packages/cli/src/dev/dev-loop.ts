import { dirname } from 'node:path';
import { describeError } from 'riata/runtime';
import type { CommandIo } from '../command/command-io.js';
import type { ProjectOptions } from '../command/project-options.js';
import { configPath, loadOperator } from '../config/load-operator.js';
import type { Operator } from '../config/resolve-operator.js';
import { describeProblem } from './build-problem.js';
import { type AppliedChange, isInterrupted, type RunningOperator } from './running-operator.js';
import { SourceWatcher } from './source-watcher.js';
import { TypeChecker, type TypeMode } from './type-checker.js';

/** What a {@link DevLoop} is made of. */
export interface DevLoopParts {
  readonly io: CommandIo;
  readonly project: ProjectOptions;
  readonly running: RunningOperator;
  readonly types: TypeMode;
  /** Called once, when the operator runs for the first time. */
  readonly onStarted?: () => Promise<void>;
}

type Loaded = Awaited<ReturnType<typeof loadOperator>>;

/** Loads a project, runs its operator, and does so again with each change of its source. */
export class DevLoop {
  readonly #parts: DevLoopParts;
  readonly #folder: string;
  /** The last code that could be loaded, and is to run. */
  #loaded: Loaded | undefined;
  /** The last code that runs, and has no type errors as far as is known. */
  #sound: Loaded | undefined;
  #checker: TypeChecker | undefined;
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
    const { io, types } = this.#parts;
    const { signal, runtime } = io;
    this.#checker = types === 'off' ? undefined : TypeChecker.of(this.#folder, { pretty: io.colors });
    if (types !== 'off' && this.#checker === undefined)
      io.note('types are not checked: no typescript or tsconfig.json');
    using watcher = new SourceWatcher(this.#folder, runtime.clock);
    try {
      // Before the first load: an edit during it counts.
      watcher.follow([configPath(io, this.#parts.project.config)]);
      do {
        const startedMs = runtime.clock.monotonic();
        await this.#reload(startedMs, (sources) => watcher.follow(sources));
      } while (await watcher.changed(signal));
    } finally {
      await this.#checker?.[Symbol.asyncDispose]();
      await this.#checking;
      await this.#applying.catch(() => {});
      await this.#started;
    }
  }

  async #reload(startedMs: number, follow: (sources: readonly string[]) => void): Promise<void> {
    const { io, project, types } = this.#parts;
    // What is built now is checked next: the build should not have to share the machine with a check of older code.
    this.#checker?.cancel();
    let loaded: Loaded;
    try {
      loaded = await loadOperator(io, project);
    } catch (error) {
      if (isInterrupted(error, io.signal)) return;
      io.note(describeProblem(error, { folder: this.#folder, colors: io.colors }));
      this.#oldCodeRuns();
      return;
    }
    follow(loaded.sources);
    const before = this.#loaded;
    // The same build again: types may have changed, and nothing else.
    if (before !== undefined && loaded.config === before.config) {
      if (types !== 'off') this.#checking = this.#checkBeside(before, before);
      return;
    }
    this.#loaded = loaded;
    if (types === 'hold' && this.#checker !== undefined && !(await this.#hasTypes(loaded))) {
      if (this.#loaded === loaded) this.#loaded = before;
      return;
    }
    await this.#apply(loaded.operator, startedMs);
    if (types === 'revert' || types === 'show') this.#checking = this.#checkBeside(loaded, before);
  }

  /** False if there are errors, which are shown, or newer code. */
  async #hasTypes(loaded: Loaded): Promise<boolean> {
    const errors = await this.#checker?.check();
    if (errors === undefined || this.#loaded !== loaded) return false;
    if (errors === '') return true;
    this.#parts.io.note(errors);
    this.#oldCodeRuns();
    return false;
  }

  async #checkBeside(loaded: Loaded, before: Loaded | undefined): Promise<void> {
    const { io, types } = this.#parts;
    const errors = await this.#checker?.check();
    if (errors === undefined || this.#loaded !== loaded || io.signal.aborted) return;
    if (errors === '') {
      this.#sound = loaded;
      return;
    }
    io.note(errors);
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
      this.#started ??= this.#parts.onStarted?.();
    } catch (error) {
      if (isInterrupted(error, signal)) return;
      io.note(describeError(error));
      this.#oldCodeRuns();
    }
  }

  #oldCodeRuns(): void {
    const { io, running } = this.#parts;
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
