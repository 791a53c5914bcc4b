import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { SourceChanges } from '../source-changes.js';
import type { TypeProblem } from './type-problem.js';
import { ownSources, type WarmTypes } from './warm-types.js';

/** The parts of `typescript/unstable/async` of TypeScript 7 that are used. */
interface NativeModule {
  readonly API: new (options: { readonly cwd: string }) => NativeApi;
}
interface NativeApi {
  updateSnapshot(params: {
    readonly openProjects?: readonly string[];
    readonly fileChanges?:
      | { readonly invalidateAll: true }
      | Readonly<Record<'changed' | 'created' | 'deleted', readonly string[]>>;
  }): Promise<NativeSnapshot>;
  close(): Promise<void>;
  readonly client?: { readonly process?: ChildProcess };
}
interface NativeSnapshot {
  getProjects(): readonly { readonly program: NativeProgram }[];
  dispose(): Promise<void>;
}
interface NativeProgram {
  getSourceFileNames(): Promise<readonly string[]>;
  getConfigFileParsingDiagnostics(): Promise<readonly NativeDiagnostic[]>;
  getProgramDiagnostics(): Promise<readonly NativeDiagnostic[]>;
  getSyntacticDiagnostics(): Promise<readonly NativeDiagnostic[]>;
  getGlobalDiagnostics(): Promise<readonly NativeDiagnostic[]>;
  getSemanticDiagnostics(): Promise<readonly NativeDiagnostic[]>;
}
interface NativeDiagnostic {
  readonly fileName?: string;
  readonly pos: number;
  readonly end: number;
  readonly code: number;
  /** 1: an error. */
  readonly category: number;
  readonly text: string;
  readonly messageChain?: readonly NativeDiagnostic[];
}

/** The compiler of TypeScript 7, kept running: it checks again what a change can have changed, and nothing else. */
export class NativeTypes implements WarmTypes {
  readonly #folder: string;
  readonly #entry: string;
  #api: NativeApi | undefined;
  #snapshot: NativeSnapshot | undefined;
  #files: ReadonlySet<string> = new Set();

  /** `entry`: the path of the compiler's module. */
  constructor(folder: string, entry: string) {
    this.#folder = folder;
    this.#entry = entry;
  }

  get sources(): readonly string[] {
    return ownSources(this.#files, this.#folder);
  }

  async check(changes: SourceChanges): Promise<readonly TypeProblem[]> {
    const over = new AbortController();
    try {
      const checked = this.#check(changes);
      checked.catch(() => {});
      return await Promise.race([checked, this.#ended(over.signal)]);
    } finally {
      over.abort();
    }
  }

  async #check({ files, isAll }: SourceChanges): Promise<readonly TypeProblem[]> {
    const snapshot = await this.#update(isAll ? undefined : files);
    const [project] = snapshot.getProjects();
    if (project === undefined) throw new Error('the compiler has no project');
    const { program } = project;
    const found: NativeDiagnostic[] = [
      ...(await program.getConfigFileParsingDiagnostics()),
      ...(await program.getProgramDiagnostics()),
      ...(await program.getSyntacticDiagnostics()),
    ];
    // What does not parse has no types worth a message.
    if (found.length === 0) {
      found.push(...(await program.getGlobalDiagnostics()), ...(await program.getSemanticDiagnostics()));
    }
    const names = await program.getSourceFileNames();
    this.#files = new Set(names);
    return found.filter(({ category }) => category === 1).map(problemOf);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Rejects if its process has ended.
    await this.#api?.close().catch(() => {});
  }

  /** Rejects if the process of the compiler ends: requests in flight would never settle. */
  #ended(signal: AbortSignal): Promise<never> {
    const child = this.#api?.client?.process;
    if (child === undefined) return new Promise(() => {});
    return once(child, 'exit', { signal }).then(() => {
      throw new Error('the process of the compiler has ended');
    });
  }

  async #update(changed: ReadonlySet<string> | undefined): Promise<NativeSnapshot> {
    const before = this.#snapshot;
    if (this.#api === undefined) {
      const { API } = (await import(/* @vite-ignore */ pathToFileURL(this.#entry).href)) as NativeModule;
      this.#api = new API({ cwd: this.#folder });
    }
    if (before === undefined) {
      this.#snapshot = await this.#api.updateSnapshot({ openProjects: [`${this.#folder}/tsconfig.json`] });
      return this.#snapshot;
    }
    this.#snapshot = await this.#api.updateSnapshot({
      fileChanges: changed === undefined ? { invalidateAll: true } : this.#sorted(changed),
    });
    await before.dispose();
    return this.#snapshot;
  }

  #sorted(files: ReadonlySet<string>) {
    const all = [...files];
    const present = all.filter((path) => existsSync(path));
    return {
      changed: present.filter((path) => this.#files.has(path)),
      created: present.filter((path) => !this.#files.has(path)),
      deleted: all.filter((path) => !present.includes(path)),
    };
  }
}

function problemOf(diagnostic: NativeDiagnostic): TypeProblem {
  const { fileName: file, pos, end, code } = diagnostic;
  const rest = { code, message: messageOf(diagnostic) };
  if (file === undefined) return { line: 1, column: 1, length: 1, ...rest };
  const before = textOf(file).slice(0, pos).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return { file, line: before.length, column, length: end - pos, ...rest };
}

function messageOf({ text, messageChain = [] }: NativeDiagnostic, indent = ''): string {
  return [`${indent}${text}`, ...messageChain.map((each) => messageOf(each, `${indent}  `))].join('\n');
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
