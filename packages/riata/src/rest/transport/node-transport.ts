import { Buffer } from 'node:buffer';
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Scheduler } from '../../runtime/time/clock.js';
import type { RestConfig } from '../config/rest-config.js';
import { AnswerFailure } from './http/answer-failure.js';
import { ConnectFailure } from './http/connect-failure.js';
import type { Lease, Pool } from './http/connection-pool.js';
import type { Connection, ConnectionUser } from './http/http-connection.js';
import { headersToSend } from './http/request-heads.js';
import { headersFromRaw, maxHeadBytes as maxHeaderSize } from './http/response-head.js';
import type { ServerTarget } from './http/server-target.js';
import type { Dialler, SocketConnector } from './http/socket-connector.js';
import { type HttpTransport, type HttpTransportOptions, resolveHttpOptions } from './http-transport-options.js';
import { LazyDeadline } from './lazy-deadline.js';
import { PooledTransport } from './pooled-transport.js';

/**
 * A transport over Node's own HTTP client: `node:http` writes requests, parses responses and reuses connections, and
 * `node:tls` secures them. It takes the options of `httpTransport` and behaves alike; many small requests take more CPU
 * (designs/http-client.md). `RIATA_TRANSPORT=node` makes it the default. `keepAliveMs` runs on the system's clock, not on
 * `clock`.
 */
export function nodeTransport(config: RestConfig, options: HttpTransportOptions = {}): HttpTransport {
  const resolved = resolveHttpOptions('nodeTransport', options);
  return new PooledTransport(config, resolved, (connector, target) => {
    return new NodePool(connector, resolved.keepAliveMs, (agent) => new NodeRequest(agent, target, resolved.clock));
  });
}

/** Node's `Agent`, with connections that our connector dials: through proxies, and with errors that name the remedy. */
class NodePool implements Pool {
  readonly #agent: Agent;
  readonly #requestOver: (agent: Agent) => NodeRequest;
  readonly #leases = new Set<Lease>();
  readonly #sockets = new Set<Socket>();
  #onEmpty: (() => void) | undefined;

  constructor(connector: SocketConnector, keepAliveMs: number, requestOver: (agent: Agent) => NodeRequest) {
    this.#requestOver = requestOver;
    const createConnection = ({ by }: { by: NodeRequest }, done: (error: unknown, socket?: Socket) => void) => {
      by.dialler = connector.dialler();
      const opened = (socket: Socket) => {
        this.#sockets.add(socket.on('close', () => this.#sockets.delete(socket)));
        done(null, socket);
      };
      by.dialler.open().then(opened, done);
    };
    const { Agent } = process.getBuiltinModule('node:http');
    const idle = keepAliveMs > 0 && { timeout: keepAliveMs };
    this.#agent = Object.assign(new Agent({ keepAlive: true, ...idle }), { createConnection });
  }

  acquire(): Lease {
    const connection = this.#requestOver(this.#agent);
    const release = (reusable: boolean) => {
      connection.end(reusable);
      if (this.#leases.delete(lease) && this.#onEmpty) this.retire(this.#onEmpty);
    };
    const lease: Lease = { connection, release };
    this.#leases.add(lease);
    return lease;
  }

  retire(onEmpty: () => void): void {
    this.#onEmpty = onEmpty;
    this.closeIdle();
    if (this.#leases.size > 0) return;
    void this.destroy();
    onEmpty();
  }

  closeIdle(): void {
    for (const socket of Object.values(this.#agent.freeSockets).flat()) socket?.destroy();
  }

  async destroy(): Promise<void> {
    const closed = [...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }
}

/** One request of Node's, on the connection that the agent gives it. */
class NodeRequest implements Connection {
  reused = false;
  readonly deadline: LazyDeadline;
  /** Of the connection that is being set up for it. */
  dialler: Dialler | undefined;
  readonly #agent: Agent;
  readonly #target: ServerTarget;
  #user: ConnectionUser | undefined;
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;

  constructor(agent: Agent, target: ServerTarget, clock: Scheduler) {
    this.#agent = agent;
    this.#target = target;
    this.deadline = new LazyDeadline(clock, () => this.#user?.onLate());
  }

  send(user: ConnectionUser): void {
    this.#user = user;
    const fail = (error: unknown) => this.#user?.onError(error);
    try {
      const request = process.getBuiltinModule('node:http').request(this.#options(user));
      request.on('error', fail).on('response', (response) => this.#answer(response, user));
      request.on('upgrade', () => fail(new AnswerFailure('protocol', 'the server switched to another protocol')));
      request.on('socket', () => {
        this.reused = request.reusedSocket;
        if (!user.onReady()) request.destroy();
      });
      // As bytes: Node would write a text together with the head, in one encoding for both.
      const { body } = user.request;
      this.#request = request.end(typeof body === 'string' ? Buffer.from(body) : body);
    } catch (error) {
      const text = `the request cannot be sent: ${error instanceof Error ? error.message : error}`;
      queueMicrotask(() => fail(new ConnectFailure('invalid-request', text)));
    }
  }

  readonly pause = () => void this.#response?.pause();
  readonly resume = () => void this.#response?.resume();

  /** Leaves the connection to the agent, or destroys it. */
  end(reusable: boolean): void {
    this.#user = undefined;
    this.deadline.cancel();
    if (reusable) return;
    this.dialler?.cancel();
    this.#request?.destroy();
  }

  #answer(response: IncomingMessage, user: ConnectionUser): void {
    this.#response = response;
    response.on('error', (error) => this.#user?.onError(error)).on('end', () => this.#user?.onEnd());
    user.onHead({ status: response.statusCode ?? 0, headers: headersFromRaw(response.rawHeaders) });
    // Adding a listener starts the flow, unless the user has paused it.
    response.on('data', (chunk: Buffer) => this.#user?.onBody(chunk));
  }

  #options({ request, gzip }: ConnectionUser) {
    const { method, path, body } = request;
    const headers = {
      ...{ ...this.#target.headers, ...headersToSend(request.headers), ...(gzip && { 'accept-encoding': 'gzip' }) },
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    };
    return { method, path: this.#target.prefix + path, headers, agent: this.#agent, maxHeaderSize, by: this };
  }
}
