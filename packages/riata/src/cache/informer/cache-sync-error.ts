import { formatGroupResource } from '../../object/gvk.js';
import type { KindRef } from '../../object/kind.js';

const brand: unique symbol = Symbol.for('riata.CacheSyncError') as never;

/**
 * A cache can't show a kind because the server does not give it, and waiting alone will not help: the message says which
 * kind, why, and what to do. `cause` leads to the server's answer, so `isForbidden(error)` and the
 * like work.
 */
export class CacheSyncError extends Error {
  override readonly name = 'CacheSyncError';
  readonly kind: KindRef;

  constructor(kind: KindRef, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`cannot cache ${formatGroupResource(kind.gvr)}: ${why}`, { cause });
    this.kind = kind;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** True for a {@link CacheSyncError}, also one of another copy of the package. */
export function isCacheSyncError(error: unknown): error is CacheSyncError {
  return typeof error === 'object' && error !== null && brand in error;
}
