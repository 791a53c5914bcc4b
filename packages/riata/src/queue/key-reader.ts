/**
 * Calls the functions that a queue was given about its keys, and checks their results, as everything else depends on
 * them.
 */
export class KeyReader<K> {
  readonly #queue: string;
  readonly #id: ((key: K) => unknown) | undefined;
  readonly #fairness: ((key: K) => unknown) | undefined;

  constructor(queue: string, id: ((key: K) => unknown) | undefined, fairness: ((key: K) => unknown) | undefined) {
    this.#queue = queue;
    this.#id = id;
    this.#fairness = fairness;
  }

  idOf(key: K): string {
    const id = this.#id === undefined ? key : this.#id(key);
    if (typeof id === 'string') return id;
    throw new TypeError(
      this.#id === undefined
        ? `queue "${this.#queue}": a key of type ${typeName(key)} has no id; ` +
            'give the queue an id function: new WorkQueue({ id: (key) => … })'
        : `queue "${this.#queue}": id has to give a string for each key, gave ${typeName(id)}`,
    );
  }

  /** The same for all keys where there is no `fairness`. */
  groupOf(key: K): string {
    if (this.#fairness === undefined) return '';
    const group = this.#fairness(key);
    if (typeof group === 'string') return group;
    throw new TypeError(
      `queue "${this.#queue}": fairness must return a string for each key, got ${typeName(group)}; ` +
        "give '' for keys without a group",
    );
  }
}

function typeName(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

/** False for NaN: an order over anything but numbers is undefined. */
export function isNumber(value: number): boolean {
  return typeof value === 'number' && !Number.isNaN(value);
}
