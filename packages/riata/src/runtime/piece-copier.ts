import { Buffer } from 'node:buffer';

/** Pieces of at least this length share memory: shorter ones would hold on to much more than they are. */
const leastBytes = 4 * 1024;
const slabBytes = 128 * 1024;

/** Copies pieces that outlive their memory. Many of them share one allocation: each one of its own costs more than the copy. */
export class PieceCopier {
  #slab: Buffer = Buffer.alloc(0);
  #at = 0;

  copy(piece: Uint8Array): Uint8Array {
    if (piece.length < leastBytes || piece.length > slabBytes) return new Uint8Array(piece);
    if (this.#at + piece.length > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(slabBytes);
      this.#at = 0;
    }
    this.#slab.set(piece, this.#at);
    this.#at += piece.length;
    return this.#slab.subarray(this.#at - piece.length, this.#at);
  }
}
