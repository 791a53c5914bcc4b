import { Buffer } from 'node:buffer';
import { Duplex } from 'node:stream';
import type { ReplyHeaders } from '../reply.js';

/** What an {@link UpgradedDuplex} writes to, and what it reports to. */
export interface UpgradedExchange {
  head(status: number, headers: ReplyHeaders): void;
  write(bytes: Uint8Array): boolean;
  drained(): Promise<void>;
  end(): void;
  abort(): void;
  /** The server has read what the client sent: more can come. */
  onDrain(): void;
}

const endOfHead = Buffer.from('\r\n\r\n');

/**
 * The server's end of a connection that has left HTTP, for a client in the same process. As on a socket, the server
 * writes the head of its answer itself.
 */
export class UpgradedDuplex extends Duplex {
  readonly #exchange: UpgradedExchange;
  /** What has been written of the head; undefined once it is complete. */
  #head: Buffer | undefined = Buffer.alloc(0);
  #needsDrain = false;

  constructor(exchange: UpgradedExchange) {
    super();
    this.#exchange = exchange;
  }

  /** Takes bytes of the client. False: to wait for `onDrain`. */
  takeBytes(bytes: Uint8Array): boolean {
    if (this.destroyed || this.readableEnded) return true;
    if (this.push(bytes)) return true;
    this.#needsDrain = true;
    return false;
  }

  /** The client sends no more. */
  takeEnd(): void {
    if (!this.destroyed) this.push(null);
  }

  override _read(): void {
    if (!this.#needsDrain) return;
    this.#needsDrain = false;
    this.#exchange.onDrain();
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const bytes = this.#head === undefined ? chunk : this.#bodyOf(Buffer.concat([this.#head, chunk]));
    if (bytes.length === 0 || this.#exchange.write(bytes)) done();
    else void this.#exchange.drained().then(done);
  }

  override _final(done: () => void): void {
    this.#exchange.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.writableFinished) this.#exchange.abort();
    done(error);
  }

  /** Passes on the head when it is whole; returns what comes behind it. */
  #bodyOf(bytes: Buffer): Buffer {
    const end = bytes.indexOf(endOfHead);
    if (end < 0) {
      this.#head = bytes;
      return Buffer.alloc(0);
    }
    this.#head = undefined;
    const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
    const headers = lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    });
    this.#exchange.head(Number(first.split(' ')[1]), Object.fromEntries(headers));
    return bytes.subarray(end + endOfHead.length);
  }
}
