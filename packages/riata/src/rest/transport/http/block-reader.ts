import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type { Scheduler } from '../../../runtime/time/clock.js';

/** Memory is allocated this much at a time. */
const blockBytes = 256 * 1024;
/** The end of a block that is shorter than this stays unused. */
const leastRoom = 4 * 1024;

/**
 * Reads a socket into memory that is left to its reader. TLS hands out a record at a time: what comes in one turn of the
 * event loop lies in a row in one block, and is handed out at once, as each call costs more than moving the bytes.
 */
export class BlockReader {
  readonly #read: (bytes: Buffer) => boolean;
  readonly #clock: Scheduler;
  #socket: Socket | undefined;
  #block: Buffer = Buffer.alloc(0);
  /** `block[#start, #end)` has come and was not handed out yet. */
  #start = 0;
  #end = 0;
  #isScheduled = false;

  /** `read` takes bytes that nobody else changes; false to stop reading until the socket is resumed. */
  constructor(read: (bytes: Buffer) => boolean, clock: Scheduler) {
    this.#read = read;
    this.#clock = clock;
  }

  /** For `onread` of the socket. */
  readonly buffer = (): Buffer => {
    if (this.#block.length - this.#end < leastRoom) {
      this.#block = Buffer.allocUnsafeSlow(blockBytes);
      this.#start = 0;
      this.#end = 0;
    }
    return this.#block.subarray(this.#end);
  };

  /** For `onread` of the socket. */
  readonly callback = (count: number): boolean => {
    this.#end += count;
    if (this.#block.length - this.#end < leastRoom) return this.#handOut();
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      void this.#clock.yield().then(this.#onTurn);
    }
    return true;
  };

  /** To be called once, before others listen: they get the end after all that came before it. */
  attach(socket: Socket): void {
    this.#socket = socket;
    const handOut = () => void this.#handOut();
    socket.on('end', handOut).on('error', handOut).on('close', handOut);
  }

  readonly #onTurn = (): void => {
    this.#isScheduled = false;
    if (!this.#handOut()) this.#socket?.pause();
  };

  #handOut(): boolean {
    if (this.#start === this.#end) return true;
    const bytes = this.#block.subarray(this.#start, this.#end);
    this.#start = this.#end;
    return this.#read(bytes);
  }
}
