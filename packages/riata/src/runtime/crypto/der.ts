import { Buffer } from 'node:buffer';

/** DER: a tag, a length, a content. */
export function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const hex = body.length.toString(16);
  const length = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => element(0x30, ...parts);
export const bitString = (bytes: Uint8Array, unused = 0): Buffer => element(0x03, Buffer.from([unused]), bytes);

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}

/** UTCTime up to 2049, GeneralizedTime after it, as RFC 5280 asks. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, '');
  const short = date.getUTCFullYear() < 2050;
  return element(short ? 0x17 : 0x18, Buffer.from(short ? digits.slice(2) : digits));
}

/** One element of a DER text. */
export interface DerElement {
  readonly tag: number;
  /** The content. */
  readonly content: Buffer;
  /** The same with tag and length. */
  readonly whole: Buffer;
}

/** The elements that follow each other in some bytes. Throws a `SyntaxError` for malformed DER. */
export function readElements(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length; ) {
    const short = bytes[at + 1] ?? 0x80;
    const count = short < 0x80 ? 0 : short & 0x7f;
    if (short === 0x80 || count > 4) throw new SyntaxError('malformed DER: length');
    const start = at + 2 + count;
    const length = count === 0 ? short : Number.parseInt(bytes.toString('hex', at + 2, start) || '0', 16);
    if (start + length > bytes.length) throw new SyntaxError('malformed DER: truncated');
    const tag = bytes[at] as number;
    elements.push({ tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) });
    at = start + length;
  }
  return elements;
}

/** An object identifier, with dots. */
export function readOid({ content }: DerElement): string {
  const parts: number[] = [];
  let part = 0;
  for (const byte of content) {
    part = part * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    if (parts.length > 0) parts.push(part);
    else parts.push(Math.min(Math.floor(part / 40), 2), part - 40 * Math.min(Math.floor(part / 40), 2));
    part = 0;
  }
  return parts.join('.');
}
