/** A mutation cannot be applied; the message is upstream's. */
export class MutationError extends Error {
  override readonly name = 'MutationError';
}
