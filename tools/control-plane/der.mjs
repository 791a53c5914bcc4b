// @ts-check
// The part of DER (X.690) that certificates need: a writer for a dozen types and a reader of one level at a time.

/** @param {number} tag @param {Uint8Array[]} parts */
export function element(tag, ...parts) {
  const body = Buffer.concat(parts);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = Buffer.from(evenHex(body.length.toString(16)), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

/** @param {Uint8Array[]} parts */
export const sequence = (...parts) => element(0x30, ...parts);

/** @param {Uint8Array[]} parts */
export const set = (...parts) => element(0x31, ...parts);

/** @param {boolean} value */
export const boolean = (value) => element(0x01, Buffer.from([value ? 0xff : 0]));

/** @param {Uint8Array} bytes */
export const octetString = (bytes) => element(0x04, bytes);

/** @param {string} text */
export const utf8String = (text) => element(0x0c, Buffer.from(text));

/**
 * A non-negative INTEGER from its big-endian bytes.
 * @param {Uint8Array} bytes
 */
export function integer(bytes) {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? Buffer.from([0]) : bytes.subarray(first);
  // A leading one bit would read as a minus sign.
  return element(0x02, (digits[0] ?? 0) & 0x80 ? Buffer.from([0]) : Buffer.alloc(0), digits);
}

/** @param {Uint8Array} bytes @param {number} [unusedBits] */
export const bitString = (bytes, unusedBits = 0) => element(0x03, Buffer.from([unusedBits]), bytes);

/**
 * A [n] tag: constructed unless `primitive` is set (an IMPLICIT string type).
 * @param {number} n @param {Uint8Array} body @param {{ primitive?: boolean }} [options]
 */
export const context = (n, body, { primitive = false } = {}) => element((primitive ? 0x80 : 0xa0) | n, body);

/**
 * An OBJECT IDENTIFIER from its dotted form.
 * @param {string} dotted
 */
export function oid(dotted) {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/**
 * UTCTime up to 2049, GeneralizedTime from 2050 on, as RFC 5280 asks.
 * @param {Date} date
 */
export function time(date) {
  const digits = `${date.toISOString().replace(/[-:T]|\.\d+/g, '')}`;
  const year = date.getUTCFullYear();
  const short = year >= 1950 && year < 2050;
  return element(short ? 0x17 : 0x18, Buffer.from(short ? digits.slice(2) : digits));
}

/**
 * The elements inside a constructed element, each with its own header.
 * @param {Buffer} der
 * @returns {Buffer[]}
 */
export function children(der) {
  const parts = [];
  let { start, end } = bounds(der, 0);
  while (start < end) {
    const next = bounds(der, start).end;
    parts.push(der.subarray(start, next));
    start = next;
  }
  return parts;
}

/** Where the content of the element at `at` starts and ends. @param {Buffer} der @param {number} at */
function bounds(der, at) {
  const first = der.readUInt8(at + 1);
  if (first < 0x80) return { start: at + 2, end: at + 2 + first };
  const bytes = first & 0x7f;
  const start = at + 2 + bytes;
  return { start, end: start + der.readUIntBE(at + 2, bytes) };
}

/** @param {number} value */
function base128(value) {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}

/** @param {string} hex */
const evenHex = (hex) => (hex.length % 2 ? `0${hex}` : hex);
