import { Stamped } from '../../object/value/stamped.js';

type Keys = readonly (string | undefined)[];

/** Changes that come out of a queue together, with the keys that the queue knows already: a private field, seen by nobody. */
class KeyedBatch extends Stamped {
  #keys: Keys;

  constructor(batch: readonly unknown[], keys: Keys) {
    super(batch);
    this.#keys = keys;
  }

  static keysOf(batch: readonly unknown[]): Keys | undefined {
    return #keys in batch ? batch.#keys : undefined;
  }
}

/** Notes the keys of the objects that the changes are about, in the same order. */
export function noteKeys(batch: readonly unknown[], keys: Keys): void {
  new KeyedBatch(batch, keys);
}

/** What was noted; undefined for changes that come from elsewhere. */
export function keysOf(batch: readonly unknown[]): Keys | undefined {
  return KeyedBatch.keysOf(batch);
}
