import type { Client } from 'undici';
import type { SocketConnector } from './socket-connector.js';

export interface ClientPoolOptions {
  readonly Client: typeof Client;
  readonly origin: string;
  readonly connector: SocketConnector;
  /** How long an unused connection is kept. */
  readonly keepAliveMs: number;
}

/** One connection, made when first used, for one exchange at a time. */
export interface Lease {
  readonly client: Client;
  /** Whether it has carried an exchange before: the other side may have closed it since without our knowing yet. */
  reused: boolean;
  /** Whether bytes may be handed out in memory that is used again: while a body is received. */
  lend(on: boolean): void;
  /** Ends it now: dialling, connection and what runs on it. Resolves when the socket is closed. */
  destroy(): Promise<void>;
}

/**
 * The connections that share one set of certificates. undici's own pool would do for short requests; but it opens
 * another connection for a request that follows at once on the end of one, and one more, for nothing, after each abort.
 * Here the last connection to come free is the first to be used again, so that a burst's surplus runs out of time.
 */
export class ClientPool {
  readonly #options: ClientPoolOptions;
  readonly #all = new Set<Lease>();
  /** Free ones, the last used at the end. */
  readonly #idle: Lease[] = [];
  #retired = false;
  #onEmpty: () => void = () => {};

  constructor(options: ClientPoolOptions) {
    this.#options = options;
  }

  acquire(): Lease {
    const free = this.#idle.pop();
    if (free) {
      free.reused = true;
      return free;
    }
    const lease = this.#create();
    this.#all.add(lease);
    return lease;
  }

  /** Takes a connection back, to be used again if its exchange came to a good end. */
  release(lease: Lease, reusable: boolean): void {
    if (reusable && !this.#retired) this.#idle.push(lease);
    // Not at once: undici may be in the middle of telling us.
    else queueMicrotask(() => void this.#drop(lease));
  }

  /** Lets go of idle connections now and of the others as they come back; then calls `onEmpty`. */
  retire(onEmpty: () => void): void {
    this.#retired = true;
    this.#onEmpty = onEmpty;
    for (const lease of this.#idle.splice(0)) void this.#drop(lease);
    this.#checkEmpty();
  }

  async destroy(): Promise<void> {
    this.#retired = true;
    await Promise.all([...this.#all].map((lease) => this.#drop(lease)));
  }

  async #drop(lease: Lease): Promise<void> {
    this.#all.delete(lease);
    const at = this.#idle.indexOf(lease);
    if (at >= 0) this.#idle.splice(at, 1);
    await lease.destroy();
    this.#checkEmpty();
  }

  #checkEmpty(): void {
    if (this.#retired && this.#all.size === 0) this.#onEmpty();
  }

  #create(): Lease {
    const { Client, origin, connector, keepAliveMs } = this.#options;
    const dialler = connector.dialler();
    const client = new Client(origin, {
      connect: dialler.connect,
      // One request at a time per connection: behind a watch, another would wait for good.
      pipelining: 1,
      keepAliveTimeout: Math.max(1, keepAliveMs),
      // The limits of time are ours, on our clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 1024 * 1024,
    });
    const lease: Lease = {
      client,
      reused: false,
      lend: dialler.lend,
      destroy: () => {
        dialler.cancel();
        return client.destroy();
      },
    };
    // An idle connection that the server or the keep-alive limit has closed leaves an empty shell.
    client.on('disconnect', () => {
      if (this.#idle.includes(lease)) void this.#drop(lease);
    });
    return lease;
  }
}
