import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type { Scheduler } from 'riata/runtime';

/** Longer writes go out at once: gathering them gains nothing. */
const longBytes = 16 * 1024;
/** Sockets to flush before the event loop gets a turn: about 3 ms of work. */
const socketsAtOnce = 200;
const lineEnd = Buffer.from('\r\n');

/**
 * Gathers what is written in one turn of the event loop. Each socket gets it in one system call and one TLS record, and
 * the answer to a write does not wait until a thousand watchers have its event.
 */
export class WriteBatch {
  readonly #clock: Scheduler;
  #held: Socket[] = [];
  #last: { readonly bytes: Uint8Array; readonly chunk: Buffer } | undefined;

  constructor(clock: Scheduler) {
    this.#clock = clock;
  }

  /** False when the peer does not keep up: go on after the socket's `drain`. */
  write(socket: Socket, bytes: Buffer): boolean {
    if (bytes.length < longBytes && socket.writableCorked === 0) {
      socket.cork();
      if (this.#held.push(socket) === 1) void this.#release();
    }
    return socket.write(bytes);
  }

  /** The bytes as a chunk of HTTP/1.1. An event goes to one watcher after the other, so the last chunk is kept. */
  chunk(bytes: Uint8Array): Buffer {
    if (this.#last?.bytes === bytes) return this.#last.chunk;
    const chunk = Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, lineEnd]);
    this.#last = { bytes, chunk };
    return chunk;
  }

  async #release(): Promise<void> {
    await this.#clock.yield();
    const held = this.#held;
    this.#held = [];
    for (const [index, socket] of held.entries()) {
      if (index > 0 && index % socketsAtOnce === 0) await this.#clock.yield();
      socket.uncork();
    }
  }
}
