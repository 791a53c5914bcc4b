import { HttpConnection, type HttpConnectionOptions } from './http-connection.js';
import type { SocketConnector } from './socket-connector.js';

export interface ConnectionPoolOptions extends Omit<HttpConnectionOptions, 'dialler' | 'onClosed'> {
  readonly connector: SocketConnector;
}

/** One connection, made when first used, for one exchange at a time. */
export interface Lease {
  readonly connection: HttpConnection;
  /** Whether it has carried an exchange before: the other side may have closed it since without our knowing yet. */
  reused: boolean;
  /** Gives it back, to be used again if its exchange came to a good end. */
  release(reusable: boolean): void;
}

/**
 * The connections that share one set of certificates. The last connection to come free is the first to be used again, so
 * that a burst's surplus runs out of time.
 */
export class ConnectionPool {
  readonly #options: ConnectionPoolOptions;
  readonly #all = new Set<Lease>();
  /** Free ones, the last used at the end. */
  readonly #idle: Lease[] = [];
  #retired = false;
  #onEmpty: () => void = () => {};

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
  }

  acquire(): Lease {
    for (let free = this.#idle.pop(); free !== undefined; free = this.#idle.pop()) {
      if (!free.connection.open) continue;
      free.reused = true;
      return free;
    }
    return this.#create();
  }

  /** Lets go of idle connections now and of the others as they come back; then calls `onEmpty`. */
  retire(onEmpty: () => void): void {
    this.#retired = true;
    this.#onEmpty = onEmpty;
    this.closeIdle();
    this.#checkEmpty();
  }

  closeIdle(): void {
    for (const lease of this.#idle.splice(0)) lease.connection.destroy();
  }

  /** Ends all of them; resolves when their sockets are closed. */
  async destroy(): Promise<void> {
    this.#retired = true;
    const connections = [...this.#all].map(({ connection }) => connection);
    for (const connection of connections) connection.destroy();
    await Promise.all(connections.map((connection) => connection.whenClosed()));
  }

  #checkEmpty(): void {
    if (this.#retired && this.#all.size === 0) this.#onEmpty();
  }

  #create(): Lease {
    const { connector, ...options } = this.#options;
    const connection = new HttpConnection({
      ...options,
      dialler: connector.dialler(),
      onClosed: () => {
        this.#all.delete(lease);
        const at = this.#idle.indexOf(lease);
        if (at >= 0) this.#idle.splice(at, 1);
        this.#checkEmpty();
      },
    });
    const lease: Lease = {
      connection,
      reused: false,
      release: (reusable) => {
        if (reusable && !this.#retired && connection.open) this.#idle.push(lease);
        else connection.destroy();
      },
    };
    this.#all.add(lease);
    return lease;
  }
}
