import { link } from '../../runtime/signals.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { redactUrl } from '../errors/redact.js';
import type { Send } from './send.js';

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

/** Ends the exchange with a {@link RequestTimeout} unless all of it, the body too, is done after `timeoutMs`. */
export function withDeadline(send: Send, timeoutMs: number, clock: Scheduler): Send {
  return async (request) => {
    const scope = link(request.signal);
    const expire = () =>
      scope.abort(new RequestTimeout(`${request.method} ${redactUrl(request.url)}: not done within ${timeoutMs} ms`));
    const timer = clock.after(timeoutMs, expire, { background: true });
    const release = () => {
      timer.cancel();
      scope[Symbol.dispose]();
    };
    try {
      const response = await send({ ...request, signal: scope.signal });
      response.whenClosed(() => release());
      return response;
    } catch (error) {
      release();
      throw error;
    }
  };
}
