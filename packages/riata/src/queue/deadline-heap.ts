/**
 * A binary heap of deadlines, each known by a row number that stays the same until it is removed. Columns of plain
 * numbers instead of objects: with a million deadlines the garbage collector has nothing to look at, and comparing
 * two of them touches little memory.
 */
export class DeadlineHeap {
  /** By row. */
  #at = new Float64Array(firstRows);
  /** By row: equal deadlines come in the order of this, which counts around. */
  #order = new Int32Array(firstRows);
  /** By row: its place in `#rows`; for a free row, the next free one or -1. */
  #place = new Int32Array(firstRows);
  /** By place: `#place[#rows[i]] === i`, and none comes before its parent at `(i - 1) >> 1`. */
  #rows = new Int32Array(firstRows);
  #size = 0;
  #used = 0;
  #free = -1;
  #nextOrder = 0;
  /** For how many rows there is room in all columns, and at how many a column is next made longer. */
  #capacity = firstRows;
  #growAt = firstRows / 2;
  #grown = 0;

  get size(): number {
    return this.#size;
  }

  /** How many rows were in use at once at most, which is what memory is held for. */
  get rows(): number {
    return this.#used;
  }

  /** The row with the earliest deadline, or -1. */
  first(): number {
    return this.#size === 0 ? -1 : (this.#rows[0] as number);
  }

  /** The deadline of a row that is in use. */
  at(row: number): number {
    return this.#at[row] as number;
  }

  /** Gives the row of a new deadline. */
  add(at: number): number {
    let row = this.#free;
    if (row >= 0) this.#free = this.#place[row] as number;
    else {
      row = this.#used++;
      if (row === this.#growAt) this.#grow();
    }
    this.#at[row] = at;
    this.#order[row] = this.#nextOrder;
    this.#nextOrder = (this.#nextOrder + 1) | 0;
    this.#rise(row, this.#size++);
    return row;
  }

  /** Frees a row. */
  remove(row: number): void {
    const place = this.#place[row] as number;
    const last = this.#rows[--this.#size] as number;
    if (last !== row) {
      this.#sink(last, place);
      this.#rise(last, this.#place[last] as number);
    }
    this.#place[row] = this.#free;
    this.#free = row;
  }

  /** Moves a deadline to an earlier time. */
  advance(row: number, at: number): void {
    this.#at[row] = at;
    this.#rise(row, this.#place[row] as number);
  }

  /** Frees all rows, and the memory. */
  clear(): void {
    this.#at = new Float64Array(firstRows);
    this.#order = new Int32Array(firstRows);
    this.#place = new Int32Array(firstRows);
    this.#rows = new Int32Array(firstRows);
    this.#size = 0;
    this.#used = 0;
    this.#free = -1;
    this.#capacity = firstRows;
    this.#growAt = firstRows / 2;
    this.#grown = 0;
  }

  /** Doubles one column, long before it is full: all four at once would take 10 ms for a million rows. */
  #grow(): void {
    const rows = this.#capacity * 2;
    if (this.#grown === 0) this.#at = longer(this.#at, new Float64Array(rows));
    else if (this.#grown === 1) this.#order = longer(this.#order, new Int32Array(rows));
    else if (this.#grown === 2) this.#place = longer(this.#place, new Int32Array(rows));
    else this.#rows = longer(this.#rows, new Int32Array(rows));
    this.#grown = (this.#grown + 1) % columns;
    if (this.#grown === 0) this.#capacity = rows;
    this.#growAt = (this.#capacity / 2) * (1 + this.#grown / columns);
  }

  #before(a: number, b: number): boolean {
    const difference = (this.#at[a] as number) - (this.#at[b] as number);
    if (difference !== 0 && !Number.isNaN(difference)) return difference < 0;
    // Infinite deadlines have no difference. The order wraps around, so only the distance of two counts.
    return (((this.#order[a] as number) - (this.#order[b] as number)) | 0) < 0;
  }

  #rise(row: number, from: number): void {
    const rows = this.#rows;
    const places = this.#place;
    let place = from;
    while (place > 0) {
      const up = (place - 1) >> 1;
      const parent = rows[up] as number;
      if (!this.#before(row, parent)) break;
      rows[place] = parent;
      places[parent] = place;
      place = up;
    }
    rows[place] = row;
    places[row] = place;
  }

  #sink(row: number, from: number): void {
    const rows = this.#rows;
    const places = this.#place;
    const size = this.#size;
    let place = from;
    for (;;) {
      let down = 2 * place + 1;
      if (down >= size) break;
      let child = rows[down] as number;
      const other = rows[down + 1] as number;
      if (down + 1 < size && this.#before(other, child)) {
        down += 1;
        child = other;
      }
      if (!this.#before(child, row)) break;
      rows[place] = child;
      places[child] = place;
      place = down;
    }
    rows[place] = row;
    places[row] = place;
  }
}

const firstRows = 16;
const columns = 4;

function longer<T extends Float64Array | Int32Array>(column: T, into: T): T {
  into.set(column);
  return into;
}
