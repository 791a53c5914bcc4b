import type { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type { Scheduler } from 'riata/runtime';

/** Longer ones go out at once: there is nothing to gain from gathering them. */
const longBytes = 16 * 1024;
/** Between two looks at the rest of the world: some 3 ms of work. */
const socketsAtOnce = 200;

/**
 * Gathers what is written in one turn of the event loop. Each socket gets it in one go, with one system call and one TLS
 * record, and the answer to the write that is told to a thousand watchers does not wait for them.
 */
export class WriteBatch {
  readonly #clock: Scheduler;
  #held: Socket[] = [];

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
