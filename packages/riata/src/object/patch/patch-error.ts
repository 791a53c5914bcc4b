/**
 * Why a patch could not be made or applied:
 * - `invalid`: the patch itself is malformed (an unknown op, a bad pointer, a misplaced directive);
 * - `not-found`: it names a place that the document does not have;
 * - `test-failed`: a JSON patch's `test` found another value;
 * - `conflict`: a three-way patch would overwrite a change of another client.
 */
export type PatchErrorReason = 'invalid' | 'not-found' | 'test-failed' | 'conflict';

const brand: unique symbol = Symbol.for('riata.PatchError') as never;

/** A patch that could not be made or applied; recognise it with {@link isPatchError}. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
  readonly [brand] = true;
  readonly reason: PatchErrorReason;
  /** The place in the document: a JSON pointer for JSON patches, a field path for strategic ones. */
  readonly path: string;

  constructor(reason: PatchErrorReason, path: string, message: string) {
    super(message);
    this.reason = reason;
    this.path = path;
  }
}

/** True for a {@link PatchError}, also of another copy of this package. */
export function isPatchError(error: unknown): error is PatchError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** The JSON type of a value, for messages: they never show the value itself, which may be a secret. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}
