/**
 * What went wrong on the way to the server and back.
 *
 * Before anything was sent: `invalid-request`, `dns`, `connect-refused`, `connect-timeout`, `unreachable`, `tls`,
 * `proxy`. After it: `reset` (the connection was cut), `eof` (the answer stopped before its end), `headers-timeout`,
 * `idle-timeout`, `protocol` (malformed HTTP), `decompress`, `too-large` (more than the client accepts). At any time:
 * `aborted`, `closed` (the transport was closed), `unknown`.
 */
export type TransportErrorKind =
  | 'invalid-request'
  | 'dns'
  | 'connect-refused'
  | 'connect-timeout'
  | 'unreachable'
  | 'tls'
  | 'proxy'
  | 'reset'
  | 'eof'
  | 'headers-timeout'
  | 'idle-timeout'
  | 'protocol'
  | 'decompress'
  | 'too-large'
  | 'aborted'
  | 'closed'
  | 'unknown';

/** The parts of a {@link TransportError}. */
export interface TransportErrorOptions {
  readonly kind: TransportErrorKind;
  readonly requestSent: boolean;
  readonly cause?: unknown;
}

const brand = Symbol.for('riata.TransportError');

/**
 * No usable answer came from the server; an answer with an error status is not this. The message names method, URL
 * (never its query), what happened and what to do; `cause` holds the original.
 */
export class TransportError extends Error {
  readonly [brand] = true;
  override readonly name = 'TransportError';
  readonly kind: TransportErrorKind;
  /** Whether the request may have reached the server: if so, a write may have happened. */
  readonly requestSent: boolean;
  /** The operating system's or TLS library's code, such as `ECONNRESET` or `CERT_HAS_EXPIRED`, where there is one. */
  readonly code: string | undefined;

  constructor(message: string, { kind, requestSent, cause }: TransportErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.requestSent = requestSent;
    this.code = errorCode(cause);
  }
}

/** The `code` of an error, of the first of several (as when every address of a host refused), or of its cause. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, errors, cause } = error as { code?: unknown; errors?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  if (Array.isArray(errors) && errors.length > 0) return errorCode(errors[0]);
  return errorCode(cause);
}

/** Whether no usable answer came from the server. Recognised across copies of this package. */
export function isTransportError(error: unknown): error is TransportError {
  return typeof error === 'object' && error !== null && brand in error;
}

const isKind =
  (...kinds: readonly TransportErrorKind[]) =>
  (error: unknown): error is TransportError =>
    isTransportError(error) && kinds.includes(error.kind);

/** The connection was cut while the request or its answer was in flight (`net.IsConnectionReset`). */
export const isConnectionReset = isKind('reset');

/** Nothing listens at the server's address (`net.IsConnectionRefused`). */
export const isConnectionRefused = isKind('connect-refused');

/** The server closed the connection before the answer was complete (`net.IsProbableEOF`). */
export const isProbableEof = isKind('eof');

/** A limit of time ran out: for connecting, for the headers, or for silence in a stream (`net.IsTimeout`). */
export const isTimeoutError = isKind('connect-timeout', 'headers-timeout', 'idle-timeout');

/** The server's certificate, or ours, was not accepted. Trying again does not help before someone repairs it. */
export const isTlsError = isKind('tls');

/** Not even a connection came about: the request has not reached the server and may be sent again, whatever its verb. */
export function isConnectError(error: unknown): error is TransportError {
  return (
    isTransportError(error) &&
    !error.requestSent &&
    isKind('dns', 'connect-refused', 'connect-timeout', 'unreachable', 'tls', 'proxy', 'reset', 'eof')(error)
  );
}
