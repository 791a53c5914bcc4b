/** On every tombstone, whichever copy of the package made it. */
const brand: unique symbol = Symbol.for('riata.DeletedFinalStateUnknown') as never;

/**
 * A tombstone (`cache.DeletedFinalStateUnknown`): the object was deleted while there was no watch, and
 * only a list without it shows that. `obj` is the last known state, which may be older than the deleted one.
 */
export class DeletedFinalStateUnknown<out T> {
  /** The key of the deleted object, by the store's key function. */
  readonly key: string;
  /** The last state that was seen; undefined if even that is not known. */
  readonly obj: T | undefined;

  constructor(key: string, obj?: T) {
    this.key = key;
    this.obj = obj;
  }

  get [brand](): true {
    return true;
  }
}

/** True for a tombstone; otherwise a deletion delivers the object in its final state. */
export function isDeletedFinalStateUnknown(value: unknown): value is DeletedFinalStateUnknown<unknown> {
  return (value as { readonly [brand]?: unknown } | null | undefined)?.[brand] === true;
}
