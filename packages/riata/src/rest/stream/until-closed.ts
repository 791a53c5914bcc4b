import { abortable, LateLink } from '../../runtime/signals.js';
import type { ApiRequest } from '../chain/send.js';
import { redactUrl } from '../errors/redact.js';
import { TransportError } from '../errors/transport-error.js';

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
  wait: (options: { readonly signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  using ends = new LateLink(request.signal, closing);
  try {
    const waiting = wait(ends);
    return (await isSettledSoon(waiting)) ? await waiting : await abortable(waiting, ends.signal);
  } catch (error) {
    if (request.signal?.aborted || !closing?.aborted) throw error;
    const message = `${request.method} ${redactUrl(request.url)}: the transport was closed`;
    throw new TransportError(message, { kind: 'closed', requestSent, cause: error });
  }
}

/** Turns of the microtask queue: an answer that is already known takes a few. */
const soonTurns = 6;

async function isSettledSoon(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  for (let turn = 0; turn < soonTurns && !isSettled; turn++) await undefined;
  return isSettled;
}
