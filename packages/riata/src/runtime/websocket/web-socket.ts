import type { Scheduler, Timer } from '../time/clock.js';
import { encodeFrame } from './encode-frame.js';
import { FrameMemory } from './frame-memory.js';
import { FrameError, type FrameEvents, FrameParser, opcodes } from './frame-parser.js';
import { randomBytes } from './handshake.js';

/** A connection that carries bytes both ways, below a protocol. */
export interface BytePort {
  /**
   * Sends bytes. False when the peer does not keep up: wait for `drained`, which means that all bytes have been sent; until
   * then they must not change.
   */
  write(bytes: Uint8Array): boolean;
  /** Sends no more. */
  end(): void;
  /** Stops reading; the peer notices by backpressure. */
  pause(): void;
  resume(): void;
  /** Ends the connection now. */
  destroy(): void;
}

/** How a WebSocket has ended: by a close frame of the peer, or with an error. */
export type WebSocketEnd = { readonly code: number; readonly reason: string } | { readonly error: unknown };

/** Takes what comes over a {@link WebSocketLink}. */
export interface WebSocketEvents extends Pick<FrameEvents, 'onPiece'> {
  /** More can be sent. */
  onDrain(): void;
  /** Nothing more comes. Called once, unless {@link WebSocketLink.close} was called before. */
  onEnd(end: WebSocketEnd): void;
}

export interface WebSocketOptions {
  readonly role: 'client' | 'server';
  readonly clock: Scheduler;
  /** How often a ping is sent. 0 for never. @default 15000 */
  readonly pingMs?: number;
}

/** The peer did not answer pings, or ended the connection without a close frame. */
export class WebSocketError extends Error {
  override readonly name = 'WebSocketError';
}

/** Pings that may stay unanswered before the peer counts as gone. */
const missedPings = 4;
/**
 * The same while the peer may be unable to read pings: a server that waits for a process to read its stdin reads
 * nothing else meanwhile.
 */
const missedPingsBehindData = 40;
/** Bytes of masks that are made at once. */
const maskPool = 1024;
/** How long the peer may take to close the connection after the close frames. */
const lingerMs = 2_000;

/** One end of a WebSocket over a {@link BytePort}: its owner feeds it with what the connection brings. */
export class WebSocketLink {
  readonly #port: BytePort;
  readonly #events: WebSocketEvents;
  readonly #role: WebSocketOptions['role'];
  readonly #clock: Scheduler;
  readonly #pingMs: number;
  readonly #parser: FrameParser;
  #pingTimer: Timer | undefined;
  #lingerTimer: Timer | undefined;
  #unanswered = 0;
  /** Whether data was sent after the last answered ping. */
  #isBehindData = false;
  readonly #memory = new FrameMemory();
  #masks: Uint8Array = new Uint8Array();
  #masksAt = 0;
  #isPaused = false;
  #closeSent = false;
  /** The peer's last word has come, or it is not waited for any more. */
  #isOver = false;
  #isDestroyed = false;

  constructor(port: BytePort, events: WebSocketEvents, { role, clock, pingMs = 15_000 }: WebSocketOptions) {
    this.#port = port;
    this.#events = events;
    this.#role = role;
    this.#clock = clock;
    this.#pingMs = pingMs;
    this.#parser = new FrameParser(
      {
        onPiece: (piece, at) => {
          if (!this.#isOver) this.#events.onPiece(piece, at);
        },
        onControl: (opcode, payload) => this.#onControl(opcode, payload),
      },
      { masked: role === 'server' },
    );
    this.#schedulePing();
  }

  /** Whether messages can still be sent. */
  get isOpen(): boolean {
    return !this.#closeSent && !this.#isOver;
  }

  /** Sends a binary message, `prefix` as its first byte. False: wait for `onDrain`. Dropped once it is closed. */
  send(payload: Uint8Array, prefix?: number): boolean {
    if (!this.isOpen) return true;
    this.#isBehindData = true;
    return this.#write(opcodes.binary, payload, prefix);
  }

  /** Stops reading. A message that has begun to come may still bring what was read before. */
  pause(): void {
    this.#isPaused = true;
    this.#port.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#unanswered = 0;
    this.#port.resume();
  }

  /** Sends a close frame and ends the connection. Of what still comes, nothing is reported. */
  close(code = 1000, reason = ''): void {
    this.#isOver = true;
    this.#sendClose(code, reason);
    this.#linger();
    // What was paused would never see the peer's end.
    this.#port.resume();
  }

  /** Ends the connection without a word. */
  destroy(): void {
    this.#isOver = true;
    this.#release();
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#port.destroy();
  }

  /** The connection has brought these bytes. They belong to the link from now on: payloads are handed out in place. */
  received(bytes: Uint8Array): void {
    if (this.#isDestroyed) return;
    this.#unanswered = 0;
    try {
      this.#parser.feed(bytes);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#sendClose(error.code, error.message);
      this.#finish({ error: new WebSocketError(`the peer sent malformed WebSocket frames: ${error.message}`) });
      this.destroy();
    }
  }

  /** The connection takes more. */
  drained(): void {
    this.#memory.release();
    if (!this.#isOver) this.#events.onDrain();
  }

  /** The peer has ended the connection. */
  ended(): void {
    const where = this.#parser.isWithin ? 'in the middle of a message' : 'without a close frame';
    this.#finish({ error: new WebSocketError(`the peer ended the connection ${where}`) });
    this.destroy();
  }

  /** The connection is lost. */
  failed(error: unknown): void {
    this.#finish({ error });
    this.destroy();
  }

  #onControl(opcode: number, payload: Uint8Array): void {
    if (opcode === opcodes.ping) {
      if (this.isOpen) this.#write(opcodes.pong, payload);
      return;
    }
    if (opcode === opcodes.pong) {
      this.#isBehindData = false;
      return;
    }
    const code = payload.length < 2 ? 1005 : new DataView(payload.buffer, payload.byteOffset).getUint16(0);
    const reason = new TextDecoder().decode(payload.subarray(2));
    this.#sendClose(payload.length < 2 ? 1000 : code, '');
    this.#linger();
    // A close frame may come between the fragments of a message: then its rest is missing.
    if (this.#parser.isWithin) {
      this.#finish({ error: new WebSocketError('the peer closed the WebSocket in the middle of a message') });
    } else this.#finish({ code, reason });
  }

  #finish(end: WebSocketEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pingTimer?.cancel();
    this.#events.onEnd(end);
  }

  #sendClose(code: number, reason: string): void {
    if (this.#closeSent || this.#isDestroyed) return;
    const text = new TextEncoder().encode(reason).subarray(0, 120);
    const payload = new Uint8Array(2 + text.length);
    new DataView(payload.buffer).setUint16(0, code);
    payload.set(text, 2);
    this.#write(opcodes.close, payload);
    this.#closeSent = true;
    this.#port.end();
  }

  /** The peer closes the connection in its own time, but not for ever. */
  #linger(): void {
    this.#pingTimer?.cancel();
    if (this.#isDestroyed) return;
    this.#lingerTimer ??= this.#clock.after(lingerMs, () => this.destroy(), { background: true });
  }

  #release(): void {
    this.#pingTimer?.cancel();
    this.#lingerTimer?.cancel();
  }

  #schedulePing(): void {
    if (this.#pingMs <= 0) return;
    this.#pingTimer = this.#clock.after(this.#pingMs, () => this.#ping(), { background: true });
  }

  #ping(): void {
    if (!this.isOpen) return;
    // Silence of our own doing is not counted.
    if (!this.#isPaused && this.#unanswered >= (this.#isBehindData ? missedPingsBehindData : missedPings)) {
      const seconds = (this.#unanswered * this.#pingMs) / 1000;
      this.failed(new WebSocketError(`the peer has not answered pings for ${seconds} s; taken for half-open`));
      return;
    }
    if (!this.#isPaused) this.#unanswered += 1;
    this.#write(opcodes.ping, new Uint8Array(0));
    this.#schedulePing();
  }

  #write(opcode: number, payload: Uint8Array, prefix?: number): boolean {
    const mask = this.#role === 'client' ? this.#nextMask() : undefined;
    const into = this.#memory.take(payload.length);
    return this.#port.write(encodeFrame(opcode, payload, { prefix, mask, into }));
  }

  /** Each mask is used once; they are made many at a time, as a call takes longer than the bytes. */
  #nextMask(): Uint8Array {
    if (this.#masksAt === this.#masks.length) {
      this.#masks = randomBytes(maskPool);
      this.#masksAt = 0;
    }
    this.#masksAt += 4;
    return this.#masks.subarray(this.#masksAt - 4, this.#masksAt);
  }
}
