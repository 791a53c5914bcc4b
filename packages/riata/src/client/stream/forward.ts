import type { Server, Socket } from 'node:net';
import { onAbort } from '../../runtime/signals.js';
import { type CallOptions, callOptionNames } from '../options.js';
import type { ResolvedTarget } from './forward-target.js';
import { joinConnection } from './join-connection.js';
import type { PortTunnel } from './port-tunnel.js';

/** Options of `client.forward`. */
export interface ForwardOptions extends CallOptions {
  /** Remote ports, or pairs of a local and a remote one. A local port of 0 is any that is free. */
  readonly ports: readonly (number | readonly [local: number, remote: number])[];
  /** The local address to listen on. @default '127.0.0.1' */
  readonly host?: string;
  /** Called with the failure of a connection, and of the tunnel before it is opened again. @default nothing */
  readonly onError?: (error: unknown) => void;
}

export const forwardOptionNames = callOptionNames.and<ForwardOptions>({ ports: true, host: true, onError: true });

/** A forwarded port. */
export interface ForwardedPort {
  readonly local: number;
  readonly remote: number;
}

/** What a {@link Forward} opens tunnels with. */
export interface ForwardParts {
  /** What is forwarded to, for messages. */
  readonly what: string;
  resolve(): Promise<ResolvedTarget>;
  open(pod: ResolvedTarget['pod'], onEnd: (error: unknown) => void): Promise<PortTunnel>;
}

interface OpenTunnel {
  readonly target: ResolvedTarget;
  readonly tunnel: PortTunnel;
}

/**
 * Local ports whose connections end in a Pod (`kubectl port-forward`). All connections share one WebSocket. When that is
 * lost, or a connection fails because the Pod is gone, the next connection goes to the Pod that is ready then. A connection
 * that breaks is reset, so that its local side cannot take a part for the whole. Dispose it to stop.
 */
export class Forward implements AsyncDisposable {
  readonly ports: readonly ForwardedPort[];
  /** The address of the first port: `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly #parts: ForwardParts;
  readonly #options: ForwardOptions;
  readonly #servers: readonly Server[];
  readonly #sockets = new Set<Socket>();
  readonly #stopping: Disposable;
  #tunnel: Promise<OpenTunnel> | undefined;
  #closed: Promise<void> | undefined;

  /** Listens when the first tunnel is open, so that a target that does not exist is an error here. */
  static async start(parts: ForwardParts, options: ForwardOptions): Promise<Forward> {
    const { ports, host = '127.0.0.1', signal } = options;
    const pairs = ports.map((port) => (typeof port === 'number' ? ([port, port] as const) : port));
    if (pairs.length === 0) throw new TypeError('client.forward: ports must name at least one port');
    signal?.throwIfAborted();
    const servers: Server[] = [];
    let forward: Forward | undefined;
    const { target, tunnel } = await openTunnel(parts, options.onError);
    try {
      for (const [, remote] of pairs) target.portFor(remote);
      for (const [local, remote] of pairs) {
        servers.push(await listen(local, host, (socket) => void forward?.serve(socket, remote)));
      }
    } catch (error) {
      for (const server of servers) server.close();
      tunnel.close();
      throw error;
    }
    forward = new Forward(parts, options, servers, { target, tunnel });
    return forward;
  }

  private constructor(parts: ForwardParts, options: ForwardOptions, servers: readonly Server[], open: OpenTunnel) {
    this.#parts = parts;
    this.#options = options;
    this.#servers = servers;
    this.#tunnel = Promise.resolve(open);
    this.ports = servers.map((server, index) => {
      const port = options.ports[index] as ForwardOptions['ports'][number];
      return { local: portOf(server), remote: typeof port === 'number' ? port : port[1] };
    });
    const { host = '127.0.0.1', signal } = options;
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${this.ports[0]?.local}`;
    this.#stopping = onAbort(signal, () => void this.close());
  }

  /** Serves a local connection. For the servers. */
  async serve(socket: Socket, port: number): Promise<void> {
    this.#sockets.add(socket);
    // Errors of the local side end its connection, and nothing else.
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    socket.pause();
    try {
      const { target, tunnel } = await this.#open();
      await joinConnection(socket, tunnel.connect(target.portFor(port)));
    } catch (error) {
      reset(socket);
      if (this.#closed !== undefined) return;
      this.#options.onError?.(error);
      await this.#checkTarget();
    }
  }

  /** After a failure: if the target means another Pod by now, the next connection goes there. */
  async #checkTarget(): Promise<void> {
    const before = this.#tunnel;
    const [open, target] = await Promise.all([before, this.#parts.resolve()].map((one) => one?.catch(() => undefined)));
    const { tunnel, target: former } = (open ?? {}) as Partial<OpenTunnel>;
    const isMoved = target !== undefined && (target as ResolvedTarget).pod.name !== former?.pod.name;
    if (!isMoved || this.#tunnel !== before) return;
    this.#tunnel = undefined;
    tunnel?.close();
  }

  /** Ends all connections and stops listening. */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The tunnel that there is, or another one. */
  async #open(): Promise<OpenTunnel> {
    const current = await this.#tunnel?.catch(() => undefined);
    if (current?.tunnel.isOpen) return current;
    if (this.#closed !== undefined) throw new Error('the port-forward was closed');
    // Another connection may have begun to open one meanwhile.
    const pending = this.#tunnel;
    const isOld = current === undefined || (await pending?.catch(() => undefined)) === current;
    if (isOld && this.#tunnel === pending) this.#tunnel = openTunnel(this.#parts, this.#options.onError);
    return await (this.#tunnel as Promise<OpenTunnel>);
  }

  async #end(): Promise<void> {
    this.#stopping[Symbol.dispose]();
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    for (const socket of this.#sockets) socket.destroy();
    const open = await this.#tunnel?.catch(() => undefined);
    open?.tunnel.close();
    await Promise.all(closed);
  }
}

async function openTunnel(parts: ForwardParts, onEnd: (error: unknown) => void = () => {}): Promise<OpenTunnel> {
  const target = await parts.resolve();
  return { target, tunnel: await parts.open(target.pod, onEnd) };
}

/** Resets a connection at once: after an end in order, its local side would take what has come for all. */
function reset(socket: Socket): void {
  // Node would send an end before the reset, once all is written.
  socket.destroySoon = () => void socket.destroy();
  socket.resetAndDestroy();
}

function listen(port: number, host: string, onConnection: (socket: Socket) => void): Promise<Server> {
  const { createServer } = process.getBuiltinModule('node:net');
  const server = createServer({ allowHalfOpen: true }, onConnection);
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(new Error(`client.forward: cannot listen on ${host}:${port}: ${error.message}`, { cause: error })),
    );
    server.listen(port, host, () => resolve(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
