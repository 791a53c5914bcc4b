const brand = Symbol.for('riata.RequestTimeout');

/** A request took longer than its `timeout`, retries included. Whether the server acted on it is not known. */
export class RequestTimeout extends Error {
  readonly [brand] = true;
  override readonly name = 'RequestTimeout';
}

/** True for a {@link RequestTimeout} of any copy of the package (`context.DeadlineExceeded`). */
export function isRequestTimeout(error: unknown): error is RequestTimeout {
  return typeof error === 'object' && error !== null && brand in error;
}
