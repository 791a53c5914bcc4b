import type { Status } from '../../object/meta.js';
import { ApiError } from './api-error.js';
import { statusOf } from './error-body.js';

const brand: unique symbol = Symbol.for('riata.DecodeError') as never;

/** A server's answer that was not what it had to be: broken or cut-off JSON, or another thing than a list or an event. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  readonly [brand] = true;
  /** How many list items or watch events had been decoded before. */
  readonly decoded: number;

  constructor(message: string, decoded: number, options?: ErrorOptions) {
    super(message, options);
    this.decoded = decoded;
  }
}

/** True for a {@link DecodeError}, also of another copy of this package. */
export function isDecodeError(error: unknown): error is DecodeError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** The error that an `ERROR` event's object stands for (`apierrors.FromObject`), whatever it is. */
export function errorFromObject(object: unknown): ApiError {
  const status = statusOf(object);
  if (status !== undefined) return new ApiError(status);
  return new ApiError(
    failure('the server sent an error event whose object is no Status', [{ reason: 'UnexpectedServerResponse' }]),
  );
}

/** The event of a watch that cannot continue: as client-go, an internal error with the cause `ClientWatchDecoding`. */
export function watchDecodingError(cause: DecodeError): ApiError {
  return new ApiError(
    failure(`unable to decode an event from the watch stream: ${cause.message}`, [
      { reason: 'UnexpectedServerResponse', message: cause.message },
      { reason: 'ClientWatchDecoding' },
    ]),
    { cause },
  );
}

function failure(message: string, causes: { reason: string; message?: string }[]): Status {
  return {
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'InternalError',
    code: 500,
    details: { causes },
  };
}

/** `1 item`, `2 items`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The beginning of a text on one line, for a message. */
export function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= 40 ? line : `${line.slice(0, 40)}…`;
}
