import { Buffer } from 'node:buffer';
import { applyMask } from './frame-parser.js';

/** The longest head of a frame. */
export const maxFrameHead = 14;

/** How a frame is encoded. */
export interface FrameOptions {
  /** A byte before the payload. */
  readonly prefix?: number | undefined;
  /** Four bytes, as clients must send. */
  readonly mask?: Uint8Array | undefined;
  /** Memory for the frame, long enough. @default new memory */
  readonly into?: Uint8Array | undefined;
}

/**
 * Encodes one unfragmented frame whose payload is `prefix` followed by `payload`. With a `mask`, the payload is masked;
 * `payload` itself stays unchanged.
 */
export function encodeFrame(opcode: number, payload: Uint8Array, options: FrameOptions = {}): Uint8Array {
  const { prefix, mask, into } = options;
  const length = payload.length + (prefix === undefined ? 0 : 1);
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const masked = mask === undefined ? 0 : 4;
  const start = 2 + extended + masked;
  const frame = into === undefined ? Buffer.allocUnsafeSlow(start + length) : into.subarray(0, start + length);
  frame[0] = 0x80 | opcode;
  frame[1] = (mask === undefined ? 0 : 0x80) | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended > 0) {
    const view = new DataView(frame.buffer, frame.byteOffset);
    if (extended === 2) view.setUint16(2, length);
    else view.setBigUint64(2, BigInt(length));
  }
  if (mask !== undefined) frame.set(mask, 2 + extended);
  if (prefix !== undefined) frame[start] = prefix;
  frame.set(payload, start + (prefix === undefined ? 0 : 1));
  if (mask !== undefined) applyMask(frame.subarray(start), mask);
  return frame;
}
