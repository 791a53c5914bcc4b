import type { Readable, Writable } from 'node:stream';
import type { Runtime } from 'riata/runtime';

/** Everything that a command may use of its process, so that a test can give its own. */
export interface CommandIo {
  /** The folder that paths are relative to. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes a line to standard output: the result of the command, and nothing else. */
  out(line: string): void;
  /** Writes a line to standard error: progress, warnings, explanations. */
  note(line: string): void;
  /** For prompts and full-screen views: the terminal itself; undefined without one, as in CI. */
  readonly terminal?: { readonly input: Readable; readonly output: Writable; readonly columns: number };
  /** Whether standard output takes colours. */
  readonly colors: boolean;
  /** Aborts on SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  readonly runtime: Runtime;
  /** How this program is started: the interpreter, its options and the script. Undefined if it cannot be started again. */
  readonly self?: readonly string[];
}
