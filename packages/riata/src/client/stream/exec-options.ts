import { type CallOptions, callOptionNames } from '../options.js';

/** What is written to a command's stdin: all at once, or piece by piece. */
export type Input = string | Uint8Array | AsyncIterable<string | Uint8Array> | Iterable<Uint8Array>;

/** Options of `client.attach` (`v1.PodExecOptions`). */
export interface ExecOptions extends CallOptions {
  /** @default the Pod's only container */
  readonly container?: string;
  /**
   * What the process reads: a source that is sent and then ended, or `true` to write it yourself with `stdin.write`.
   * @default none
   */
  readonly stdin?: Input | boolean;
  /** Whether there is a terminal; stderr then comes with stdout. @default false */
  readonly tty?: boolean;
  /** Whether stdout is wanted. @default true */
  readonly stdout?: boolean;
  /** Whether stderr is wanted. @default true, without `tty` */
  readonly stderr?: boolean;
}

export const execOptionNames = callOptionNames.and<ExecOptions>({
  container: true,
  stdin: true,
  tty: true,
  stdout: true,
  stderr: true,
});
