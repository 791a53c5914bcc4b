/** Shorter pieces are copied: they would hold on to much more memory than their own. */
const leastBytes = 4 * 1024;

/** A piece of bytes that were received, for a reader that may keep it: in place, unless it is short. */
export function pieceToKeep(piece: Uint8Array): Uint8Array {
  return piece.length < leastBytes ? new Uint8Array(piece) : piece;
}
