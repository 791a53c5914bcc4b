import { Buffer } from 'node:buffer';
import { type Identity, link, type Scheduler, systemClock } from 'riata/runtime';
import type { UserInfo } from '../authentication/user-info.js';
import type { OutgoingRequests, OutgoingResponse } from '../webhook-client/outgoing-requests.js';
import type { ServiceAddress, ServiceResolver } from '../webhook-client/service-resolver.js';
import { serviceUrl } from '../webhook-client/webhook-caller.js';
import { userHeaders } from './proxy-headers.js';
import type { RemoteService } from './remote-service.js';

/** What requests to aggregated API servers work with. */
export interface RemoteRequestParts {
  readonly outgoing: OutgoingRequests;
  readonly services: ServiceResolver;
  readonly clock: Scheduler;
  /** By which aggregated API servers know this one. */
  readonly identity: () => Identity;
}

/** A request to an aggregated API server. */
export interface RemoteRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array;
  readonly signal: AbortSignal;
}

/** The answer to a request of the server itself. */
export interface RemoteAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

const timeoutMs = 5_000;
/** As whom the server asks for itself. */
const aggregator: UserInfo = { username: 'system:kube-aggregator', groups: ['system:masters'] };

/** Sends requests to aggregated API servers. */
export class RemoteRequests {
  readonly #parts: RemoteRequestParts;

  constructor(parts: RemoteRequestParts) {
    this.#parts = parts;
  }

  /** Whether a handler in this process stands for a Service and its endpoints. */
  isInProcess({ service }: RemoteService): boolean {
    return this.#parts.outgoing.isInProcess(serviceUrl(service, '/'));
  }

  /** Where a Service is reached. Throws an `Error` if that is nowhere. */
  addressOf({ service }: RemoteService): ServiceAddress {
    return this.#parts.services.resolve(service);
  }

  send(remote: RemoteService, request: RemoteRequest): Promise<OutgoingResponse> {
    const { outgoing, identity } = this.#parts;
    const { service, ca, insecure } = remote;
    const url = serviceUrl(service, request.path);
    if (this.isInProcess(remote)) return outgoing.send({ ...request, url });
    let address: ServiceAddress;
    try {
      address = this.addressOf(remote);
    } catch (error) {
      return Promise.reject(error);
    }
    // The name of the Service is verified, but the address is asked for.
    const { host, port } = address;
    const headers = { ...request.headers, host: `${host.includes(':') ? `[${host}]` : host}:${port}` };
    return outgoing.send({
      ...request,
      headers,
      url,
      address: () => address,
      tls: { ca, insecure, identity: identity() },
    });
  }

  /** A GET of the server itself, which has five seconds. Throws what `send` throws, and a `TimeoutError`. */
  async get(remote: RemoteService, path: string, accept: string, stopping: AbortSignal): Promise<RemoteAnswer> {
    const clock = this.isInProcess(remote) ? this.#parts.clock : systemClock;
    const late = new AbortController();
    const timer = clock.after(timeoutMs, () => late.abort(new TimeoutError()), { background: true });
    using scope = link(late.signal, stopping);
    try {
      const headers = { accept, ...userHeaders(aggregator) };
      const response = await this.send(remote, { method: 'GET', path, headers, signal: scope.signal });
      const pieces: Uint8Array[] = [];
      for await (const piece of response.body) pieces.push(piece);
      const contentType = String(response.headers['content-type'] ?? '');
      return { status: response.status, contentType, text: Buffer.concat(pieces).toString() };
    } finally {
      timer.cancel();
    }
  }
}

/** An aggregated API server did not answer in time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';

  constructor() {
    super('context deadline exceeded (Client.Timeout exceeded while awaiting headers)');
  }
}
