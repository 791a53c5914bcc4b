/**
 * Base of classes that put private fields on an object that exists already: the constructor returns its argument. Such a
 * field has no key and no symbol, freezing leaves it alone, copies don't have it, and it costs a word where an entry of a
 * WeakMap costs fifty bytes and time in every garbage collection.
 */
export class Stamped {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the point of it
    return object;
  }
}
