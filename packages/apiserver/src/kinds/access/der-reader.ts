import { Buffer } from 'node:buffer';

/** Thrown for bytes that are not what they should be, with the words of Go's `encoding/asn1`. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

const tags = { integer: 2, bits: 3, identifier: 6, sequence: 16, set: 17 } as const;

interface Header {
  readonly class: number;
  readonly tag: number;
  readonly compound: boolean;
  readonly length: number;
  /** Where the contents begin. */
  readonly start: number;
}

/** Reads the elements of a DER text one after the other. */
export class DerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The contents of the next element. `type` is what Go would read it into. */
  inside(kind: keyof typeof tags, type: string): DerReader {
    const { start, length } = this.#next(kind, type);
    return new DerReader(this.#bytes.subarray(start, start + length));
  }

  /** The next element with its header. */
  whole(kind: keyof typeof tags, type: string): Buffer {
    const from = this.#at;
    this.#next(kind, type);
    return this.#bytes.subarray(from, this.#at);
  }

  /** A string of whole bytes. */
  bits(): Buffer {
    const { start, length } = this.#next('bits', 'asn1.BitString');
    if (length === 0) throw new DerError('asn1: syntax error: zero length BIT STRING');
    return this.#bytes.subarray(start + 1, start + length);
  }

  /** An object identifier, with dots. */
  identifier(): string {
    const { start, length } = this.#next('identifier', 'asn1.ObjectIdentifier');
    const parts: number[] = [];
    let part = 0;
    for (const byte of this.#bytes.subarray(start, start + length)) {
      part = part * 128 + (byte & 0x7f);
      if (byte >= 0x80) continue;
      if (parts.length > 0) parts.push(part);
      else parts.push(Math.min(Math.floor(part / 40), 2), part - 40 * Math.min(Math.floor(part / 40), 2));
      part = 0;
    }
    return parts.join('.');
  }

  /** A string of characters, whichever of ASN.1's types it has. */
  text(): string {
    const { start, length, tag } = this.#header();
    this.#at = start + length;
    // BMPString has two bytes for each character, all others are read as UTF-8.
    const bytes = this.#bytes.subarray(start, start + length);
    return tag === 30 ? Buffer.from(bytes).swap16().toString('utf16le') : bytes.toString('utf8');
  }

  /** Whether something follows. */
  hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  /** Nothing may follow. */
  end(): void {
    if (this.#at < this.#bytes.length) throw new DerError('asn1: syntax error: trailing data');
  }

  #next(kind: keyof typeof tags, type: string): Header {
    if (this.#at >= this.#bytes.length) throw new DerError('asn1: syntax error: sequence truncated');
    const header = this.#header();
    const isCompound = kind === 'sequence' || kind === 'set';
    if (header.class !== 0 || header.tag !== tags[kind] || header.compound !== isCompound) {
      const found = `{class:${header.class} tag:${header.tag} length:${header.length} isCompound:${header.compound}}`;
      throw new DerError(
        `asn1: structure error: tags don't match (${tags[kind]} vs ${found}) ${plainField} ${type} @${header.start}`,
      );
    }
    if (header.start + header.length > this.#bytes.length) throw new DerError('asn1: syntax error: data truncated');
    this.#at = header.start + header.length;
    return header;
  }

  #header(): Header {
    const first = this.#byte(this.#at);
    const tag = first & 0x1f;
    if (tag === 0x1f) throw new DerError('asn1: structure error: high-tag-number form is not expected here');
    const short = this.#byte(this.#at + 1);
    const count = short < 0x80 ? 0 : short & 0x7f;
    if (short === 0x80) throw new DerError('asn1: syntax error: indefinite length found (not DER)');
    if (count > 4) throw new DerError('asn1: structure error: length too large');
    let length = count === 0 ? short : 0;
    for (let i = 0; i < count; i += 1) length = length * 256 + this.#byte(this.#at + 2 + i);
    return { class: first >> 6, tag, compound: (first & 0x20) !== 0, length, start: this.#at + 2 + count };
  }

  #byte(at: number): number {
    const byte = this.#bytes[at];
    if (byte === undefined) throw new DerError('asn1: syntax error: truncated tag or length');
    return byte;
  }
}

/** How Go shows a field of which nothing special is said. */
const plainField =
  '{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 ' +
  'timeType:0 set:false omitEmpty:false}';
