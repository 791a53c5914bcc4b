import { describeError } from '../../runtime/log/describe-error.js';

const brand: unique symbol = Symbol.for('riata.ConditionError') as never;

/** As much of a message as a condition should carry. */
const longestMessage = 1024;

/**
 * Thrown by a handler to say which reason its condition gets (`condition.Error`); it is tried again as any error.
 *
 * @example
 * throw new ConditionError('NoImage', 'spec.image is empty');
 */
export class ConditionError extends Error {
  override readonly name = 'ConditionError';
  /** One word. */
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** The reason that an error names for its condition. */
export function reasonOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !(brand in error)) return undefined;
  return (error as { readonly reason?: string }).reason;
}

/** The condition's text for an error. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error && error.message !== '' ? error.message : describeError(error);
  return message.slice(0, longestMessage);
}
