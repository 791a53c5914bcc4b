import type { Status } from '../../object/meta.js';

/** On every {@link ExecError}, whichever copy of the package made it. */
const brand: unique symbol = Symbol.for('riata.ExecError') as never;

/** The parts of an {@link ExecError}. */
export interface ExecErrorParts {
  readonly exitCode?: number | undefined;
  readonly stderr?: string;
  readonly status?: Status | undefined;
  readonly cause?: unknown;
}

/**
 * A command in a container failed: it exited with another code than 0, could not be started, or the server reported
 * that its streams broke. Test with {@link isExecError}.
 */
export class ExecError extends Error {
  override readonly name = 'ExecError';
  /** The exit code; undefined if the command was not started, or was cut off. */
  readonly exitCode: number | undefined;
  /** What the command wrote to stderr, its last 64 KiB; `''` where that was not collected. */
  readonly stderr: string;
  /** The server's report. */
  readonly status: Status | undefined;

  constructor(message: string, { exitCode, stderr = '', status, cause }: ExecErrorParts = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
    this.stderr = stderr;
    this.status = status;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** True for an {@link ExecError}, of this or another copy of the package. */
export function isExecError(error: unknown): error is ExecError {
  return typeof error === 'object' && error !== null && brand in error;
}
