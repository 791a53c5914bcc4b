/** A handler that failed, and its error. */
export interface FailedHandler {
  readonly handler: string;
  readonly error: unknown;
}

/**
 * Thrown when handlers fail for an object: the message names each with its error. With one failure, `cause` is its error, so
 * that `isNotFound(error)` and the like work; with several, it is an `AggregateError`.
 */
export class HandlersError extends Error {
  override readonly name = 'HandlersError';
  readonly failed: readonly FailedHandler[];

  constructor(failed: readonly FailedHandler[]) {
    const errors = failed.map(({ error }) => error);
    super(failed.map(({ handler, error }) => `handler ${handler}: ${messageOf(error)}`).join(', '), {
      cause: errors.length === 1 ? errors[0] : new AggregateError(errors),
    });
    this.failed = failed;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
