import { abortable, link } from '../runtime/signals.js';
import { redactUrl } from './redact.js';
import type { ApiRequest } from './send.js';
import { TransportError } from './transport-error.js';

/** How a wait is ended. */
export interface WaitOptions {
  /** Aborts when the client is closed: no request can be sent any more. */
  readonly closing: AbortSignal | undefined;
  /** Whether the request was sent before, so that what came of it is not known for sure. */
  readonly requestSent: boolean;
}

/**
 * Waits for something before a request is sent, until its signal aborts or the client is closed; the latter is a
 * `TransportError` of kind `closed`.
 */
export async function untilClosed<T>(
  request: ApiRequest,
  { closing, requestSent }: WaitOptions,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using scope = link(request.signal, closing);
  try {
    return await abortable(wait(scope.signal), scope.signal);
  } catch (error) {
    if (request.signal?.aborted || !closing?.aborted) throw error;
    const message = `${request.method} ${redactUrl(request.url)}: the transport was closed`;
    throw new TransportError(message, { kind: 'closed', requestSent, cause: error });
  }
}
