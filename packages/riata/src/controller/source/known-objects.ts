import { type Cache, tryCached } from '../../cache/cache.js';
import { notCached } from '../../cache/cache-reader.js';
import type { Operation } from '../../client/operation/operation.js';
import type { Preconditions } from '../../client/options.js';

/** What is known of the object of an operation, as a precondition. */
export type KnownObjects = (operation: Operation) => Preconditions | undefined;

/**
 * Knows objects by a cache, as far as it can answer at once: the UID of the object to delete or replace. Not for
 * patches: a server treats another UID in a patch as a mistake of its author, and with the version, two patches of one
 * reconcile could not be in flight at once.
 */
export function knownObjects(cache: Cache): KnownObjects {
  return ({ verb, kind, namespace, name, subresource }) => {
    if ((verb !== 'delete' && verb !== 'update') || name === undefined || subresource !== undefined) return undefined;
    const known = cache[tryCached](kind, { name, namespace });
    return known === undefined || known === notCached ? undefined : { uid: known.metadata.uid };
  };
}
