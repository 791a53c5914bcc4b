/** The kinds of frames (RFC 6455, section 5.2). */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Takes what a {@link FrameParser} finds. */
export interface FrameEvents {
  /**
   * The next piece of a message: a part of the bytes that were fed. `first` and `last` mark its ends; a message that
   * comes in one piece has both. A piece may be empty.
   */
  onPiece(piece: Uint8Array, at: { readonly first: boolean; readonly last: boolean; readonly text: boolean }): void;
  /** A ping, pong or close frame: at most 125 bytes, to be kept. */
  onControl(opcode: number, payload: Uint8Array): void;
}

/** The peer has violated the protocol; `code` is what the close frame reports. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
  readonly code: number;

  constructor(message: string, code = 1002) {
    super(message);
    this.code = code;
  }
}

/** The longest head of a frame: two bytes, eight of length, four of the mask. */
const maxHeadBytes = 14;
const maxControlBytes = 125;

/**
 * Reads WebSocket frames from bytes that come in any pieces. Payloads are handed out as they come, so that a message
 * of any length takes no memory. Throws a {@link FrameError}; after that it must not be fed again.
 */
export class FrameParser {
  readonly #events: FrameEvents;
  /** Whether frames must be masked, as those of clients are; those of servers must not be. */
  readonly #masked: boolean;
  readonly #head = new Uint8Array(maxHeadBytes);
  #headLength = 0;
  #opcode = 0;
  #fin = false;
  /** Bytes of the payload that have not come yet; undefined while the head is read. */
  #left: number | undefined;
  readonly #mask = new Uint8Array(4);
  #maskAt = 0;
  /** The opcode of the message whose fragments are being read; undefined between messages. */
  #message: number | undefined;
  #isFirst = true;
  #control: Uint8Array | undefined;

  constructor(events: FrameEvents, { masked }: { readonly masked: boolean }) {
    this.#events = events;
    this.#masked = masked;
  }

  /** Whether bytes of an unfinished frame or message are missing. */
  get isWithin(): boolean {
    return this.#headLength > 0 || this.#left !== undefined || this.#message !== undefined;
  }

  /** Reads on. The bytes are unmasked in place. */
  feed(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length || this.#left === 0) {
      if (this.#left === undefined) at = this.#readHead(bytes, at);
      else at = this.#readPayload(bytes, at);
    }
  }

  #readHead(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length) {
      this.#head[this.#headLength] = bytes[at] as number;
      this.#headLength += 1;
      at += 1;
      if (this.#headLength < 2 || this.#headLength < this.#expectedHead()) continue;
      this.#begin();
      return at;
    }
    return at;
  }

  #expectedHead(): number {
    const second = this.#head[1] as number;
    const length = second & 0x7f;
    return 2 + (length === 126 ? 2 : length === 127 ? 8 : 0) + (second & 0x80 ? 4 : 0);
  }

  #begin(): void {
    const head = this.#head;
    const [first, second] = [head[0] as number, head[1] as number];
    if (first & 0x70) throw new FrameError('a reserved bit is set, but no extension was negotiated');
    this.#fin = (first & 0x80) !== 0;
    this.#opcode = first & 0x0f;
    const isMasked = (second & 0x80) !== 0;
    if (isMasked !== this.#masked) throw new FrameError(isMasked ? 'a server must not mask' : 'a client must mask');
    const view = new DataView(head.buffer);
    const short = second & 0x7f;
    const length = short < 126 ? short : short === 126 ? view.getUint16(2) : Number(view.getBigUint64(2));
    if (!Number.isSafeInteger(length)) throw new FrameError('the frame is too long', 1009);
    if (isMasked) this.#mask.set(head.subarray(this.#headLength - 4, this.#headLength));
    this.#maskAt = 0;
    this.#headLength = 0;
    this.#left = length;
    this.#checkOpcode(length);
  }

  #checkOpcode(length: number): void {
    switch (this.#opcode) {
      case opcodes.continuation:
        if (this.#message === undefined) throw new FrameError('a continuation without a message');
        return;
      case opcodes.text:
      case opcodes.binary:
        if (this.#message !== undefined) throw new FrameError('a message within another one');
        this.#message = this.#opcode;
        this.#isFirst = true;
        return;
      case opcodes.close:
      case opcodes.ping:
      case opcodes.pong:
        if (!this.#fin || length > maxControlBytes) throw new FrameError('a control frame is fragmented or too long');
        this.#control = new Uint8Array(length);
        return;
      default:
        throw new FrameError(`unknown opcode ${this.#opcode}`);
    }
  }

  #readPayload(bytes: Uint8Array, from: number): number {
    const left = this.#left as number;
    const to = Math.min(bytes.length, from + left);
    const piece = bytes.subarray(from, to);
    if (this.#masked) this.#maskAt = applyMask(piece, this.#mask, this.#maskAt);
    this.#left = left - piece.length;
    const isWhole = this.#left === 0;
    if (isWhole) this.#left = undefined;
    if (this.#control !== undefined) this.#takeControl(piece, left, isWhole);
    else this.#takePiece(piece, isWhole);
    return to;
  }

  #takePiece(piece: Uint8Array, isWhole: boolean): void {
    const last = isWhole && this.#fin;
    const first = this.#isFirst;
    const text = this.#message === opcodes.text;
    this.#isFirst = false;
    if (last) this.#message = undefined;
    if (piece.length > 0 || last || first) this.#events.onPiece(piece, { first, last, text });
  }

  #takeControl(piece: Uint8Array, left: number, isWhole: boolean): void {
    const control = this.#control as Uint8Array;
    control.set(piece, control.length - left);
    if (!isWhole) return;
    this.#control = undefined;
    this.#events.onControl(this.#opcode, control);
  }
}

/** Masks or unmasks in place, starting at `from` of the mask; returns where the mask continues. */
export function applyMask(bytes: Uint8Array, mask: Uint8Array, from = 0): number {
  const { length } = bytes;
  let at = 0;
  // Byte by byte up to a multiple of four in memory, then four at a time.
  const aligned = Math.min(length, -bytes.byteOffset & 3);
  while (at < aligned) bytes[at] = (bytes[at] as number) ^ (mask[(from + at++) & 3] as number);
  const words = (length - at) >> 2;
  if (words > 0) {
    const turned = Uint8Array.from({ length: 4 }, (_, index) => mask[(from + at + index) & 3] as number);
    const key = new Int32Array(turned.buffer)[0] as number;
    const view = new Int32Array(bytes.buffer, bytes.byteOffset + at, words);
    let i = 0;
    for (const unrolled = words & ~7; i < unrolled; i += 8) {
      view[i] = (view[i] as number) ^ key;
      view[i + 1] = (view[i + 1] as number) ^ key;
      view[i + 2] = (view[i + 2] as number) ^ key;
      view[i + 3] = (view[i + 3] as number) ^ key;
      view[i + 4] = (view[i + 4] as number) ^ key;
      view[i + 5] = (view[i + 5] as number) ^ key;
      view[i + 6] = (view[i + 6] as number) ^ key;
      view[i + 7] = (view[i + 7] as number) ^ key;
    }
    for (; i < words; i++) view[i] = (view[i] as number) ^ key;
    at += words << 2;
  }
  for (; at < length; at++) bytes[at] = (bytes[at] as number) ^ (mask[(from + at) & 3] as number);
  return (from + length) & 3;
}
