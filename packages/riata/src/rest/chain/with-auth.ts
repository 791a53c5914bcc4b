import type { Credentials } from '../config/rest-config.js';
import { untilClosed } from '../stream/until-closed.js';
import type { ResponseHeaders, TransportFlow } from '../transport/transport.js';
import { HeldResponse } from './held-response.js';
import {
  type ApiRequest,
  type BodySink,
  ResponseFilter,
  type ResponseNotes,
  type ResponseSink,
  type Send,
} from './send.js';

/**
 * Puts the current `Authorization` header on each request that has none. On a 401 the credentials are refreshed and, if
 * they say that it may help, the request is sent exactly once more. A wait for credentials, e.g. for a plugin, ends when
 * `closing` aborts.
 */
export function withAuth(send: Send, credentials: Credentials | undefined, closing?: AbortSignal): Send {
  if (!credentials) return send;
  const parts = { send, credentials, closing };
  return (request, sink) => {
    if (request.headers.authorization !== undefined) {
      send(request, sink);
      return;
    }
    const cached = credentials.tryCached?.();
    if (cached !== undefined) sendAs(cached.authorization, request, sink, parts);
    else {
      authorizationOf(request, parts, false).then(
        (authorization) => sendAs(authorization, request, sink, parts),
        (error) => sink.onError(error),
      );
    }
  };
}

interface AuthParts {
  readonly send: Send;
  readonly credentials: Credentials;
  readonly closing: AbortSignal | undefined;
}

function sendAs(authorization: string | undefined, request: ApiRequest, sink: ResponseSink, parts: AuthParts): void {
  parts.send(authorized(request, authorization), new AuthFilter(sink, request, authorization, parts));
}

function authorizationOf(request: ApiRequest, { credentials, closing }: AuthParts, requestSent: boolean) {
  return untilClosed(request, { closing, requestSent }, (options) => credentials.authorization(options));
}

function authorized(request: ApiRequest, authorization: string | undefined): ApiRequest {
  return authorization === undefined ? request : { ...request, headers: { authorization, ...request.headers } };
}

/** Holds a 401 back until the credentials are refreshed. */
class AuthFilter extends ResponseFilter {
  readonly #request: ApiRequest;
  readonly #rejected: string | undefined;
  readonly #parts: AuthParts;

  constructor(next: ResponseSink, request: ApiRequest, authorization: string | undefined, parts: AuthParts) {
    super(next);
    this.#request = request;
    this.#rejected = authorization;
    this.#parts = parts;
  }

  override onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow, notes?: ResponseNotes): BodySink {
    // A body that was read from a stream cannot be sent again.
    if (status !== 401 || this.#request.bodyStream !== undefined) {
      return this.next.onHeaders(status, headers, flow, notes);
    }
    const refusal = new HeldResponse(this.#request.signal).onHeaders(status, headers, flow, notes);
    void this.#sendAgain(refusal, this.next);
    return refusal;
  }

  async #sendAgain(refusal: HeldResponse, sink: ResponseSink): Promise<void> {
    const { send, credentials, closing } = this.#parts;
    const wait = { closing, requestSent: true };
    const rejected = this.#rejected;
    try {
      if (await untilClosed(this.#request, wait, ({ signal }) => credentials.refresh({ signal, rejected }))) {
        const authorization = await authorizationOf(this.#request, this.#parts, true);
        send(authorized(this.#request, authorization), new ExplainFilter(sink, credentials, this.#request.signal));
        refusal.discard();
      } else await explain(refusal, sink, credentials);
    } catch (error) {
      refusal.discard();
      sink.onError(error);
    }
  }
}

/** Adds what the credentials know to be wrong with them to a 401. */
class ExplainFilter extends ResponseFilter {
  readonly #credentials: Credentials;
  readonly #signal: AbortSignal | undefined;

  constructor(next: ResponseSink, credentials: Credentials, signal: AbortSignal | undefined) {
    super(next);
    this.#credentials = credentials;
    this.#signal = signal;
  }

  override onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow, notes?: ResponseNotes): BodySink {
    if (status !== 401) return this.next.onHeaders(status, headers, flow, notes);
    const refusal = new HeldResponse(this.#signal).onHeaders(status, headers, flow, notes);
    void explain(refusal, this.next, this.#credentials);
    return refusal;
  }
}

async function explain(refusal: HeldResponse, sink: ResponseSink, credentials: Credentials): Promise<void> {
  // A failure to find out is ignored.
  const problem = await credentials.problem?.().catch(() => undefined);
  refusal.passOn(sink, { ...refusal.notes, problem });
}
