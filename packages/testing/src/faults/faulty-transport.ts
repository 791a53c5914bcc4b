import { type Fault, type Faults, InProcessTransport } from '@riata/apiserver';
import type { Transport, TransportRequest, TransportSink } from 'riata/rest';
import type { Scheduler } from 'riata/runtime';

/** How the answer to a faulty request comes back. */
type Reply = Parameters<ConstructorParameters<typeof InProcessTransport>[0]>[1];

/**
 * Faults for servers without fault injection: the same faults that the embedded server injects happen on the way to
 * them. Other requests are passed on unchanged.
 */
export class FaultyTransport implements Transport {
  readonly #inner: Transport;
  readonly #options: { readonly name: string; readonly faults: Faults; readonly clock: Scheduler };
  /** Connections that faulty requests used. */
  readonly #ways = new Set<InProcessTransport>();
  #requests = 0;

  constructor(
    inner: Transport,
    options: { readonly name: string; readonly faults: Faults; readonly clock: Scheduler },
  ) {
    this.#inner = inner;
    this.#options = options;
  }

  dispatch(request: TransportRequest, sink: TransportSink): void {
    let faults: Faults;
    try {
      const fault = this.#faultOf(request);
      if (fault === undefined) {
        this.#inner.dispatch(request, sink);
        return;
      }
      faults = () => fault;
    } catch (error) {
      // A mistake in a hook is the client's to bear.
      faults = () => {
        throw error;
      };
    }
    this.#way(request, faults).dispatch(request, sink);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#ways].map((way) => way.close()));
    await this.#inner.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #way(request: TransportRequest, faults: Faults): InProcessTransport {
    for (const way of this.#ways) if (way.running === 0) this.#ways.delete(way);
    const { clock, name } = this.#options;
    const forward = ({ signal }: { readonly signal: AbortSignal }, reply: Reply) =>
      this.#forward({ ...request, signal }, reply);
    const way = new InProcessTransport(forward, { clock, name, faults });
    this.#ways.add(way);
    return way;
  }

  #faultOf({ method, path: sent }: TransportRequest): Fault | undefined {
    const { name, faults } = this.#options;
    const [path = '', asked] = sent.split('?', 2);
    const query = new URLSearchParams(asked);
    this.#requests += 1;
    const watch = ['true', '1'].includes(query.get('watch') ?? '');
    return faults({ client: name, number: this.#requests, method, path, query, watch });
  }

  /** Resolves when the server has done its part. */
  #forward(request: TransportRequest, reply: Reply): Promise<void> {
    return new Promise((resolve) => {
      let pause = () => {};
      this.#inner.dispatch(request, {
        onHeaders: (status, headers, flow) => {
          reply.head(status, definedOf(headers));
          pause = () => {
            flow.pause();
            void reply.drained().then(() => flow.resume());
          };
        },
        onData: (chunk) => {
          if (!reply.write(chunk.slice())) pause();
        },
        onEnd: () => {
          reply.end();
          resolve();
        },
        onError: () => {
          reply.abort();
          resolve();
        },
      });
    });
  }
}

function definedOf<T>(all: Readonly<Record<string, T | undefined>>): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, T] => entry[1] !== undefined));
}
