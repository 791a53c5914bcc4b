/** Chance as an argument, so that a test with a seed sees the same run again. */
export interface Random {
  /** A number from 0 up to but not including 1. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  /** A version 4 UUID in lower case. */
  uuid(): string;
  /**
   * A span of at least `base` and less than `base * (1 + factor)`. Go: `wait.Jitter`, except that a factor of 0 means
   * none.
   */
  jitter(base: number, factor: number): number;
  /** One of `items`. Throws if they are empty. */
  pick<T>(items: readonly T[]): T;
  /** The same items in another order, as a new array. */
  shuffle<T>(items: readonly T[]): T[];
}

function createRandom(next: () => number, uuid: () => string): Random {
  const int = (min: number, max: number): number => {
    if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || max < min) {
      throw new RangeError(`Random.int: min and max must be integers with min ≤ max, got ${min} and ${max}`);
    }
    return min + Math.floor(next() * (max - min + 1));
  };
  return Object.freeze({
    next,
    int,
    uuid,
    jitter: (base: number, factor: number) => base * (1 + factor * next()),
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new RangeError('Random.pick: items must not be empty');
      return items[int(0, items.length - 1)] as T;
    },
    shuffle<T>(items: readonly T[]): T[] {
      const result = [...items];
      for (let at = result.length - 1; at > 0; at -= 1) {
        const other = int(0, at);
        [result[at], result[other]] = [result[other] as T, result[at] as T];
      }
      return result;
    },
  });
}

/** Chance that cannot be repeated. Its UUIDs are cryptographically random; `next` and the rest are not. */
export const systemRandom: Random = createRandom(
  () => Math.random(),
  () => crypto.randomUUID(),
);

/** Spreads a seed over 32-bit words: FNV-1a over its text, then splitmix32. */
function wordsOf(seed: number | string): () => number {
  let state = 0x811c9dc5;
  for (const char of `${typeof seed}:${seed}`) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let word = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    return word ^ (word >>> 16);
  };
}

/**
 * Chance that repeats: one seed, one sequence, on every machine (sfc32). For tests and simulation only; its UUIDs can
 * be guessed.
 */
export function seededRandom(seed: number | string): Random {
  const word = wordsOf(seed);
  let a = word();
  let b = word();
  let c = word();
  let counter = 1;
  const next32 = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round += 1) next32();

  const next = (): number => ((next32() >>> 5) * 2 ** 26 + (next32() >>> 6)) / 2 ** 53;
  const uuid = (): string => {
    const hex = Array.from({ length: 4 }, () => next32().toString(16).padStart(8, '0')).join('');
    const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3];
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  return createRandom(next, uuid);
}
