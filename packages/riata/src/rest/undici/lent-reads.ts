import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';

/** As much as one TLS record holds, and what the kernel hands out at once. */
const TLS_BYTES = 16_384;
const TCP_BYTES = 65_536;

/**
 * Reads of one socket into memory that is used again and again. Node's own way, new memory for each read and a queue,
 * takes twice the CPU of TLS and kernel together. While `lend` is on, bytes go to who listens to `readable` at once and
 * in place, valid until the next turn of the event loop; otherwise, and when they are not taken, they are copied and wait
 * in the socket's queue, as always. Lend only while a body is received: undici holds on to the bytes of headers.
 */
export class LentReads {
  /** To be given to `connect`. */
  readonly onread: { readonly buffer: Uint8Array; readonly callback: (length: number) => boolean };
  #socket: Socket | undefined;
  #lending = false;
  /** Bytes that wait to be taken, during `readable` only. */
  #lent: Uint8Array | undefined;
  /** Whether reading was stopped by us and has to be begun again. */
  #stopped = false;

  constructor(secure: boolean) {
    const buffer = Buffer.allocUnsafeSlow(secure ? TLS_BYTES : TCP_BYTES);
    this.onread = { buffer, callback: (length) => this.#onRead(buffer.subarray(0, length)) };
  }

  /** Takes over how the socket is read. To be called with what `connect` has given, at once. */
  attach(socket: Socket): void {
    this.#socket = socket;
    const read = socket.read.bind(socket);
    const unshift = socket.unshift.bind(socket);
    socket.read = (size?: number): unknown => {
      const lent = this.#lent;
      if (lent !== undefined && size !== 0) {
        this.#lent = undefined;
        return lent;
      }
      const chunk: unknown = read(size);
      if (chunk === null && this.#stopped) {
        this.#stopped = false;
        // The stream thinks that it is reading all the time, as nothing is pushed while bytes are lent.
        if (!socket.destroyed) socket._read(0);
      }
      return chunk;
    };
    // What undici gives back when it is paused may be lent.
    socket.unshift = (chunk: Uint8Array) => unshift(Buffer.from(chunk));
  }

  lend(on: boolean): void {
    this.#lending = on;
  }

  #onRead(chunk: Uint8Array): boolean {
    const socket = this.#socket;
    if (socket === undefined || socket.destroyed) return false;
    if (!this.#lending || socket.readableLength > 0) return this.#queue(socket, chunk);
    this.#lent = chunk;
    socket.emit('readable');
    const left = this.#lent;
    this.#lent = undefined;
    if (socket.destroyed) return false;
    if (left !== undefined) return this.#queue(socket, chunk);
    // Some of it was given back.
    this.#stopped = socket.readableLength > 0;
    return !this.#stopped;
  }

  #queue(socket: Socket, chunk: Uint8Array): boolean {
    const more = socket.push(Buffer.from(chunk));
    // TLS hands out what it has decrypted, stopped or not.
    if (!more) this.#stopped = true;
    return more;
  }
}
