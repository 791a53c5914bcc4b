const brand: unique symbol = Symbol.for('riata.CelCompileError');

/** A function cannot be compiled to CEL. The message names the expression that can't be, and the remedy. */
export class CelCompileError extends TypeError {
  override readonly name = 'CelCompileError';
  readonly [brand] = true;
}

/** True for a {@link CelCompileError}, whichever copy of the library threw it. */
export function isCelCompileError(error: unknown): error is CelCompileError {
  return typeof error === 'object' && error !== null && brand in error;
}
