import { Buffer } from 'node:buffer';
import type { Status } from 'riata/object';
import { describeError, type Logger } from 'riata/runtime';
import { internal, Refusal } from '../status/refusal.js';
import { encodeBody } from './body/encode-body.js';
import { noTransforms, tryNegotiate } from './body/negotiate.js';
import { type Reply, type ReplyHeaders, sendBytes } from './reply.js';
import type { RequestInfo } from './request-info.js';
import type { ServerRequest } from './server-request.js';

/** On every answer, unless it says something else. */
export const commonHeaders: ReplyHeaders = { 'cache-control': 'no-cache, private' };

/** Thrown in place of a Refusal where kube-apiserver answers with a plain line. */
export class PlainRefusal extends Error {
  readonly code: number;
  readonly headers: ReplyHeaders;

  constructor(code: number, message: string, headers: ReplyHeaders = {}) {
    super(message);
    this.name = 'PlainRefusal';
    this.code = code;
    this.headers = headers;
  }
}

/** The answer to a path outside the API. */
export function pageNotFound(): PlainRefusal {
  return new PlainRefusal(404, '404 page not found');
}

/** Sends a line of text. */
export function sendText(reply: Reply, code: number, text: string, headers: ReplyHeaders = {}): void {
  const type = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
  sendBytes(reply, code, { ...commonHeaders, ...type, ...headers }, Buffer.from(text));
}

/** The parts of an exchange that an error can be answered from. */
export interface Failed {
  readonly request: ServerRequest;
  readonly reply: Reply;
  readonly info: RequestInfo | undefined;
  readonly log: Logger;
  /** Warnings that were given before. */
  readonly headers: ReplyHeaders;
}

/**
 * Answers an exchange that has failed with what was thrown: a {@link Refusal} with its Status, anything else with a 500
 * that is logged. An answer that has begun is broken off.
 */
export async function sendFailure({ request, reply, info, log, headers }: Failed, error: unknown): Promise<void> {
  if (!(error instanceof Refusal) && !(error instanceof PlainRefusal)) {
    const what = { method: request.method, path: request.path.split('?', 1)[0], error };
    log.error('A request has failed for a reason that is not its own', what);
  }
  if (reply.ended) return;
  if (reply.started) return reply.abort();
  if (error instanceof PlainRefusal) {
    // Go's own server refuses a malformed path, without a newline at the end.
    const end = error.code === 400 ? '' : '\n';
    return sendText(reply, error.code, `${error.message}${end}`, { ...headers, ...error.headers });
  }
  const refusal = error instanceof Refusal ? error : internal(describeError(error));
  const { status } = refusal;
  // Errors have no such form: kube-apiserver then writes indented JSON.
  const form = tryNegotiate(request, info, noTransforms);
  const { mediaType, pretty } = form ?? { mediaType: 'application/json', pretty: true };
  const bytes = await encodeBody(status, mediaType, pretty);
  const all = { ...commonHeaders, 'content-type': mediaType, ...headers, ...retryAfter(status), ...refusal.headers };
  sendBytes(reply, status.code ?? 500, all, bytes);
}

function retryAfter({ details }: Status): ReplyHeaders {
  const seconds = details?.retryAfterSeconds ?? 0;
  return seconds > 0 ? { 'retry-after': String(seconds) } : {};
}
