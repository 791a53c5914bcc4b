import { Buffer } from 'node:buffer';

/**
 * Writes a Protobuf message from its last byte to its first: a nested message comes after its length, which is known
 * once it is written. So write fields in reverse.
 */
export class ReverseWriter {
  #buffer: Buffer;
  /** Where the first byte is. */
  #at: number;

  /** @param size how much room to begin with */
  constructor(size = 1024) {
    this.#buffer = Buffer.allocUnsafe(size);
    this.#at = size;
  }

  /** How many bytes are written: keep it before a nested message, for {@link close}. */
  get length(): number {
    return this.#buffer.length - this.#at;
  }

  /** The written bytes, not copied: don't write afterwards. */
  take(): Buffer {
    return this.#buffer.subarray(this.#at);
  }

  /** Puts the number and the length before what was written since `mark`. */
  close(number: number, mark: number): void {
    this.head(number, this.length - mark);
  }

  /** The number and the length of what comes next, e.g. in a buffer of its own. */
  head(number: number, length: number): void {
    this.#varint(length);
    this.#varint(number * 8 + 2);
  }

  string(number: number, text: string): void {
    const { length } = text;
    // Of most texts each character is one byte.
    const at = this.#room(length);
    const buffer = this.#buffer;
    let index = 0;
    for (; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) break;
      buffer[at + index] = code;
    }
    if (index < length) {
      this.#at += length;
      const bytes = Buffer.byteLength(text);
      const start = this.#room(bytes);
      this.#buffer.write(text, start, bytes, 'utf8');
      this.#varint(bytes);
    } else this.#varint(length);
    this.#varint(number * 8 + 2);
  }

  bytes(number: number, bytes: Uint8Array): void {
    this.raw(bytes);
    this.#varint(bytes.length);
    this.#varint(number * 8 + 2);
  }

  /** Bytes as they are. */
  raw(bytes: Uint8Array): void {
    const at = this.#room(bytes.length);
    this.#buffer.set(bytes, at);
  }

  bool(number: number, value: boolean): void {
    this.#varint(value ? 1 : 0);
    this.#varint(number * 8);
  }

  /** A whole number; a negative one takes ten bytes, as ever in Protobuf. */
  integer(number: number, value: number | bigint): void {
    if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) this.#varint(value);
    else this.#bigVarint(BigInt.asUintN(64, BigInt(value)));
    this.#varint(number * 8);
  }

  double(number: number, value: number): void {
    const at = this.#room(8);
    this.#buffer.writeDoubleLE(value, at);
    this.#varint(number * 8 + 1);
  }

  #varint(value: number): void {
    if (value < 0x80) {
      const at = this.#room(1);
      this.#buffer[at] = value;
      return;
    }
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    let at = this.#room(size);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#buffer[at++] = (rest % 0x80) + 0x80;
    this.#buffer[at] = rest;
  }

  #bigVarint(value: bigint): void {
    const bytes: number[] = [];
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) + 0x80);
    bytes.push(Number(rest));
    this.raw(Uint8Array.from(bytes));
  }

  /** The position of the next bytes. */
  #room(size: number): number {
    if (size > this.#at) {
      const old = this.#buffer;
      const used = this.length;
      const grown = Buffer.allocUnsafe(Math.max(old.length * 2, used + size));
      old.copy(grown, grown.length - used, this.#at);
      this.#buffer = grown;
      this.#at = grown.length - used;
    }
    this.#at -= size;
    return this.#at;
  }
}
