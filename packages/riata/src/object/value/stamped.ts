/**
 * Base of classes that put private fields on an object that exists already: the constructor returns its argument. Such a
 * field has no key and no symbol, a later freeze leaves it alone, copies don't have it, and it costs a word where an entry
 * of a WeakMap costs fifty bytes and time in every garbage collection.
 *
 * The object must not be frozen yet: a coming edition of ECMAScript refuses new private fields on frozen objects.
 */
export class Stamped {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the point of it
    return object;
  }
}
