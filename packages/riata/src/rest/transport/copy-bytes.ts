/** A copy that outlives its chunk. `chunk.slice()` would not do: on a `Buffer` it gives a view of the same memory. */
export function copyBytes(chunk: Uint8Array): Uint8Array {
  return new Uint8Array(chunk);
}
