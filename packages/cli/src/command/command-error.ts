/**
 * Exit codes of `riata`, the same for all commands. `failed`: the command could not do its work. `usage`: an unknown
 * command or option, or a malformed value. `found`: it did its work, and a check found something: stale manifests,
 * differences, problems. `interrupted`: by Ctrl-C.
 */
export const exitCodes = { ok: 0, failed: 1, usage: 2, found: 3, interrupted: 130 } as const;

/** One of {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command with a message for the user, without a stack, and an exit code. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, options: ErrorOptions & { readonly exitCode?: ExitCode } = {}) {
    super(message, options);
    this.name = 'CommandError';
    this.exitCode = options.exitCode ?? exitCodes.failed;
  }
}
