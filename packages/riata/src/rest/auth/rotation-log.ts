import type { Logger } from '../../runtime/log/logger.js';

/** Logs rotated files that cannot be used: each problem once, until it is over. */
export class RotationLog {
  readonly #log: Logger;
  readonly #what: string;
  #reported: string | undefined;

  /** `what` is in force, such as `client certificate`. */
  constructor(log: Logger, what: string) {
    this.#log = log;
    this.#what = what;
  }

  /** `error` names the file and what is wrong with it; nothing that was read from it. */
  refused(error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    if (problem === this.#reported) return;
    this.#reported = problem;
    this.#log.warn(`a new ${this.#what} cannot be used; the one before stays in force`, { problem });
  }

  /** The contents of the files are in force now. */
  accepted(): void {
    if (this.#reported === undefined) return;
    this.#reported = undefined;
    this.#log.info(`the ${this.#what} in its file is in force again`);
  }
}
