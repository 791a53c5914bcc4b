import {
  httpTransport,
  type ProxyEnvironment,
  type ResponseHeaders,
  type Transport,
  type TransportFlow,
} from 'riata/rest';
import type { Scheduler } from 'riata/runtime';

/** A request to any server. */
export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal;
}

/** The answer to a request; its body must be read, or left by {@link HttpAnswer.discard}. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Where it came from, redirects followed. */
  readonly url: string;
  readonly body: AsyncIterable<Uint8Array>;
  /** Reads and drops the body, so that the connection can be used again. */
  discard(): Promise<void>;
}

/** Sends requests to any number of servers, through the proxies that the environment names. */
export interface HttpExchange extends AsyncDisposable {
  send(request: HttpRequest): Promise<HttpAnswer>;
}

const maxRedirects = 5;
/** The slowest connection that an upload is given time for, in bytes per millisecond. */
const slowest = 50;

/** Riata's own HTTP client, one for each server that requests go to. */
export function httpExchange(options: { readonly clock: Scheduler; readonly env: ProxyEnvironment }): HttpExchange {
  const transports = new Map<string, Transport>();
  const transportTo = (origin: string): Transport => {
    const found = transports.get(origin);
    if (found !== undefined) return found;
    const made = httpTransport({ server: origin }, { clock: options.clock, proxyEnvironment: options.env });
    transports.set(origin, made);
    return made;
  };
  return {
    async send(request) {
      let { url, headers = {} } = request;
      for (let redirects = 0; ; redirects += 1) {
        const { origin, pathname, search } = new URL(url);
        const answer = await exchange(transportTo(origin), { ...request, headers }, pathname + search, url);
        const location = [301, 302, 303, 307, 308].includes(answer.status)
          ? header(answer.headers, 'location')
          : undefined;
        if (location === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return answer;
        await answer.discard();
        if (redirects === maxRedirects) throw new Error(`${request.url}: more than ${maxRedirects} redirects`);
        const next = new URL(location, url);
        if (next.protocol !== 'https:' && new URL(url).protocol === 'https:') {
          throw new Error(`${request.url}: redirects to ${next.origin}, which is not encrypted`);
        }
        // Storage behind a registry has its own signature in the URL, and must not see the registry's token.
        if (next.origin !== origin) headers = withoutAuthorization(headers);
        url = next.href;
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...transports.values()].map((each) => each.close()));
    },
  };
}

/** The value of a header; of the first, if it came several times. */
export function header(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

function withoutAuthorization(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization'));
}

function exchange(transport: Transport, request: HttpRequest, path: string, url: string): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const body = new BodyQueue();
    const { method, headers = {}, signal } = request;
    const length = request.body === undefined ? 0 : Buffer.byteLength(request.body);
    transport.dispatch(
      {
        ...{ method, path },
        // Blobs are compressed already, and their digest is that of the compressed form.
        headers: { 'user-agent': 'riata', 'accept-encoding': 'identity', ...headers },
        headersTimeoutMs: 90_000 + length / slowest,
        ...(request.body !== undefined && { body: request.body }),
        ...(signal !== undefined && { signal }),
      },
      {
        onHeaders(status, answered, flow) {
          body.flow = flow;
          resolve({ status, headers: answered, url, body, discard: () => drain(body) });
        },
        onData: (chunk) => body.push(chunk),
        onEnd: () => body.end(),
        onError(error) {
          reject(error);
          body.end(error);
        },
      },
    );
  });
}

/** Past this, a new connection is cheaper than the rest of the body. */
const drained = 64 << 10;

async function drain(body: AsyncIterable<Uint8Array>): Promise<void> {
  let length = 0;
  for await (const piece of body) {
    length += piece.byteLength;
    if (length > drained) return;
  }
}

/** The body of one answer, read by one reader; pauses the connection while it is read slower than it comes. */
class BodyQueue implements AsyncIterable<Uint8Array> {
  flow: TransportFlow | undefined;
  readonly #pieces: Uint8Array[] = [];
  #ended = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  push(chunk: Uint8Array): void {
    this.#pieces.push(Uint8Array.from(chunk)); // the chunk is valid during this call alone
    if (this.#pieces.length > 64) this.flow?.pause();
    this.#wake?.();
  }

  end(error?: unknown): void {
    this.#ended = true;
    this.#error = error;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece !== undefined) {
          if (this.#pieces.length === 0) this.flow?.resume();
          yield piece;
        } else if (this.#ended) {
          if (this.#error !== undefined) throw this.#error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      if (!this.#ended) this.flow?.abort(new Error('not read to its end'));
    }
  }
}
