import type { ProxyResponse } from './proxy-response.js';

/**
 * A call of `client.proxy`. Await it for the answer, or ask for its whole body:
 *
 * ```ts
 * await using answer = await client.proxy({ ...pod, port: 8080 }, '/healthz');
 * const metrics = await client.proxy({ ...pod, port: 8080 }, '/metrics').text();
 * ```
 */
export class ProxyCall implements PromiseLike<ProxyResponse> {
  readonly #response: Promise<ProxyResponse>;

  constructor(response: Promise<ProxyResponse>) {
    this.#response = response;
  }

  /** The whole body as text; throws a `ProxyError` unless the status is a success. */
  async text(): Promise<string> {
    return (await this.#response).text();
  }

  /** The whole body; throws a `ProxyError` unless the status is a success. */
  async bytes(): Promise<Uint8Array> {
    return (await this.#response).bytes();
  }

  /** The whole body as JSON; throws a `ProxyError` unless the status is a success. */
  async json(): Promise<unknown> {
    return (await this.#response).json();
  }

  // biome-ignore lint/suspicious/noThenProperty: it is awaited for the answer
  then<A = ProxyResponse, B = never>(
    onfulfilled?: ((response: ProxyResponse) => A | PromiseLike<A>) | null,
    onrejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#response.then(onfulfilled, onrejected);
  }
}
