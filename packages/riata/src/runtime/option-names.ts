declare const of: unique symbol;

/** The names that options of type `T` may have; made by {@link optionNames}. */
export class OptionNames<T extends object = object> {
  /** Only for the compiler: never there at run time. */
  declare readonly [of]?: T;
  readonly #names: ReadonlySet<string>;

  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#names[Symbol.iterator]();
  }

  /** The names of options `U` that extend these: `names` lists the additional ones of `U`. */
  and<U extends object>(
    names: [Exclude<keyof T, keyof U>] extends [never]
      ? { readonly [N in Exclude<keyof Required<U>, keyof T>]: true }
      : never,
  ): OptionNames<U> {
    return new OptionNames([...this.#names, ...Object.keys(names)]);
  }

  /** The names of options that extend both. */
  with<V extends object>(others: OptionNames<V>): OptionNames<T & V> {
    return new OptionNames([...this.#names, ...others]);
  }
}

/**
 * The names of all options of `T`, for {@link refuseUnknownOptions}. A name that is missing or too many does not compile,
 * so that a new option cannot be forgotten here.
 */
export function optionNames<T extends object>(names: { readonly [N in keyof Required<T>]: true }): OptionNames<T> {
  return new OptionNames(Object.keys(names));
}

/**
 * Throws a `TypeError` if an options object has a name that no option has, such as `concurency`: taken silently, it would
 * leave the default in place. The value does not matter: a misspelt name with an undefined value is refused as well.
 *
 * @param subject what the options are of, as errors name it: `controller "web"`
 */
export function refuseUnknownOptions(subject: string, given: object | undefined, known: OptionNames): void {
  if (given === undefined) return;
  // Own names alone: an AbortController is a fine `{ signal }`, and inherits `abort`.
  for (const name of Object.keys(given)) if (!known.has(name)) throw unknownOption(subject, name, known);
}

function unknownOption(subject: string, name: string, known: OptionNames): TypeError {
  const nearest = nearestName(name, known);
  const remedy =
    nearest === undefined ? `known options are ${[...known].sort().join(', ')}` : `did you mean "${nearest}"?`;
  return new TypeError(`${subject}: unknown option "${name}"; ${remedy}`);
}

/** The name that takes the fewest edits, if it takes no more than a third of its letters. */
function nearestName(name: string, known: OptionNames): string | undefined {
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const edits = editsBetween(name.toLowerCase(), candidate.toLowerCase());
    if (edits >= fewest || edits > Math.max(1, candidate.length / 3)) continue;
    nearest = candidate;
    fewest = edits;
  }
  return nearest;
}

/** Letters to insert, remove, replace or swap with their neighbour. */
function editsBetween(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const edits = [(last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + (isSame ? 0 : 1)];
      if (isSwapped) edits.push((before[j - 2] as number) + 1);
      row.push(Math.min(...edits));
    }
    before = last;
    last = row;
  }
  return last[b.length] as number;
}
