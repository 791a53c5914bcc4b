import { link } from '../../runtime/signals.js';
import type { Scheduler, Timer } from '../../runtime/time/clock.js';
import { redactUrl } from '../errors/redact.js';
import { ResponseFilter, type ResponseSink, type Send } from './send.js';

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

/** Ends a request that is read as a whole with a {@link RequestTimeout} unless it is done, body included, in time. */
export function withDeadline(send: Send, clock: Scheduler): Send {
  return (request, sink) => {
    const { timeoutMs } = request.settings;
    if (request.mode !== 'whole' || !Number.isFinite(timeoutMs)) {
      send(request, sink);
      return;
    }
    const scope = link(request.signal);
    const expire = () =>
      scope.abort(new RequestTimeout(`${request.method} ${redactUrl(request.url)}: not done within ${timeoutMs} ms`));
    const timer = clock.after(timeoutMs, expire, { background: true });
    send({ ...request, signal: scope.signal }, new DeadlineFilter(sink, timer, scope));
  };
}

class DeadlineFilter extends ResponseFilter {
  readonly #timer: Timer;
  readonly #scope: Disposable;

  constructor(next: ResponseSink, timer: Timer, scope: Disposable) {
    super(next);
    this.#timer = timer;
    this.#scope = scope;
  }

  override onEnd(): void {
    this.#release();
    this.next.onEnd();
  }

  override onError(error: unknown): void {
    this.#release();
    this.next.onError(error);
  }

  #release(): void {
    this.#timer.cancel();
    this.#scope[Symbol.dispose]();
  }
}
