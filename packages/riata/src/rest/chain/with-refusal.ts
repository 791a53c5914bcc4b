import type { StatusDetails } from '../../object/meta.js';
import { apiErrorFrom } from '../errors/api-error.js';
import type { ResponseHeaders, TransportFlow } from '../transport/transport.js';
import type { OwnSecrets } from './own-secrets.js';
import { CollectSink } from './response-sinks.js';
import { type ApiRequest, ResponseFilter, type ResponseNotes, type ResponseSink, type Send } from './send.js';

/** More of a refusal than this is not read. */
const maxErrorBytes = 1_048_576;

/** Turns every response that is no success into an `ApiError`. `group` is what the client is about. */
export function withRefusal(send: Send, secrets: OwnSecrets, group: string): Send {
  return (request, sink) => send(request, new RefusalFilter(sink, request, secrets, group));
}

class RefusalFilter extends ResponseFilter {
  readonly #request: ApiRequest;
  readonly #secrets: OwnSecrets;
  readonly #group: string;

  constructor(next: ResponseSink, request: ApiRequest, secrets: OwnSecrets, group: string) {
    super(next);
    this.#request = request;
    this.#secrets = secrets;
    this.#group = group;
  }

  override onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow, notes?: ResponseNotes): void {
    const { next } = this;
    if (status >= 200 && status <= 206) {
      next.onHeaders(status, headers, flow, notes);
      return;
    }
    const { method, url, signal } = this.#request;
    const { redact } = this.#secrets;
    const answer = { attempts: 1, ...notes, redact, code: status, method, url, headers, details: this.#details() };
    this.next = new CollectSink(flow, maxErrorBytes, {
      onBody: (body) => next.onError(apiErrorFrom({ ...answer, body })),
      onError: (cause) => next.onError(signal?.aborted ? signal.reason : apiErrorFrom({ ...answer, body: '', cause })),
    });
  }

  #details(): StatusDetails {
    const { resource, name } = this.#request;
    if (!resource) return {};
    return name ? { group: this.#group, kind: resource, name } : { group: this.#group, kind: resource };
  }
}
