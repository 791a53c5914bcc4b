/**
 * Remembers what was made or asked for of late, up to a limit. It holds two halves: when the younger is full, the older
 * is forgotten, and what is asked for meanwhile moves over.
 */
export class RecentCache<K, V> {
  readonly #halfLimit: number;
  readonly #weigh: (value: V) => number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  #weight = 0;

  /** @param limit of all values together, as `weigh` counts them */
  constructor(limit: number, weigh: (value: V) => number) {
    this.#halfLimit = limit / 2;
    this.#weigh = weigh;
  }

  /** What is remembered, or else what `make` gives, which is remembered from now on. */
  get(key: K, make: () => V): V {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const value = this.#old.get(key) ?? make();
    if (this.#weight > this.#halfLimit) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#weight = 0;
    }
    this.#young.set(key, value);
    this.#weight += this.#weigh(value);
    return value;
  }
}
