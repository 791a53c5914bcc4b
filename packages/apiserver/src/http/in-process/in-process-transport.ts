import { Buffer } from 'node:buffer';
import { onAbort, optionNames, type Random, refuseUnknownOptions, type Scheduler } from 'riata/runtime';
import type { Fault, Faults } from '../../faults.js';
import type { Reply } from '../reply.js';
import { isProxied, type ServerRequest } from '../server-request.js';
import { FaultyReply } from './faulty-reply.js';
import { InProcessExchange } from './in-process-exchange.js';
import type { Transport, TransportRequest, TransportSink } from './transport.js';

/** How a server takes requests. */
export type Handle = (request: ServerRequest, reply: Reply) => Promise<void>;

/** How one client's requests come to the server. */
export interface InProcessTransportOptions {
  readonly clock: Scheduler;
  /** Cuts answers into pieces at random places, as a network might. @default pieces as they were written */
  readonly cuts?: Random;
  /** Whose requests these are, for `faults`. @default '' */
  readonly name?: string;
  /** The faults to inject. @default none */
  readonly faults?: Faults;
  /** Whether connections are refused now. @default never */
  readonly refuses?: () => boolean;
  /** Called when it is closed. */
  readonly onClose?: () => void;
}

export const inProcessTransportOptionNames = optionNames<InProcessTransportOptions>({
  clock: true,
  cuts: true,
  name: true,
  faults: true,
  refuses: true,
  onClose: true,
});

/**
 * Carries requests to a server in the same process: a `Transport` for riata's clients, without a socket. Only bytes
 * cross over, and they are copied both ways, so that neither side can change the other's data. Pause, abort and
 * timeouts work as over HTTP; on a virtual clock, work in flight is done before time moves.
 */
export class InProcessTransport implements Transport {
  readonly #handle: Handle;
  readonly #options: InProcessTransportOptions;
  readonly #running = new Set<InProcessExchange>();
  #closed = false;
  #requests = 0;

  constructor(handle: Handle, options: InProcessTransportOptions) {
    refuseUnknownOptions('InProcessTransport', options, inProcessTransportOptionNames);
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
    const copied = copy(request, exchange);
    void this.#run(exchange, copied);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#options.onClose?.();
    // Asynchronous like every other failure: who closes within a callback is not called back within it.
    await undefined;
    for (const exchange of [...this.#running]) exchange.fail('closed', 'the transport was closed');
  }

  /** Cuts every connection, as a crashing server does. Later requests are served again. */
  cut(): void {
    for (const exchange of [...this.#running]) exchange.fail('reset', 'the server went away');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(exchange: InProcessExchange, sent: ServerRequest): Promise<void> {
    await undefined;
    if (this.#closed) return exchange.fail('closed', 'the transport was closed', false);
    if (this.#options.refuses?.()) return exchange.fail('connect-refused', 'the server is down', false);
    if (!exchange.start()) return;
    const request = sent.bodyStream === undefined ? sent : await collected(sent).catch(() => undefined);
    // The exchange has ended with the error of the body.
    if (request === undefined) return;
    const fault = this.#faultOf(exchange, request);
    if (fault === undefined) await this.#handle(request, exchange);
    else await this.#fail(exchange, request, fault);
  }

  #faultOf(exchange: InProcessExchange, request: ServerRequest): Fault | undefined {
    const { faults, name = '' } = this.#options;
    if (faults === undefined) return undefined;
    const { method } = request;
    const [path = '', asked] = request.path.split('?', 2);
    const query = new URLSearchParams(asked);
    this.#requests += 1;
    try {
      return faults({ client: name, number: this.#requests, method, path, query, watch: isWatch(request) });
    } catch (error) {
      exchange.break(error);
      return { stall: 'request' };
    }
  }

  /** Serves a request that something happens to. */
  async #fail(exchange: InProcessExchange, request: ServerRequest, fault: Fault): Promise<void> {
    const { clock } = this.#options;
    const { delayMs = 0, refuse, cut, stall, fail } = fault;
    const { signal } = exchange;
    if (delayMs > 0) await clock.sleep(delayMs, { signal }).catch(() => {});
    if (signal.aborted || stall === 'request') return;
    if (refuse) return exchange.fail('connect-refused', 'refused, by a fault made on purpose', false);
    if (cut === 'request') return exchange.fail('reset', 'cut off, by a fault made on purpose');
    const onError = (error: unknown) => exchange.break(error);
    const reply = new FaultyReply(exchange, fault, { clock, watch: isWatch(request), onError });
    // Not disposed here: delayed parts arrive after the server has done its part.
    onAbort(signal, () => reply.close());
    if (fail === undefined || fail.handled) return this.#handle(request, reply);
    reply.head(fail.code, {});
    reply.end();
  }
}

/** Copies the pieces of a body. Where reading it fails, the exchange does. */
async function* copied(pieces: AsyncIterable<Uint8Array>, exchange: InProcessExchange): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of pieces) yield Uint8Array.from(piece);
  } catch (error) {
    exchange.break(error);
    throw error;
  }
}

/** A body in pieces that is not handed on is read to its end first. */
async function collected(request: ServerRequest): Promise<ServerRequest> {
  if (request.bodyStream === undefined || isProxied(request.path)) return request;
  const pieces: Uint8Array[] = [];
  for await (const piece of request.bodyStream) pieces.push(piece);
  return { ...request, body: Buffer.concat(pieces), bodyStream: undefined };
}

function isWatch({ path }: ServerRequest): boolean {
  return /[?&]watch=(true|1)(&|$)/.test(path) || /^\/(api|apis\/[^/]+)\/[^/]+\/watch\//.test(path);
}

function copy(
  { method, path, headers, body = '', bodyStream, upgrade }: TransportRequest,
  exchange: InProcessExchange,
): ServerRequest {
  const named: Record<string, string> = upgrade === undefined ? {} : { connection: 'Upgrade', upgrade };
  let impersonation: Record<string, readonly string[]> | undefined;
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase();
    named[name] = typeof value === 'string' ? value : value.join(', ');
    if (!name.startsWith('impersonate-')) continue;
    impersonation ??= {};
    impersonation[name] = typeof value === 'string' ? [value] : [...value];
  }
  return {
    method,
    path,
    headers: named,
    impersonation,
    body: Uint8Array.from(Buffer.from(body as Uint8Array)),
    signal: exchange.signal,
    ...(upgrade !== undefined && { upgrade: () => exchange.upgrade() }),
    ...(bodyStream !== undefined && { bodyStream: copied(bodyStream, exchange) }),
  };
}
