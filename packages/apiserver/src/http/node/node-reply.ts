import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import type { Scheduler, Timer } from 'riata/runtime';
import type { Reply, ReplyHeaders } from '../reply.js';
import { headerBytes } from './header-bytes.js';
import type { WriteBatch } from './write-batch.js';

/** How long a peer may take for the rest of an answer that is complete, before its connection is cut. */
const lingerMs = 30_000;

const nothing = Buffer.alloc(0);

/** An answer over HTTP. */
export class NodeReply implements Reply {
  readonly #response: ServerResponse;
  readonly #clock: Scheduler;
  readonly #batch: WriteBatch;
  #started = false;
  #ended = false;
  /** Whether chunks are framed here, as HTTP/1.1 requires for answers of unknown length. */
  #framing = false;

  constructor(response: ServerResponse, clock: Scheduler, batch: WriteBatch) {
    this.#response = response;
    this.#clock = clock;
    this.#batch = batch;
  }

  get started(): boolean {
    return this.#started;
  }

  get ended(): boolean {
    return this.#ended || this.#response.destroyed;
  }

  get bufferedBytes(): number {
    return this.#response.writableLength;
  }

  head(status: number, headers: ReplyHeaders): void {
    if (this.#started || this.ended) return;
    this.#started = true;
    this.#response.writeHead(status, headerBytes(headers));
    // A stream may have nothing to send for long: the client waits for the head alone. An empty chunk takes the head
    // along as bytes; `flushHeaders` would encode it again.
    if (headers['content-length'] !== undefined) return;
    this.#response.write(nothing);
    // From here on pieces are framed below: Node would hand each to the socket in four parts.
    this.#framing = this.#response.chunkedEncoding;
    this.#response.chunkedEncoding = false;
  }

  write(bytes: Uint8Array): boolean {
    if (this.ended || bytes.length === 0) return true;
    if (!this.#framing) return this.#response.write(bytes);
    const { socket } = this.#response;
    // There is no socket while the answer to an earlier request is still being sent on it.
    const chunk = this.#batch.chunk(bytes);
    return socket === null ? this.#response.write(chunk) : this.#batch.write(socket, chunk);
  }

  end(): void {
    if (this.ended) return;
    this.#ended = true;
    this.#response.chunkedEncoding = this.#framing;
    this.#response.end();
    if (this.#response.writableLength > 0) this.#cutLater();
  }

  abort(): void {
    this.#ended = true;
    this.#response.destroy();
  }

  drained(): Promise<void> {
    const response = this.#response;
    const stream = response.writableNeedDrain ? response : response.socket;
    if (this.ended || !stream?.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        stream.off('drain', done);
        response.off('close', done);
        resolve();
      };
      stream.on('drain', done);
      response.on('close', done);
    });
  }

  /** A peer that reads nothing would keep what waits for it for ever. */
  #cutLater(): void {
    const cut = () => this.#response.destroy();
    const timer: Timer = this.#clock.after(lingerMs, cut, { background: true });
    this.#response.once('close', () => timer.cancel());
  }
}
