import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SourceChanges } from '../source-changes.js';
import type { TypeProblem } from './type-problem.js';
import { ownSources, type WarmTypes } from './warm-types.js';

/**
 * Runs in a thread, where checks don't block the operator. It keeps parsed files, and the last program, from which the next
 * one takes everything that a change has not touched.
 */
const script = `
const { parentPort, workerData: { entry, folder } } = require('node:worker_threads');
const ts = require(entry);
const parsed = new Map();
let builder;

function read(name, options) {
  let file = parsed.get(name);
  if (file !== undefined) return file;
  const text = ts.sys.readFile(name);
  if (text === undefined) return undefined;
  file = ts.createSourceFile(name, text, options);
  file.version = ts.sys.createHash(text);
  parsed.set(name, file);
  return file;
}

function check({ files, isAll }) {
  const isKnown = (file) => parsed.has(file) && ts.sys.fileExists(file);
  // Imports that were resolved may lead elsewhere now.
  if (isAll || !files.every(isKnown)) builder = undefined;
  if (isAll) parsed.clear();
  for (const file of files) parsed.delete(file);
  const broken = [];
  const config = ts.getParsedCommandLineOfConfigFile(folder + '/tsconfig.json', { noEmit: true }, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (each) => broken.push(each),
  });
  if (config === undefined) return { problems: broken.map(problemOf), sources: [] };
  const host = { ...ts.createCompilerHost(config.options), getSourceFile: read };
  const { fileNames, options, errors, projectReferences } = config;
  builder = ts.createSemanticDiagnosticsBuilderProgram(fileNames, options, host, builder, errors, projectReferences);
  const found = [
    ...builder.getConfigFileParsingDiagnostics(),
    ...builder.getOptionsDiagnostics(),
    ...builder.getSyntacticDiagnostics(),
  ];
  if (found.length === 0) found.push(...builder.getGlobalDiagnostics(), ...builder.getSemanticDiagnostics());
  const isError = ({ category }) => category === ts.DiagnosticCategory.Error;
  const sources = builder.getProgram().getSourceFiles().map(({ fileName }) => fileName);
  return { problems: found.filter(isError).map(problemOf), sources };
}

function problemOf({ file, start = 0, length = 1, code, messageText }) {
  const message = ts.flattenDiagnosticMessageText(messageText, '\\n');
  if (file === undefined) return { line: 1, column: 1, length, code, message };
  const { line, character } = ts.getLineAndCharacterOfPosition(file, start);
  return { file: file.fileName, line: line + 1, column: character + 1, length, code, message };
}

parentPort.on('message', (changes) => {
  try {
    parentPort.postMessage(check(changes));
  } catch (error) {
    parentPort.postMessage({ failure: String((error && error.stack) || error) });
  }
});
`;

type Answer =
  | { readonly problems: readonly TypeProblem[]; readonly sources: readonly string[] }
  | { readonly failure: string };

/** The compiler of TypeScript 5 or 6, kept in a thread: it checks again what a change can have changed. */
export class WorkerTypes implements WarmTypes {
  readonly #folder: string;
  readonly #worker: Worker;
  #sources: readonly string[] = [];

  /** `entry`: the path of the compiler's module. */
  constructor(folder: string, entry: string) {
    this.#folder = folder;
    this.#worker = new Worker(script, { eval: true, workerData: { entry, folder } });
    // A thread that fails is reported by the check that waits for it.
    this.#worker.on('error', () => {});
    this.#worker.unref();
  }

  get sources(): readonly string[] {
    return ownSources(this.#sources, this.#folder);
  }

  async check({ files, isAll }: SourceChanges): Promise<readonly TypeProblem[]> {
    const over = new AbortController();
    const { signal } = over;
    try {
      const answered = once(this.#worker, 'message', { signal });
      const exited = once(this.#worker, 'exit', { signal }).then(() => {
        throw new Error('the thread of the compiler has ended');
      });
      this.#worker.postMessage({ files: [...files], isAll });
      const [answer] = (await Promise.race([answered, exited])) as [Answer];
      if ('failure' in answer) throw new Error(answer.failure);
      this.#sources = answer.sources;
      return answer.problems;
    } finally {
      over.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}
