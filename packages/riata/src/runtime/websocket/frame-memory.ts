import { Buffer } from 'node:buffer';
import { maxFrameHead } from './encode-frame.js';

/** Frames of at least this length are encoded in memory that is used again. */
const leastBytes = 16 * 1024;
/** As much is kept for later. */
const kept = 4;
const maxInUse = 16;

/**
 * Memory for long frames. A frame's memory is free again when everything that was written has left the process, which
 * is known when the connection has drained: new memory for each frame would cost as much as sending it.
 */
export class FrameMemory {
  #free: Uint8Array[] = [];
  #inUse: Uint8Array[] = [];

  /** Memory for a frame with a payload of this length; undefined for a short one. */
  take(payloadBytes: number): Uint8Array | undefined {
    const needed = payloadBytes + 1 + maxFrameHead;
    if (needed < leastBytes) return undefined;
    const free = this.#free.pop();
    const memory = free !== undefined && free.length >= needed ? free : Buffer.allocUnsafeSlow(needed);
    // Where the connection never waits, it never drains: what was taken long ago is left to the garbage collector.
    if (this.#inUse.length >= maxInUse) this.#inUse = [];
    this.#inUse.push(memory);
    return memory;
  }

  /** Nothing that was written waits any more. */
  release(): void {
    for (const memory of this.#inUse) if (this.#free.length < kept) this.#free.push(memory);
    this.#inUse = [];
  }
}
