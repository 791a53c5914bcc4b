const brand: unique symbol = Symbol.for('riata.notInShard') as never;

/**
 * The key belongs to another replica. That says nothing about the object: it may well exist. Recognised by a brand:
 * check with {@link isNotInShard}.
 */
export class NotInShard extends Error {
  override readonly name = 'NotInShard';
  readonly [brand] = true;
}

/** True for {@link NotInShard}, also as the cause of an error. */
export function isNotInShard(error: unknown): boolean {
  for (let at = error; typeof at === 'object' && at !== null; at = (at as { cause?: unknown }).cause) {
    if ((at as Partial<NotInShard>)[brand] === true) return true;
  }
  return false;
}
