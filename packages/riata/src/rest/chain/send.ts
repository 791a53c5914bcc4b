import type { Span } from '../../runtime/tracing.js';
import type { ResponseHeaders, TransportFlow, TransportRequest, TransportSink } from '../transport/transport.js';
import type { BackoffManager } from './backoff-manager.js';
import type { RateLimiter } from './rate-limiter.js';
import type { WarningHandler } from './warnings.js';

/** What a client sets for all its requests, and a request for itself. */
export interface RequestSettings {
  /** How often a request may be sent again. */
  readonly maxRetries: number;
  /** For the whole request, retries included. `Infinity` for none. */
  readonly timeoutMs: number;
  readonly rateLimiter: RateLimiter | undefined;
  readonly backoff: BackoffManager;
  readonly warningHandler: WarningHandler;
}

/** A request on its way through the chain of wrappers. */
export interface ApiRequest extends TransportRequest {
  /** Whole URL, for messages and for backoff by host; what is sent is `path`. */
  readonly url: string;
  /**
   * How the body is read: `whole` to its end, within the timeout; `stream` bit by bit; `watch` without an end. A watch
   * does not wait for the rate limiter.
   */
  readonly mode: 'whole' | 'stream' | 'watch';
  readonly settings: RequestSettings;
  /** The resource, and the name of the object, that errors without a Status are about. */
  readonly resource?: string;
  readonly name?: string;
  /** Parent span, for tracing. */
  readonly span?: Span;
  /** Passes answers on whatever their status: they are those of something behind the server. @default false */
  readonly anyStatus?: boolean;
  /** Called right before each sending, when all waits are over; what it throws is the outcome, and nothing is sent. */
  readonly beforeSend?: () => void;
}

/** What wrappers know about a response beyond its headers. */
export interface ResponseNotes {
  /** How often the request was sent until this response came. @default 1 */
  readonly attempts?: number;
  /** What the client itself knows about the cause of a refusal. */
  readonly problem?: string;
}

/** Takes the body of a response, to its end or its failure. */
export type BodySink = Omit<TransportSink, 'onHeaders'>;

/** Takes a response, or the failure to get one. */
export interface ResponseSink {
  /** The response has started, with the notes of the wrappers that it has passed. Returns what takes its body. */
  onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow, notes?: ResponseNotes): BodySink;
  /** No response came; or the exchange ended within `onHeaders`. */
  onError(error: unknown): void;
}

/**
 * Sends a request and hands the response, whatever its status, to the sink. Never throws, failures go to `sink.onError`. Each
 * concern of a request (credentials, retries, …) is a wrapper of this one type: it changes the request, looks at the head of
 * the response in a {@link ResponseFilter}, or sends again. The body goes from the transport to its reader directly.
 */
export type Send = (request: ApiRequest, sink: ResponseSink) => void;

/** Passes the head of a response on to the next sink; wrappers override what they look at. */
export abstract class ResponseFilter implements ResponseSink {
  declare protected readonly next: ResponseSink;

  constructor(next: ResponseSink) {
    this.next = next;
  }

  onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow, notes?: ResponseNotes): BodySink {
    return this.next.onHeaders(status, headers, flow, notes);
  }

  onError(error: unknown): void {
    this.next.onError(error);
  }
}
