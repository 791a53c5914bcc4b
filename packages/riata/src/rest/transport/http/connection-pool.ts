import { type Connection, HttpConnection, type HttpConnectionOptions } from './http-connection.js';
import type { SocketConnector } from './socket-connector.js';

export interface ConnectionPoolOptions extends Omit<HttpConnectionOptions, 'dialler' | 'onClosed'> {
  readonly connector: SocketConnector;
}

/** One connection, made when first used, for one exchange at a time. */
export interface Lease {
  readonly connection: Connection;
  /** Gives it back, to be used again if its exchange came to a good end. */
  release(reusable: boolean): void;
}

/** The connections that share one set of certificates. */
export interface Pool {
  /** A free connection or another one; `fresh` for one that has carried nothing before. */
  acquire(fresh?: boolean): Lease;
  /** Lets go of idle connections now and of the others as they come back; then calls `onEmpty`. */
  retire(onEmpty: () => void): void;
  closeIdle(): void;
  /** Ends all connections; resolves when their sockets are closed. */
  destroy(): Promise<void>;
}

interface OwnLease extends Lease {
  readonly connection: HttpConnection;
}

/**
 * A {@link Pool} of our own connections. The last connection to come free is the first to be used again, so
 * that a burst's surplus runs out of time.
 */
export class ConnectionPool implements Pool {
  readonly #options: ConnectionPoolOptions;
  readonly #all = new Set<OwnLease>();
  /** Free ones, the last used at the end. */
  readonly #idle: OwnLease[] = [];
  #retired = false;
  #onEmpty: () => void = () => {};

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
  }

  acquire(fresh = false): Lease {
    if (fresh) return this.#create();
    for (let free = this.#idle.pop(); free !== undefined; free = this.#idle.pop()) {
      if (free.connection.open) return free;
    }
    return this.#create();
  }

  retire(onEmpty: () => void): void {
    this.#retired = true;
    this.#onEmpty = onEmpty;
    this.closeIdle();
    this.#checkEmpty();
  }

  closeIdle(): void {
    for (const lease of this.#idle.splice(0)) lease.connection.destroy();
  }

  async destroy(): Promise<void> {
    this.#retired = true;
    const connections = [...this.#all].map(({ connection }) => connection);
    for (const connection of connections) connection.destroy();
    await Promise.all(connections.map((connection) => connection.whenClosed()));
  }

  #checkEmpty(): void {
    if (this.#retired && this.#all.size === 0) this.#onEmpty();
  }

  #create(): OwnLease {
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
    const lease: OwnLease = {
      connection,
      release: (reusable) => {
        if (reusable && !this.#retired && connection.open) this.#idle.push(lease);
        else connection.destroy();
      },
    };
    this.#all.add(lease);
    return lease;
  }
}
