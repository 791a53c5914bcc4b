import type { Readable, Writable } from 'node:stream';

/** Everything that the command may use of its process, so that a test can give its own. */
export interface CreateIo {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes a line to standard output. */
  out(line: string): void;
  /** Writes a line to standard error. */
  note(line: string): void;
  /** For prompts; undefined without a terminal, as in CI. */
  readonly terminal?: { readonly input: Readable; readonly output: Writable };
  /** Runs a program in a folder, with the output of this one; gives its exit code. */
  run(command: string, args: readonly string[], folder: string): Promise<number>;
}
