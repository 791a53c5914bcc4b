import type { TransportRequest } from '../transport/transport.js';

type Headers = TransportRequest['headers'];

/**
 * The headers of a request with those that all requests of a client have, as `withAuth`, `withImpersonation` and
 * `withUserAgent` add them one after the other. What the request brings itself stays.
 */
export class SentHeaders {
  readonly #impersonation: Headers | undefined;
  readonly #userAgent: string;
  /** By headers that never change, such as those of every patch. */
  readonly #known = new WeakMap<Headers, { readonly authorization: string | undefined; readonly headers: Headers }>();

  constructor(userAgent: string, impersonation?: Headers) {
    this.#userAgent = userAgent;
    this.#impersonation = impersonation;
  }

  /** Of frozen headers the answer is the same object each time, as long as the authorization is. */
  of(headers: Headers, authorization: string | undefined): Headers {
    if (!Object.isFrozen(headers)) return this.#join(headers, authorization);
    const known = this.#known.get(headers);
    if (known !== undefined && known.authorization === authorization) return known.headers;
    const joined = Object.freeze(this.#join(headers, authorization));
    this.#known.set(headers, { authorization, headers: joined });
    return joined;
  }

  #join(headers: Headers, authorization: string | undefined): Headers {
    const joined: Record<string, string | readonly string[]> = { ...headers };
    if (authorization !== undefined) joined.authorization ??= authorization;
    if (headers['impersonate-user'] === undefined) Object.assign(joined, this.#impersonation);
    joined['user-agent'] ??= this.#userAgent;
    return joined;
  }
}
