import type { StatusDetails } from '../../object/meta.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { Runtime } from '../../runtime/runtime.js';
import { link } from '../../runtime/signals.js';
import type { Scheduler, Timer } from '../../runtime/time/clock.js';
import type { Credentials } from '../config/rest-config.js';
import { apiErrorFrom } from '../errors/api-error.js';
import { redactUrl } from '../errors/redact.js';
import { RequestTimeout } from '../errors/request-timeout.js';
import type { ResponseHeaders, Transport, TransportFlow, TransportSink } from '../transport/transport.js';
import { type OwnSecrets, redactAll } from './own-secrets.js';
import { CollectSink, withEnd } from './response-sinks.js';
import { restMetrics, withMetrics } from './rest-metrics.js';
import {
  type ApiRequest,
  type BodySink,
  ResponseFilter,
  type ResponseNotes,
  type ResponseSink,
  type Send,
} from './send.js';
import type { ServerContact } from './server-contact.js';
import { createThrottle, type Throttle } from './throttle.js';
import { parseWarnings } from './warnings.js';
import { withAuth } from './with-auth.js';
import { withMeasurement } from './with-measurement.js';
import { withRetry } from './with-retry.js';

/** What a {@link requestChain} is made of. */
export interface RequestChainParts {
  readonly transport: Transport;
  readonly credentials: Credentials | undefined;
  /** The API group that the client is about. */
  readonly group: string;
  readonly secrets: OwnSecrets;
  readonly contact: ServerContact;
  readonly runtime: Runtime;
  /** Host and port of the server, for metrics. */
  readonly host: string;
  /** The server's path prefix, `''` if it has none. */
  readonly basePath: string;
  /** Aborts when the client is closed; ends all waits. */
  readonly closing: AbortSignal;
}

/**
 * The way of every request of a client, from the inside out: the order of the wrappers is what retries repeat, deadlines
 * include and metrics count. Made once; what differs between requests is in their settings. Rejects unless the response
 * is a success.
 */
export function requestChain(parts: RequestChainParts): Send {
  const { transport, credentials, group, secrets, contact, runtime, host, closing } = parts;
  const { clock, log } = runtime;
  const metrics = restMetrics(runtime.metrics);
  const throttle = createThrottle({ clock, log, metrics, host, closing });
  let send = sendOver(transport, contact, secrets);
  send = withAuth(send, credentials, closing);
  send = withMetrics(send, metrics, host);
  send = withRetry(send, { throttle, metrics, host, log, closing });
  send = withDeadline(send, clock);
  // Outside the deadline: a request that waits for its turn has not started.
  send = withRateLimit(send, throttle);
  send = withRefusal(send, { log, secrets, group });
  return withMeasurement(send, metrics, parts);
}

/** The innermost {@link Send}: over a transport. Each answer is noted, and secrets are taken out of its headers. */
function sendOver(transport: Transport, contact: ServerContact, secrets: OwnSecrets): Send {
  return (request, sink) => {
    try {
      request.beforeSend?.();
    } catch (error) {
      sink.onError(error);
      return;
    }
    transport.dispatch(request, new AnswerSink(sink, contact, secrets, request.mode === 'stream'));
  };
}

/** Where the transport hands over a response: its head goes through the chain, its body to what the chain returned. */
class AnswerSink implements TransportSink {
  readonly #next: ResponseSink;
  readonly #contact: ServerContact;
  readonly #secrets: OwnSecrets;
  /** The caller sees the headers. */
  readonly #isShown: boolean;
  #body: BodySink | undefined;

  constructor(next: ResponseSink, contact: ServerContact, secrets: OwnSecrets, isShown: boolean) {
    this.#next = next;
    this.#contact = contact;
    this.#secrets = secrets;
    this.#isShown = isShown;
  }

  onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow): void {
    this.#contact.responded(status);
    // Of a plain success only the content type is quoted, and redacted there.
    const isQuoted = status >= 300 || headers.warning !== undefined || this.#isShown;
    const shown = isQuoted ? redactAll(headers, this.#secrets.redact) : headers;
    this.#body = this.#next.onHeaders(status, shown, flow);
  }

  onData(chunk: Uint8Array): void {
    if (this.#body === undefined) throw new TypeError('transport: data must not come before onHeaders has returned');
    this.#body.onData(chunk);
  }

  onEnd(): void {
    this.#body?.onEnd();
  }

  onError(error: unknown): void {
    (this.#body ?? this.#next).onError(error);
  }

  onDrain(): void {
    this.#body?.onDrain?.();
  }
}

/** Ends a request that is read as a whole with a {@link RequestTimeout} unless it is done, body included, in time. */
function withDeadline(send: Send, clock: Scheduler): Send {
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

  override onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow, notes?: ResponseNotes): BodySink {
    return withEnd(this.next.onHeaders(status, headers, flow, notes), () => this.#release());
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

/** Lets a request wait for its rate limiter, unless it is a watch. */
function withRateLimit(send: Send, throttle: Throttle): Send {
  return (request, sink) => {
    const { rateLimiter } = request.settings;
    if (rateLimiter === undefined || request.mode === 'watch') send(request, sink);
    else {
      throttle(rateLimiter, request).then(
        () => send(request, sink),
        (error) => sink.onError(error),
      );
    }
  };
}

interface RefusalParts {
  readonly log: Logger;
  readonly secrets: OwnSecrets;
  readonly group: string;
}

/**
 * Passes the warnings of each response to the request's handler, and turns an unsuccessful response into an `ApiError`.
 */
function withRefusal(send: Send, parts: RefusalParts): Send {
  return (request, sink) => send(request, new RefusalFilter(sink, request, parts));
}

/** More of a refusal than this is not read. */
const maxErrorBytes = 1_048_576;

class RefusalFilter extends ResponseFilter {
  readonly #request: ApiRequest;
  readonly #parts: RefusalParts;

  constructor(next: ResponseSink, request: ApiRequest, parts: RefusalParts) {
    super(next);
    this.#request = request;
    this.#parts = parts;
  }

  override onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow, notes?: ResponseNotes): BodySink {
    this.#warn(headers);
    const { next } = this;
    if (this.#request.anyStatus) return next.onHeaders(status, headers, flow, notes);
    const isSwitch = status === 101 && this.#request.upgrade !== undefined;
    if (isSwitch || (status >= 200 && status <= 206)) return next.onHeaders(status, headers, flow, notes);
    const { method, url, signal } = this.#request;
    const { redact } = this.#parts.secrets;
    const answer = { attempts: 1, ...notes, redact, code: status, method, url, headers, details: this.#details() };
    return new CollectSink(flow, maxErrorBytes, {
      onBody: (body) => next.onError(apiErrorFrom({ ...answer, body })),
      onError: (cause) => next.onError(signal?.aborted ? signal.reason : apiErrorFrom({ ...answer, body: '', cause })),
    });
  }

  #warn(headers: ResponseHeaders): void {
    for (const warning of parseWarnings(headers)) {
      try {
        this.#request.settings.warningHandler(warning);
      } catch (error) {
        this.#parts.log.error('warning handler failed', { error });
      }
    }
  }

  #details(): StatusDetails {
    const { resource, name } = this.#request;
    const { group } = this.#parts;
    if (!resource) return {};
    return name ? { group, kind: resource, name } : { group, kind: resource };
  }
}
