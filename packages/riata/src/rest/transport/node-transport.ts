import { Buffer } from 'node:buffer';
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Scheduler } from '../../runtime/time/clock.js';
import type { RestConfig } from '../config/rest-config.js';
import { AnswerFailure } from './http/answer-failure.js';
import { ConnectFailure } from './http/connect-failure.js';
import type { Lease, Pool } from './http/connection-pool.js';
import { delayWriteErrors } from './http/delay-write-errors.js';
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
  /** For connections that change their protocol: none of them was used before. */
  readonly #freshAgent: Agent;
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
    this.#freshAgent = Object.assign(new Agent(), { createConnection });
  }

  acquire(fresh = false): Lease {
    const connection = this.#requestOver(fresh ? this.#freshAgent : this.#agent);
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
  readonly #clock: Scheduler;
  #user: ConnectionUser | undefined;
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;
  /** The connection itself, once its protocol was switched. */
  #upgraded: Socket | undefined;

  constructor(agent: Agent, target: ServerTarget, clock: Scheduler) {
    this.#agent = agent;
    this.#target = target;
    this.#clock = clock;
    this.deadline = new LazyDeadline(clock, () => this.#user?.onLate());
  }

  send(user: ConnectionUser): void {
    this.#user = user;
    const fail = (error: unknown) => this.#user?.onError(error);
    try {
      const request = process.getBuiltinModule('node:http').request(this.#options(user));
      request.on('error', fail).on('response', (response) => this.#answer(response, user));
      request.on('upgrade', (response, socket, head) => {
        if (user.request.upgrade !== undefined) this.#upgrade(response, socket as Socket, head);
        else fail(new AnswerFailure('protocol', 'the server switched to another protocol'));
      });
      request.on('socket', () => {
        this.reused = request.reusedSocket;
        if (!user.onReady()) request.destroy();
      });
      // As bytes: Node would write a text together with the head, in one encoding for both.
      const { body, bodyStream } = user.request;
      this.#request = request;
      if (bodyStream === undefined) request.end(typeof body === 'string' ? Buffer.from(body) : body);
      else void this.#sendPieces(request, bodyStream);
    } catch (error) {
      const text = `the request cannot be sent: ${error instanceof Error ? error.message : error}`;
      queueMicrotask(() => fail(new ConnectFailure('invalid-request', text)));
    }
  }

  async #sendPieces(request: ClientRequest, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const piece of pieces) {
        if (request.destroyed || this.#user === undefined) return;
        if (request.write(piece)) continue;
        await new Promise<void>((resolve) => {
          const goOn = () => {
            request.off('drain', goOn).off('close', goOn);
            resolve();
          };
          request.on('drain', goOn).on('close', goOn);
        });
      }
      request.end();
    } catch (error) {
      this.#user?.onError(error);
    }
  }

  readonly pause = () => void (this.#upgraded ?? this.#response)?.pause();
  readonly resume = () => void (this.#upgraded ?? this.#response)?.resume();
  readonly write = (bytes: Uint8Array) => this.#upgraded?.write(bytes) ?? false;
  readonly endWriting = () => void this.#upgraded?.end();

  /** Leaves the connection to the agent, or destroys it. */
  end(reusable: boolean): void {
    this.#user = undefined;
    this.deadline.cancel();
    if (reusable) return;
    this.dialler?.cancel();
    this.#request?.destroy();
    this.#upgraded?.destroy();
  }

  #upgrade(response: IncomingMessage, socket: Socket, head: Buffer): void {
    this.#upgraded = socket;
    delayWriteErrors(socket, this.#clock);
    socket.on('error', (error) => this.#user?.onError(error)).on('drain', () => this.#user?.onDrain());
    // Read again with the rest: a user that pauses at the head gets none of it yet.
    if (head.length > 0) socket.unshift(head);
    this.#user?.onHead({ status: 101, headers: headersFromRaw(response.rawHeaders) });
    socket.on('end', () => this.#user?.onEnd());
    socket.on('close', () => this.#user?.onError(new AnswerFailure('eof', 'the connection was closed')));
    socket.on('data', (chunk: Buffer) => this.#user?.onBody(chunk));
  }

  #answer(response: IncomingMessage, user: ConnectionUser): void {
    this.#response = response;
    response.on('error', (error) => this.#user?.onError(error)).on('end', () => this.#user?.onEnd());
    user.onHead({ status: response.statusCode ?? 0, headers: headersFromRaw(response.rawHeaders) });
    // Adding a listener starts the flow, unless the user has paused it.
    response.on('data', (chunk: Buffer) => this.#user?.onBody(chunk));
  }

  #options({ request, gzip }: ConnectionUser) {
    const { method, path, body, bodyStream, upgrade } = request;
    const headers = {
      ...{ ...this.#target.headers, ...headersToSend(request.headers), ...(gzip && { 'accept-encoding': 'gzip' }) },
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      ...(bodyStream !== undefined && { 'transfer-encoding': 'chunked' }),
      ...(upgrade !== undefined && { connection: 'Upgrade', upgrade }),
    };
    return { method, path: this.#target.prefix + path, headers, agent: this.#agent, maxHeaderSize, by: this };
  }
}
