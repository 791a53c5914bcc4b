/** Why a mutation cannot be done, in upstream's words. */
export class MutationError extends Error {
  override readonly name = 'MutationError';
}
