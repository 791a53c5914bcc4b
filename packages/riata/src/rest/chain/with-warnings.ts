import type { Logger } from '../../runtime/log/logger.js';
import type { ResponseHeaders, TransportFlow } from '../transport/transport.js';
import { ResponseFilter, type ResponseNotes, type ResponseSink, type Send } from './send.js';
import { parseWarnings, type WarningHandler } from './warnings.js';

/** Hands the warnings of each response to the request's handler. */
export function withWarnings(send: Send, log: Logger): Send {
  return (request, sink) => send(request, new WarningFilter(sink, request.settings.warningHandler, log));
}

class WarningFilter extends ResponseFilter {
  readonly #handler: WarningHandler;
  readonly #log: Logger;

  constructor(next: ResponseSink, handler: WarningHandler, log: Logger) {
    super(next);
    this.#handler = handler;
    this.#log = log;
  }

  override onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow, notes?: ResponseNotes): void {
    for (const warning of parseWarnings(headers)) {
      try {
        this.#handler(warning);
      } catch (error) {
        this.#log.error('warning handler failed', { error });
      }
    }
    this.next.onHeaders(status, headers, flow, notes);
  }
}
