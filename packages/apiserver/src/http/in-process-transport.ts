import { Buffer } from 'node:buffer';
import type { Random, Scheduler } from 'riata/runtime';
import { InProcessExchange } from './in-process-exchange.js';
import type { Reply } from './reply.js';
import type { ServerRequest } from './server-request.js';
import type { Transport, TransportRequest, TransportSink } from './transport.js';

/** How a server takes requests. */
export type Handle = (request: ServerRequest, reply: Reply) => Promise<void>;

export interface InProcessTransportOptions {
  readonly clock: Scheduler;
  /** Cuts answers into pieces at random places, as a network might. @default pieces as they were written */
  readonly cuts?: Random;
}

/**
 * Carries requests to a server in the same process: a `Transport` for riata's clients, without a socket. Bytes cross
 * over and nothing else, and they are copied both ways, so that neither side can touch what the other holds. Pause,
 * abort and limits of time work as over HTTP; on a virtual clock, what is under way is done before time moves.
 */
export class InProcessTransport implements Transport {
  readonly #handle: Handle;
  readonly #options: InProcessTransportOptions;
  readonly #running = new Set<InProcessExchange>();
  #closed = false;

  constructor(handle: Handle, options: InProcessTransportOptions) {
    this.#handle = handle;
    this.#options = options;
  }

  /** Exchanges that have not ended. */
  get running(): number {
    return this.#running.size;
  }

  dispatch(request: TransportRequest, sink: TransportSink): void {
    const exchange = new InProcessExchange(request, sink, this.#options, () => this.#running.delete(exchange));
    this.#running.add(exchange);
    const copied = copy(request, exchange.signal);
    void this.#run(exchange, copied);
  }

  async close(): Promise<void> {
    this.#closed = true;
    // Asynchronous like every other failure: who closes within a callback is not called back within it.
    await undefined;
    for (const exchange of [...this.#running]) exchange.fail('closed', 'the transport was closed');
  }

  /** Cuts every connection, as a server does that dies. What comes after it is served again. */
  cut(): void {
    for (const exchange of [...this.#running]) exchange.fail('reset', 'the server went away');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(exchange: InProcessExchange, request: ServerRequest): Promise<void> {
    await undefined;
    if (this.#closed) return exchange.fail('closed', 'the transport was closed', false);
    if (!exchange.start()) return;
    await this.#handle(request, exchange);
  }
}

function copy({ method, path, headers, body = '' }: TransportRequest, signal: AbortSignal): ServerRequest {
  const named: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    named[name.toLowerCase()] = typeof value === 'string' ? value : value.join(', ');
  }
  return { method, path, headers: named, body: Uint8Array.from(Buffer.from(body as Uint8Array)), signal };
}
