import { Buffer } from 'node:buffer';
import { ByteChannel } from '../byte-channel.js';
import { pieceToKeep } from '../piece-to-keep.js';
import { HeaderDecoder, HeaderEncoder, type SpdyHeaders, uint32 } from './header-block.js';

const types = { synStream: 1, synReply: 2, rstStream: 3, ping: 6, goAway: 7 } as const;
const fin = 1;
/** Status codes of a reset. */
const cancel = 5;
/** As much of each stream is buffered before the whole connection waits: SPDY/3 as spoken here has no windows. */
const highWaterBytes = 512 * 1024;
const frameBytes = 32 * 1024;
const headLength = 8;
/** Longer frames are refused. */
const maxFrameBytes = 16 * 1024 * 1024 - 1;

/** What a {@link SpdySession} writes to and reports to. */
export interface SpdyPort {
  /** Sends bytes. False: wait for {@link SpdySession.drained}. */
  write(bytes: Uint8Array): boolean;
  pause(): void;
  resume(): void;
  /** The peer has opened a stream. */
  onStream(stream: SpdyStream): void;
}

/**
 * Many streams over one connection: the part of SPDY/3.1 that Kubernetes uses for port-forwards, without priorities,
 * pushes and windows.
 */
export class SpdySession {
  readonly #port: SpdyPort;
  readonly #encoder = new HeaderEncoder();
  readonly #decoder = new HeaderDecoder();
  readonly #role: 'client' | 'server';
  readonly #streams = new Map<number, SpdyStream>();
  #nextId: number;
  readonly #head = Buffer.alloc(headLength);
  #headBytes = 0;
  /** Bytes of the payload that have not come yet. */
  #left = 0;
  /** Of a control frame, so far. */
  readonly #parts: Buffer[] = [];
  #isOver: { readonly error: unknown } | undefined;
  #isFull = false;
  #waiting: (() => void)[] = [];

  constructor(role: 'client' | 'server', port: SpdyPort) {
    this.#port = port;
    this.#role = role;
    this.#nextId = role === 'client' ? 1 : 2;
  }

  /** Opens a stream. */
  open(headers: SpdyHeaders): SpdyStream {
    if (this.#isOver !== undefined) throw this.#isOver.error;
    const id = this.#nextId;
    this.#nextId += 2;
    const stream = this.#add(id, headers);
    const payload = [uint32(id), uint32(0), Buffer.from([0, 0]), this.#encoder.encode(headers)];
    this.#control(types.synStream, 0, Buffer.concat(payload));
    return stream;
  }

  /** The connection has brought these bytes, which must not change: streams hand them out. Throws for what is no SPDY. */
  received(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let at = 0; at < bytes.length || (this.#left === 0 && this.#headBytes === headLength); ) {
      if (this.#headBytes < headLength) at = this.#readHead(bytes, at);
      else at = this.#readPayload(bytes, at);
    }
  }

  #readHead(bytes: Buffer, from: number): number {
    const to = Math.min(bytes.length, from + headLength - this.#headBytes);
    bytes.copy(this.#head, this.#headBytes, from, to);
    this.#headBytes += to - from;
    if (this.#headBytes === headLength) this.#left = this.#head.readUInt32BE(4) & 0xffffff;
    if (this.#left > maxFrameBytes) throw new RangeError('spdy: a frame is too long');
    return to;
  }

  /** Data is handed on as it comes; of the other frames, which are short, the whole is needed. */
  #readPayload(bytes: Buffer, from: number): number {
    const to = Math.min(bytes.length, from + this.#left);
    const piece = bytes.subarray(from, to);
    this.#left -= piece.length;
    const isWhole = this.#left === 0;
    const head = this.#head.readUInt32BE(0);
    const flags = this.#head[4] as number;
    if (isWhole) this.#headBytes = 0;
    if (!(head & 0x8000_0000)) this.#streams.get(head)?.take(piece, isWhole && (flags & fin) !== 0);
    else {
      this.#parts.push(Buffer.from(piece));
      if (isWhole) this.#takeControl(head & 0xffff, flags, Buffer.concat(this.#parts.splice(0)));
    }
    return to;
  }

  /** The connection takes more. */
  drained(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** The connection is over: all streams fail with this error. */
  end(error: unknown): void {
    if (this.#isOver !== undefined) return;
    this.#isOver = { error };
    for (const stream of [...this.#streams.values()]) stream.fail(error);
    this.#streams.clear();
    this.drained();
  }

  #takeControl(type: number, flags: number, payload: Buffer): void {
    switch (type) {
      case types.synStream: {
        // Only who accepts streams has use for headers: those of replies are not decoded.
        const id = payload.readUInt32BE(0) & 0x7fff_ffff;
        const stream = this.#add(id, this.#decoder.decode(payload.subarray(10)));
        this.#control(types.synReply, 0, Buffer.concat([uint32(id), this.#encoder.encode({})]));
        if (flags & fin) stream.take(Buffer.alloc(0), true);
        this.#port.onStream(stream);
        return;
      }
      case types.synReply:
        if (flags & fin) this.#streams.get(payload.readUInt32BE(0))?.take(Buffer.alloc(0), true);
        return;
      case types.rstStream: {
        const stream = this.#streams.get(payload.readUInt32BE(0));
        stream?.fail(new Error('spdy: the peer has reset the stream'));
        return;
      }
      case types.ping:
        // Pings of one's own have ids like one's own streams.
        if ((payload.readUInt32BE(0) % 2 === 0) === (this.#role === 'client')) this.#control(types.ping, 0, payload);
        return;
      case types.goAway:
        this.end(new Error('spdy: the peer accepts no more streams'));
        return;
      default:
    }
  }

  #add(id: number, headers: SpdyHeaders): SpdyStream {
    const stream = new SpdyStream(headers, {
      write: (bytes, isLast) => this.#write(id, bytes, isLast),
      reset: () => this.#control(types.rstStream, 0, Buffer.concat([uint32(id), uint32(cancel)])),
      onFlow: () => this.#onFlow(),
      onClosed: () => {
        this.#streams.delete(id);
        this.#onFlow();
      },
    });
    this.#streams.set(id, stream);
    return stream;
  }

  async #write(id: number, bytes: Uint8Array, isLast: boolean): Promise<void> {
    let at = 0;
    do {
      if (this.#isOver !== undefined) return;
      const piece = bytes.subarray(at, at + frameBytes);
      at += piece.length;
      const isEnd = isLast && at >= bytes.length;
      const frame = Buffer.allocUnsafe(headLength + piece.length);
      frame.writeUInt32BE(id, 0);
      frame.writeUInt32BE((((isEnd ? fin : 0) << 24) | piece.length) >>> 0, 4);
      frame.set(piece, headLength);
      if (!this.#port.write(frame) && !isEnd) {
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
    } while (at < bytes.length);
  }

  #control(type: number, flags: number, payload: Uint8Array): void {
    if (this.#isOver !== undefined) return;
    const head = Buffer.concat([uint32(0x8003_0000 | type), uint32((flags << 24) | payload.length)]);
    this.#port.write(Buffer.concat([head, payload]));
  }

  #onFlow(): void {
    const isFull = [...this.#streams.values()].some(({ input }) => input.isFull);
    if (isFull === this.#isFull || this.#isOver !== undefined) return;
    this.#isFull = isFull;
    if (isFull) this.#port.pause();
    else this.#port.resume();
  }
}

interface StreamHost {
  write(bytes: Uint8Array, isLast: boolean): Promise<void>;
  reset(): void;
  onFlow(): void;
  onClosed(): void;
}

/** One stream of a {@link SpdySession}: bytes both ways, each side ends by itself. */
export class SpdyStream {
  readonly headers: SpdyHeaders;
  /** What the peer sends; throws if the stream is reset or the connection is lost. */
  readonly input: ByteChannel;
  readonly #host: StreamHost;
  #isInputOver = false;
  #isOutputOver = false;

  constructor(headers: SpdyHeaders, host: StreamHost) {
    this.headers = headers;
    this.#host = host;
    this.input = new ByteChannel(highWaterBytes, () => host.onFlow());
  }

  /** Sends bytes. Resolves when more can be sent. Dropped once the stream is over. */
  async write(bytes: Uint8Array): Promise<void> {
    if (!this.#isOutputOver && bytes.length > 0) await this.#host.write(bytes, false);
  }

  /** Sends no more. */
  end(): void {
    if (this.#isOutputOver) return;
    this.#isOutputOver = true;
    void this.#host.write(Buffer.alloc(0), true);
    this.#checkClosed();
  }

  /** Ends both directions now. */
  reset(): void {
    if (this.#isOutputOver && this.#isInputOver) return;
    this.#host.reset();
    this.fail(new Error('spdy: the stream was reset'));
  }

  /** The peer has sent bytes. For the session. */
  take(bytes: Buffer, isLast: boolean): void {
    if (this.#isInputOver) return;
    this.input.push(pieceToKeep(bytes));
    if (!isLast) return;
    this.#isInputOver = true;
    this.input.end();
    this.#checkClosed();
  }

  /** Ends both directions with an error. For the session. */
  fail(error: unknown): void {
    this.#isOutputOver = true;
    this.#isInputOver = true;
    this.input.end({ error });
    this.#host.onClosed();
  }

  #checkClosed(): void {
    if (this.#isInputOver && this.#isOutputOver) this.#host.onClosed();
  }
}
