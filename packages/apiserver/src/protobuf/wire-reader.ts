import { Buffer } from 'node:buffer';

/** Thrown for bytes that are no Protobuf. The message is what Go's decoders say. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** The deepest that messages may be nested. Types that contain themselves (JSON schemas) could go on for ever. */
const maxDepth = 1_000;

/** Reads a Protobuf message, field by field. */
export class WireReader {
  readonly #buffer: Buffer;
  readonly #end: number;
  readonly #depth: number;
  #at: number;
  /** Of the field that {@link next} has come to. */
  number = 0;
  #type = 0;

  constructor(buffer: Buffer, start = 0, end: number = buffer.length, depth = 0) {
    this.#buffer = buffer;
    this.#at = start;
    this.#end = end;
    this.#depth = depth;
    if (depth > maxDepth) throw new WireError('proto: exceeded max depth');
  }

  /** Goes to the next field; its value has to be read or skipped before the one after it. False at the end. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    const tag = this.#varint();
    this.number = Math.floor(tag / 8);
    this.#type = tag % 8;
    if (this.number <= 0) throw new WireError(`proto: illegal tag ${this.number} (wire type ${tag})`);
    return true;
  }

  skip(): void {
    if (this.#type === 0) this.#wide();
    else if (this.#type === 1) this.#take(8);
    else if (this.#type === 2) this.#take(this.#varint());
    else if (this.#type === 5) this.#take(4);
    else throw new WireError(`proto: illegal wireType ${this.#type}`);
  }

  /** Whether the field is bytes, a text, a message, or numbers in a row. */
  get isDelimited(): boolean {
    return this.#type === 2;
  }

  string(): string {
    this.#expect(2);
    const length = this.#varint();
    const at = this.#take(length);
    return this.#buffer.toString('utf8', at, at + length);
  }

  bytes(): Buffer {
    this.#expect(2);
    const length = this.#varint();
    const at = this.#take(length);
    return this.#buffer.subarray(at, at + length);
  }

  message(): WireReader {
    this.#expect(2);
    const length = this.#varint();
    const at = this.#take(length);
    return new WireReader(this.#buffer, at, at + length, this.#depth + 1);
  }

  bool(): boolean {
    this.#expect(0);
    return this.#wide() !== 0n;
  }

  /** A number of 32 or 64 bits; a bigint if JavaScript's numbers would lose it. */
  integer(bits: 32 | 64): number | bigint {
    this.#expect(0);
    return this.nextPacked(bits);
  }

  /** The next of numbers in a row, in the reader that {@link message} gave for them. */
  nextPacked(bits: 32 | 64): number | bigint {
    const value = BigInt.asIntN(bits, this.#wide());
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }

  /** Whether there are more {@link nextPacked numbers in a row}. */
  get hasMore(): boolean {
    return this.#at < this.#end;
  }

  double(): number {
    this.#expect(1);
    return this.#buffer.readDoubleLE(this.#take(8));
  }

  #expect(type: number): void {
    if (this.#type !== type) throw new WireError(`proto: wrong wireType = ${this.#type} for field ${this.number}`);
  }

  #take(length: number): number {
    const at = this.#at;
    if (length > this.#end - at) throw new WireError('unexpected EOF');
    this.#at += length;
    return at;
  }

  /** A tag or a length: at most 32 bits. */
  #varint(): number {
    let value = 0;
    for (let shift = 1; shift < 2 ** 35; shift *= 128) {
      const byte = this.#buffer[this.#take(1)] as number;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
    }
    throw new WireError('proto: integer overflow');
  }

  #wide(): bigint {
    let low = 0;
    for (let shift = 1; shift < 2 ** 49; shift *= 128) {
      const byte = this.#buffer[this.#take(1)] as number;
      low += (byte & 0x7f) * shift;
      if (byte < 0x80) return BigInt(low);
    }
    let value = BigInt(low);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.#buffer[this.#take(1)] as number;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new WireError('proto: integer overflow');
  }
}

/** The bytes as a Buffer, not copied. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
