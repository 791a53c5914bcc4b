/** Ends the command with a message for the user, without a stack. Exit codes are those of the `riata` command. */
export class CreateError extends Error {
  readonly exitCode: 1 | 2 | 130;

  constructor(message: string, options: ErrorOptions & { readonly exitCode?: 1 | 2 | 130 } = {}) {
    super(message, options);
    this.name = 'CreateError';
    this.exitCode = options.exitCode ?? 1;
  }
}

/** An error in what the user typed. */
export const usageError = (message: string) => new CreateError(message, { exitCode: 2 });
