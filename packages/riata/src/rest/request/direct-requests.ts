import type { StatusDetails } from '../../object/meta.js';
import type { Span } from '../../runtime/tracing.js';
import { isMeasured, measured } from '../chain/measured.js';
import type { ApiRequest } from '../chain/send.js';
import { performWhole, type RequestContext } from './perform.js';
import type { ReadAnswer } from './whole-exchange.js';

/** How often a request is sent again unless it says otherwise. */
export const defaultMaxRetries = 10;

/** A request that is known as a whole, so that it need not be built step by step and checked at each. */
export interface DirectRequest extends Omit<ApiRequest, 'url' | 'begun'> {
  /** What it is about, for errors that come without a Status. */
  readonly details: StatusDetails;
  /** What it is part of, for tracing. */
  readonly span?: Span;
}

/** Sends requests that are known as a whole. */
export class DirectRequests {
  readonly #context: RequestContext;

  constructor(context: RequestContext) {
    this.#context = context;
  }

  /** Whether there is nothing to be done for a request but to send it: all the rest is for `RestRequest`. */
  get isOpen(): boolean {
    return this.#context.timeoutMs === Number.POSITIVE_INFINITY;
  }

  /** The URL of a path, for messages. */
  urlOf(path: string): string {
    return this.#context.origin + this.#context.basePath + path;
  }

  /** Takes the client's credentials out of what a server said. */
  get redact(): (text: string) => string {
    return this.#context.secrets.redact;
  }

  send<T>(given: DirectRequest, read: ReadAnswer<T>): Promise<T> {
    const { rateLimiter, backoff, warningHandler, timeoutMs } = this.#context;
    const { method, path, headers, body, signal, headersTimeoutMs, idleTimeoutMs, beforeSend, details } = given;
    const request = {
      ...{ method, path, headers, body, signal, headersTimeoutMs, idleTimeoutMs, beforeSend },
      url: this.urlOf(path),
    };
    const plan = { request, maxRetries: defaultMaxRetries, timeoutMs, rateLimiter, backoff, warningHandler, details };
    const context = this.#context;
    if (!isMeasured(context)) return performWhole(context, plan, read);
    const about = {
      verb: method,
      path: () => context.basePath + (path.split('?', 1)[0] ?? ''),
      parent: given.span,
    };
    return measured(context, about, () => performWhole(context, plan, read));
  }
}
