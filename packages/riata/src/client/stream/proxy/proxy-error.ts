/** On every {@link ProxyError}, whichever copy of the package made it. */
const brand: unique symbol = Symbol.for('riata.ProxyError') as never;

/** The target of a proxied request answered with another status than a success. Test with {@link isProxyError}. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  /** The HTTP status of the target. */
  readonly status: number;
  /** The beginning of its answer, at most 64 KiB. */
  readonly body: string;

  constructor(message: string, { status, body }: { readonly status: number; readonly body: string }) {
    super(message);
    this.status = status;
    this.body = body;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** True for a {@link ProxyError}, of this or another copy of the package. */
export function isProxyError(error: unknown): error is ProxyError {
  return typeof error === 'object' && error !== null && brand in error;
}
