/**
 * A cache that approximates least-recently-used eviction with two generations: when the young one is full, the old one
 * is dropped; values that are read move to the young one.
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

  /** Returns the cached value, or caches and returns the result of `make`. */
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
