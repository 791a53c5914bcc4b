import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that cuts connections after some bytes of the server's. */
export class CuttingProxy implements AsyncDisposable {
  readonly url: string;
  /** Bytes of the server's that the next connections let through. */
  limit = Number.POSITIVE_INFINITY;
  /** Whether they end by a reset, not in order. */
  resets = false;
  /** Bytes of the server's that the last connection has let through. */
  passed = 0;
  readonly #sockets: Set<Socket>;
  readonly #close: () => Promise<void>;

  static async start(target: string): Promise<CuttingProxy> {
    const { hostname, port } = new URL(target);
    const sockets = new Set<Socket>();
    let proxy: CuttingProxy | undefined;
    const server = createServer((client) => proxy?.join(client, connect(Number(port), hostname)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const close = async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    };
    proxy = new CuttingProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, close);
    return proxy;
  }

  private constructor(url: string, sockets: Set<Socket>, close: () => Promise<void>) {
    this.url = url;
    this.#sockets = sockets;
    this.#close = close;
  }

  /** Passes on what both say, until the limit. */
  join(client: Socket, server: Socket): void {
    const { limit, resets } = this;
    let passed = 0;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server);
    server.on('data', (bytes) => {
      const left = limit - passed;
      passed += bytes.length;
      this.passed = passed;
      if (bytes.length < left) {
        if (!client.write(bytes)) server.pause();
        return;
      }
      server.destroy();
      if (resets) client.write(bytes.subarray(0, left), () => client.resetAndDestroy());
      else client.end(bytes.subarray(0, left));
    });
    client.on('drain', () => server.resume());
  }

  /** Cuts all connections now. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}
