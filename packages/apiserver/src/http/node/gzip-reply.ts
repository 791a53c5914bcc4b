import { Buffer } from 'node:buffer';
import type { Reply, ReplyHeaders } from '../reply.js';

/** Shorter answers are sent as they are: packing them costs more than it saves. */
export const gzipThresholdBytes = 128 * 1024;
/** How much is packed at once: enough to pack well, little enough not to hold up the event loop. */
const blockBytes = 128 * 1024;

/** Whether the client takes gzip: named without a weight, as kube-apiserver reads it. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  return acceptEncoding?.split(',').some((token) => token.trim() === 'gzip') ?? false;
}

/**
 * Compresses an answer once it turns out to be long. Each block is a separate gzip member (RFC 1952 allows any number
 * of them), so that nothing runs outside the event loop: the bytes are the same on every run.
 */
export class GzipReply implements Reply {
  readonly #reply: Reply;
  #head: { readonly status: number; readonly headers: ReplyHeaders } | undefined;
  #packing = false;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;

  constructor(reply: Reply) {
    this.#reply = reply;
  }

  get started(): boolean {
    return this.#head !== undefined || this.#reply.started;
  }

  get ended(): boolean {
    return this.#reply.ended;
  }

  get bufferedBytes(): number {
    return this.#reply.bufferedBytes + this.#waitingBytes;
  }

  head(status: number, headers: ReplyHeaders): void {
    this.#head = { status, headers };
  }

  write(bytes: Uint8Array): boolean {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (!this.#packing && this.#waitingBytes > gzipThresholdBytes) this.#startPacking();
    return this.#packing ? this.#pack(blockBytes) : true;
  }

  end(): void {
    if (this.#packing) {
      this.#pack(1);
    } else {
      if (this.#head !== undefined) this.#reply.head(this.#head.status, this.#head.headers);
      for (const bytes of this.#waiting) this.#reply.write(bytes);
    }
    this.#reply.end();
  }

  abort(): void {
    this.#reply.abort();
  }

  drained(): Promise<void> {
    return this.#reply.drained();
  }

  #startPacking(): void {
    this.#packing = true;
    const { status, headers } = this.#head ?? { status: 200, headers: {} };
    const { 'content-length': _, ...rest } = headers;
    this.#reply.head(status, { ...rest, 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  }

  /** Compresses the pending bytes, if there are at least this many. */
  #pack(atLeast: number): boolean {
    if (this.#waitingBytes < atLeast) return true;
    // Loaded by who packs: a server starts without it.
    const { constants, gzipSync } = process.getBuiltinModule('node:zlib');
    const bytes = gzipSync(Buffer.concat(this.#waiting), { level: constants.Z_BEST_SPEED });
    this.#waiting = [];
    this.#waitingBytes = 0;
    return this.#reply.write(bytes);
  }
}
