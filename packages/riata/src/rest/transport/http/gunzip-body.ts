import type { Gunzip } from 'node:zlib';

type Zlib = typeof import('node:zlib');

/** Where decoded bytes go, and how the flow of encoded ones is held back. */
export interface GunzipOutput {
  onData(chunk: Uint8Array): void;
  onEnd(): void;
  onError(error: unknown): void;
  /** The decoder has enough to chew on: hold the encoded bytes back until `onDrain`. */
  onFull(): void;
  onDrain(): void;
}

/** Decodes a gzipped body piece by piece; what has arrived comes out at once, so an event of a watch does not wait. */
export class GunzipBody {
  readonly #decoder: Gunzip;
  readonly #output: GunzipOutput;
  #empty = true;
  /** The gzipped data has come to its end; the body may go on. */
  #decoded = false;
  /** All of the body has come. */
  #received = false;

  constructor(zlib: Zlib, output: GunzipOutput) {
    this.#output = output;
    this.#decoder = zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH, chunkSize: 64 * 1024 });
    this.#decoder.on('data', (chunk: Buffer) => output.onData(chunk));
    this.#decoder.on('end', () => {
      this.#decoded = true;
      // Zeros behind its end make the decoder stop before the body does: until then, no other exchange may
      // use the connection.
      if (this.#received) output.onEnd();
    });
    this.#decoder.on('error', (error) => output.onError(error));
    // Of a reader that has paused, `resume` lets more in.
    this.#decoder.on('drain', () => this.#decoder.isPaused() || output.onDrain());
  }

  write(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#empty = false;
    if (this.#decoded) this.#passOver(chunk);
    else if (!this.#decoder.write(chunk)) this.#output.onFull();
  }

  end(): void {
    this.#received = true;
    // An answer to HEAD and a 304 have the header but no body, which the decoder would call truncated.
    if (this.#empty || this.#decoded) this.#output.onEnd();
    else this.#decoder.end();
  }

  pause(): void {
    this.#decoder.pause();
  }

  resume(): void {
    this.#decoder.resume();
  }

  destroy(): void {
    this.#decoder.destroy();
  }

  /** Zeros fill up; the decoder minds anything else behind its end, and so do we. */
  #passOver(chunk: Uint8Array): void {
    if (chunk.every((byte) => byte === 0)) return;
    this.#output.onError(Object.assign(new Error('it goes on after its end'), { code: 'Z_DATA_ERROR' }));
  }
}
