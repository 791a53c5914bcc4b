const brand: unique symbol = Symbol.for('riata.TerminalError') as never;

/**
 * Thrown by a reconciler for what trying again cannot mend (`reconcile.TerminalError`): it is logged and counted, and the
 * object is looked at again when it changes.
 *
 * @example
 * throw new TerminalError('spec.schedule cannot be parsed', { cause });
 */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    Object.defineProperty(this, brand, { value: true });
  }
}

/** True for a {@link TerminalError}, also one of another copy of the package, or one that is the cause of the error. */
export function isTerminalError(error: unknown): boolean {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 16; depth += 1) {
    if (brand in at) return true;
    at = (at as { readonly cause?: unknown }).cause;
  }
  return false;
}
