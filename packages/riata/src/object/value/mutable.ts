type Leaf = string | number | bigint | boolean | symbol | null | undefined | ((...args: never[]) => unknown);

/**
 * `T` with `readonly` taken off all the way down: through objects, records, arrays, tuples, optional members and
 * unions. Only `clone` and `edit` hand such a type out, since only they make a copy that may be changed.
 *
 * TypeScript lets a read-only object pass where a changeable one is asked for (`const m: Mutable<Pod> = pod` compiles
 * for objects, though not for arrays), so the type is a help, not a guard: the guard is that objects handed out by a
 * cache are frozen.
 */
export type Mutable<T> = T extends Leaf
  ? T
  : T extends readonly unknown[]
    ? MutableList<T>
    : T extends object
      ? { -readonly [K in keyof T]: Mutable<T[K]> }
      : T;

// Written apart from tuples: as an array the element type is looked at only when asked for, so recursive types end.
type MutableList<T extends readonly unknown[]> = number extends T['length']
  ? Mutable<T[number]>[]
  : { -readonly [K in keyof T]: Mutable<T[K]> };
