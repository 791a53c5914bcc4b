import type { ServerHttp2Stream } from 'node:http2';
import type { Scheduler, Timer } from 'riata/runtime';
import type { Reply, ReplyHeaders } from '../reply.js';
import { headerBytes } from './header-bytes.js';

/** How long a peer may take for the rest of an answer that is complete, before its stream is cut. */
const lingerMs = 30_000;
/** `INTERNAL_ERROR`: the client must not take what it has for all there is. */
const brokenOff = 2;

/** An answer over a stream of HTTP/2. */
export class Http2Reply implements Reply {
  readonly #stream: ServerHttp2Stream;
  readonly #clock: Scheduler;
  #ended = false;

  constructor(stream: ServerHttp2Stream, clock: Scheduler) {
    this.#stream = stream;
    this.#clock = clock;
  }

  get started(): boolean {
    return this.#stream.headersSent;
  }

  get ended(): boolean {
    return this.#ended || this.#stream.destroyed || this.#stream.closed;
  }

  get bufferedBytes(): number {
    return this.#stream.writableLength;
  }

  head(status: number, headers: ReplyHeaders): void {
    if (this.started || this.ended) return;
    const { connection, ...others } = headerBytes(headers);
    this.#stream.respond({ ...others, ':status': status });
    // HTTP/2 has no such header: what it asks for is done.
    if (connection === 'close') this.#stream.session?.close();
  }

  write(bytes: Uint8Array): boolean {
    return this.ended || bytes.length === 0 || this.#stream.write(bytes);
  }

  end(): void {
    if (this.ended) return;
    this.#ended = true;
    this.#stream.end();
    if (this.#stream.writableLength > 0) this.#cutLater();
  }

  abort(): void {
    this.#ended = true;
    this.#stream.close(brokenOff);
  }

  drained(): Promise<void> {
    const stream = this.#stream;
    if (this.ended || !stream.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        stream.off('drain', done);
        stream.off('close', done);
        resolve();
      };
      stream.on('drain', done);
      stream.on('close', done);
    });
  }

  /** A peer that reads nothing would keep what waits for it for ever. */
  #cutLater(): void {
    const timer: Timer = this.#clock.after(lingerMs, () => this.#stream.destroy(), { background: true });
    this.#stream.once('close', () => timer.cancel());
  }
}
