import { Buffer } from 'node:buffer';

/** As much of a Buffer as is needed: named here so that declarations do not ask for Node's types. */
interface NativeBytes {
  latin1Slice(start: number, end: number): string;
  utf8Slice(start: number, end: number): string;
  indexOf(value: Uint8Array | number, from: number): number;
  copy(target: Uint8Array, at: number, start: number, end: number): number;
}

/** A Buffer over the same memory, for what Node does in native code. */
export function asBuffer(bytes: Uint8Array): NativeBytes {
  const buffer: unknown = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer as NativeBytes;
}

/** The text of UTF-8 bytes. Malformed sequences become U+FFFD, as in Go. */
export function textOf(bytes: Uint8Array, start: number, end: number): string {
  return asBuffer(bytes).utf8Slice(start, end);
}
