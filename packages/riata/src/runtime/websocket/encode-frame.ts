import { applyMask } from './frame-parser.js';

/**
 * Encodes one unfragmented frame whose payload is `prefix` followed by `payload`. With a `mask`, as clients must send,
 * the payload is masked; `payload` itself stays unchanged.
 */
export function encodeFrame(
  opcode: number,
  payload: Uint8Array,
  { prefix, mask }: { readonly prefix?: number | undefined; readonly mask?: Uint8Array | undefined } = {},
): Uint8Array {
  const length = payload.length + (prefix === undefined ? 0 : 1);
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const masked = mask === undefined ? 0 : 4;
  const start = 2 + extended + masked;
  const frame = new Uint8Array(start + length);
  frame[0] = 0x80 | opcode;
  frame[1] = (mask === undefined ? 0 : 0x80) | (extended === 0 ? length : extended === 2 ? 126 : 127);
  const view = new DataView(frame.buffer);
  if (extended === 2) view.setUint16(2, length);
  else if (extended === 8) view.setBigUint64(2, BigInt(length));
  if (mask !== undefined) frame.set(mask, 2 + extended);
  if (prefix !== undefined) frame[start] = prefix;
  frame.set(payload, start + (prefix === undefined ? 0 : 1));
  if (mask !== undefined) applyMask(frame.subarray(start), mask);
  return frame;
}
