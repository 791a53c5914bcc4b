/** Errors between a client and a server in one process, in the words of riata's transports. */
export type InProcessErrorKind =
  | 'aborted'
  | 'closed'
  | 'connect-refused'
  | 'reset'
  | 'headers-timeout'
  | 'idle-timeout';

const brand = Symbol.for('riata.TransportError');

/** A failure that clients know as a `TransportError`: they recognise it by its brand, not by its class. */
export class InProcessError extends Error {
  readonly [brand] = true;
  override readonly name = 'TransportError';
  readonly kind: InProcessErrorKind;
  /** Whether the request may have reached the server. */
  readonly requestSent: boolean;
  readonly code = undefined;

  constructor(message: string, kind: InProcessErrorKind, requestSent: boolean) {
    super(message);
    this.kind = kind;
    this.requestSent = requestSent;
  }
}
