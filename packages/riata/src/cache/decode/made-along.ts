/** How many are remembered: as many as come with one read, and more. A power of two. */
const PLACES = 64;

/**
 * Remembers of the last objects along which others they were decoded: these need not be compared with them again. They are
 * asked for in the order in which they came, mostly.
 */
export class MadeAlong {
  readonly #made = new Array<object | undefined>(PLACES).fill(undefined);
  readonly #along = new Array<object | undefined>(PLACES).fill(undefined);
  readonly #equal = new Uint8Array(PLACES);
  #next = 0;
  /** Where the one is that is asked for next, if they come in order. */
  #asked = 0;
  /** Whether what {@link along} was asked for last is equal to what it gave. */
  isEqual = false;

  note(made: object, along: object, isEqual: boolean): void {
    const at = this.#next;
    this.#made[at] = made;
    this.#along[at] = along;
    this.#equal[at] = isEqual ? 1 : 0;
    this.#next = (at + 1) & (PLACES - 1);
  }

  /** What the object was decoded along; undefined if it was not, or too long ago. It is forgotten then. */
  along(made: object): object | undefined {
    let at = this.#asked;
    if (this.#made[at] !== made) at = this.#made.indexOf(made);
    if (at < 0) return undefined;
    const along = this.#along[at];
    this.isEqual = this.#equal[at] === 1;
    this.#made[at] = undefined;
    this.#along[at] = undefined;
    this.#asked = (at + 1) & (PLACES - 1);
    return along;
  }
}
