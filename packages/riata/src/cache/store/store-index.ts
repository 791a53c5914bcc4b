/** The keys of one value: most indexes by a unique thing have one key each, and a `Set` for it costs 200 bytes. */
type Keys = string | Set<string>;

const none: readonly string[] = [];

/** The values of an object in an index (`cache.IndexFunc`). None: it is not in the index. Must always say the same. */
export type IndexFunc<in T> = (obj: T) => readonly string[];

/** The values as a store files the object, which is under none if the function fails. */
export function filedUnder<T>(func: IndexFunc<T>, obj: T): readonly string[] {
  try {
    const values = func(obj);
    return Array.isArray(values) ? values : none;
  } catch {
    return none;
  }
}

/** Called with the errors of index functions; the object is under no value then. */
export type IndexErrorFunc<in T> = (error: unknown, index: string, key: string, obj: T) => void;

/** Index functions by the name of their index (`cache.Indexers`). */
export type Indexers<in T> = Readonly<Record<string, IndexFunc<T>>>;

/** One index of a store: value → keys of the objects that have it. Values without objects are not kept. */
export class StoreIndex<in T> {
  readonly name: string;
  readonly func: IndexFunc<T>;
  readonly #keys = new Map<string, Keys>();
  readonly #onError: IndexErrorFunc<T> | undefined;
  /** Keys of objects that are under no value as the function failed for them. */
  readonly #unindexed = new Set<string>();

  constructor(name: string, func: IndexFunc<T>, onError?: IndexErrorFunc<T>) {
    this.name = name;
    this.func = func;
    this.#onError = onError;
  }

  /** Whether an object is missing as the function failed for it. */
  isUnindexed(key: string): boolean {
    return this.#unindexed.has(key);
  }

  /** As {@link valuesOf}; undefined if the function fails and failures are reported. */
  valuesFor(obj: T, key: string): readonly string[] | undefined {
    if (this.#onError === undefined) return this.valuesOf(obj, key);
    try {
      return this.func(obj);
    } catch (error) {
      this.#onError(error, this.name, key, obj);
      return undefined;
    }
  }

  /** The object's values; throws an error that names index and object if the function fails. */
  valuesOf(obj: T, key: string): readonly string[] {
    try {
      const values = this.func(obj);
      if (Array.isArray(values)) return values;
      throw new TypeError(`expected an array of strings, got ${values === null ? 'null' : typeof values}`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`index ${JSON.stringify(this.name)} of object ${JSON.stringify(key)}: ${why}`, { cause: error });
    }
  }

  /** Files the object under its new values instead of those of `old`; under none if there are no values. */
  move(key: string, old: T | undefined, values: readonly string[] | undefined): void {
    const before = old === undefined ? none : this.#earlierValues(key, old);
    if (values === undefined) this.#unindexed.add(key);
    else if (this.#unindexed.size > 0) this.#unindexed.delete(key);
    this.#file(key, before, values ?? none);
  }

  #file(key: string, before: readonly string[], values: readonly string[]): void {
    // Nearly always one value, and nearly always the same as before.
    if (before.length === 1 && values.length === 1 && before[0] === values[0]) return;
    for (let at = 0; at < before.length; at += 1) {
      const value = before[at] ?? '';
      if (!values.includes(value)) this.#remove(value, key);
    }
    for (let at = 0; at < values.length; at += 1) this.#add(values[at] ?? '', key);
  }

  /** Every value that an object has. */
  values(): string[] {
    return [...this.#keys.keys()];
  }

  /** Keys of the objects with this value. Not a copy. */
  keys(value: string): Iterable<string> {
    const keys = this.#keys.get(value);
    if (keys === undefined) return none;
    return typeof keys === 'string' ? [keys] : keys;
  }

  /** A function that now fails on what it took before says nothing: look everywhere. */
  #earlierValues(key: string, old: T): readonly string[] {
    if (this.#unindexed.size > 0 && this.#unindexed.has(key)) return none;
    try {
      return this.valuesOf(old, key);
    } catch {
      return this.values().filter((value) => [...this.keys(value)].includes(key));
    }
  }

  #add(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys === undefined) this.#keys.set(value, key);
    else if (typeof keys !== 'string') keys.add(key);
    else if (keys !== key) this.#keys.set(value, new Set([keys, key]));
  }

  #remove(value: string, key: string): void {
    const keys = this.#keys.get(value);
    if (keys === key) this.#keys.delete(value);
    // An emptied set has to go: values that come and go would pile up.
    else if (typeof keys === 'object' && keys.delete(key) && keys.size === 0) this.#keys.delete(value);
  }
}
