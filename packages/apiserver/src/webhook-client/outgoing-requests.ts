import { Buffer } from 'node:buffer';
import type { Agent, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Identity } from 'riata/runtime';
import { goNetworkError } from './go-network-error.js';
import type { InProcessHandlers } from './in-process-handlers.js';
import type { ServiceAddress } from './service-resolver.js';

/** A request that the server sends. */
export interface OutgoingRequest {
  readonly method: string;
  /** As it is addressed; a Service as `https://name.namespace.svc:443/path`. */
  readonly url: URL;
  /** Where it really goes. Throws an `Error` if that is nowhere. @default the host of the URL */
  readonly address?: () => ServiceAddress;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array;
  readonly tls?: OutgoingTls;
  /** Breaks the request off. */
  readonly signal: AbortSignal;
}

/** Whom to trust, and as whom to appear. */
export interface OutgoingTls {
  /** PEM. @default the authorities that Node trusts */
  readonly ca?: string | undefined;
  readonly insecure?: boolean | undefined;
  /** The client's certificate. @default none */
  readonly identity?: Identity | undefined;
}

export interface OutgoingResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: AsyncIterable<Uint8Array>;
  /** Set when the other side has switched protocols. */
  readonly upgraded?: Upgraded;
}

/** A connection over which another protocol is spoken from now on. */
export interface Upgraded {
  /** The answer that says so, up to the end of its head. */
  readonly head: string;
  readonly socket: Duplex;
}

/** No answer came. Its message is that of Go's client, without the URL. */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError';
}

/** Sends requests of the server itself: over HTTPS, or to a handler in this process. */
export class OutgoingRequests {
  readonly #handlers: InProcessHandlers;
  /** Keeps connections for the next request that trusts the same. */
  readonly #agents = new Map<string, Agent>();

  constructor(handlers: InProcessHandlers) {
    this.#handlers = handlers;
  }

  /** Whether a handler in this process answers, so that no socket is opened. */
  isInProcess(url: URL): boolean {
    return this.#handlers.find(url) !== undefined;
  }

  /** Resolves with the head of the answer. Throws an {@link OutgoingError}. */
  async send(request: OutgoingRequest): Promise<OutgoingResponse> {
    const handler = this.#handlers.find(request.url);
    if (handler === undefined) return this.#overNetwork(request);
    const { method, url, headers, body, signal } = request;
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      (typeof value === 'string' ? [value] : value).map((one): [string, string] => [name, one]),
    );
    const sent = new Request(url, { method, headers: lines, body: body && Buffer.from(body), signal });
    try {
      const response = await aborting(signal, Promise.resolve(handler(sent)));
      return { status: response.status, headers: headersOf(response), body: response.body ?? noBody() };
    } catch (error) {
      if (signal.aborted) throw error;
      throw new OutgoingError(error instanceof Error ? error.message : String(error));
    }
  }

  /** Closes idle connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  #overNetwork(request: OutgoingRequest): Promise<OutgoingResponse> {
    const { method, url, headers, body, signal } = request;
    const { host, port } = addressOf(request);
    return new Promise((resolve, reject) => {
      const { request: send } = process.getBuiltinModule('node:https');
      const outgoing = send(
        {
          ...{ method, host, port, signal, path: `${url.pathname}${url.search}`, agent: this.#agentFor(request) },
          headers: { host: url.host, 'content-length': body?.length ?? 0, ...(headers as Record<string, string>) },
        },
        (incoming) => resolve({ status: incoming.statusCode ?? 0, headers: linesOf(incoming), body: incoming }),
      );
      outgoing.on('upgrade', (incoming, socket, rest) => {
        if (rest.length > 0) socket.unshift(rest);
        const status = incoming.statusCode ?? 0;
        resolve({ status, headers: {}, body: noBody(), upgraded: { head: headOf(incoming), socket } });
      });
      outgoing.on('error', (error) => {
        reject(signal.aborted ? signal.reason : new OutgoingError(goNetworkError(error, { host, port })));
      });
      outgoing.end(body);
    });
  }

  #agentFor({ url, tls = {} }: OutgoingRequest): Agent {
    const { ca, insecure = false, identity } = tls;
    const name = hostOf(url);
    const id = JSON.stringify([name, ca, insecure, identity?.cert]);
    const known = this.#agents.get(id);
    if (known !== undefined) return known;
    const { Agent } = process.getBuiltinModule('node:https');
    const servername = process.getBuiltinModule('node:net').isIP(name) > 0 ? '' : name;
    const checkServerIdentity = (_host: string, cert: Parameters<typeof checkIdentity>[1]) => checkIdentity(name, cert);
    const agent = new Agent({
      ...{ keepAlive: true, ca, servername, checkServerIdentity, cert: identity?.cert, key: identity?.key },
      rejectUnauthorized: !insecure,
    });
    this.#agents.set(id, agent);
    return agent;
  }
}

type CheckIdentity = typeof import('node:tls')['checkServerIdentity'];

/** The name that the request is addressed to counts, wherever it goes. */
const checkIdentity: CheckIdentity = (name, cert) =>
  process.getBuiltinModule('node:tls').checkServerIdentity(name, cert);

function addressOf({ url, address }: OutgoingRequest): ServiceAddress {
  if (address === undefined) return { host: hostOf(url), port: Number(url.port || 443) };
  try {
    return address();
  } catch (error) {
    throw new OutgoingError(error instanceof Error ? error.message : String(error));
  }
}

/** Without the brackets of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function aborting<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function headersOf({ headers }: Response): Record<string, string | readonly string[]> {
  const found: Record<string, string | readonly string[]> = {};
  headers.forEach((value, name) => {
    found[name] = value;
  });
  const cookies = headers.getSetCookie();
  return cookies.length > 1 ? { ...found, 'set-cookie': cookies } : found;
}

/** The head of an answer as it came. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function linesOf({ headersDistinct }: IncomingMessage): Record<string, string | readonly string[]> {
  const found: Record<string, string | readonly string[]> = {};
  for (const [name, lines = []] of Object.entries(headersDistinct)) {
    found[name] = lines.length === 1 ? (lines[0] as string) : lines;
  }
  return found;
}

async function* noBody(): AsyncGenerator<Uint8Array> {}
