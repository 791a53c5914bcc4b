import { type Cache, tryCached } from '../../cache/cache.js';
import { notCached } from '../../cache/cache-reader.js';
import type { Operation } from '../../client/operation/operation.js';
import type { Preconditions } from '../../client/options.js';

/** What is known of the object that an operation is about, so that it happens to that one or to none. */
export type KnownObjects = (operation: Operation) => Preconditions | undefined;

/**
 * Knows objects by a cache, as far as it can tell at once: the UID of what is deleted or replaced. Not of what is patched: a
 * server takes another UID in a patch for a mistake of its author, and with the version, two patches of one reconcile could
 * not be under way at once.
 */
export function knownObjects(cache: Cache): KnownObjects {
  return ({ verb, kind, namespace, name, subresource }) => {
    if ((verb !== 'delete' && verb !== 'update') || name === undefined || subresource !== undefined) return undefined;
    const known = cache[tryCached](kind, { name, namespace });
    return known === undefined || known === notCached ? undefined : { uid: known.metadata.uid };
  };
}
