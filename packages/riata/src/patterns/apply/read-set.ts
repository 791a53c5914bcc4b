import type { Client } from '../../client/interfaces.js';
import { formatGvk } from '../../object/gvk.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { isForbidden, isNotFound } from '../../rest/error-guards.js';
import type { ApplySetOptions } from './apply-options.js';
import { type ApplyFailure, memberId, memberOf, type SetMember, type Wanted } from './apply-result.js';
import { inParallel } from './in-parallel.js';
import type { SetIdentity } from './set-identity.js';

/** An object of the set as it is stored. */
export interface Existing extends SetMember {
  readonly object: KubeObject;
}

/** What the cluster holds of a set. */
export interface ReadSet {
  readonly existing: ReadonlyMap<string, Existing>;
  /** Kinds that could not be read: what is there of them is not known, so nothing of them is deleted. */
  readonly failures: readonly ApplyFailure[];
}

/** Reads all objects of a set, of the kinds given: from the cache where that holds them. */
export async function readSet(
  client: Client,
  kinds: readonly KindRef[],
  wanted: readonly Wanted[],
  identity: SetIdentity,
  options: ApplySetOptions & { readonly concurrency: number },
): Promise<ReadSet> {
  const existing = new Map<string, Existing>();
  const failures: ApplyFailure[] = [];
  await inParallel(kinds, options.concurrency, async (kind) => {
    try {
      for (const object of await readKind(client, kind, wanted, identity, options)) {
        const member = memberOf({ ...object.metadata, kind });
        existing.set(memberId(member), { ...member, object });
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      // Not served yet: its definition is part of the set, or was deleted with all that there was.
      if (!isNotFound(error)) failures.push({ member: { kind, name: '*' }, action: 'list', error });
    }
  });
  return { existing, failures };
}

async function readKind(
  client: Client,
  kind: KindRef,
  wanted: readonly Wanted[],
  { selector }: SetIdentity,
  options: ApplySetOptions,
): Promise<readonly KubeObject[]> {
  const { listerNamespace, signal, cache, caching = 'held', owner } = options;
  const isNamespaced = kind.scope === 'Namespaced';
  const namespace = isNamespaced ? listerNamespace : undefined;
  const query = {
    ...(namespace === undefined ? {} : { namespace }),
    labelSelector: selector,
    cutManagedFields: true,
    signal,
  };
  if (cache !== undefined && caching === 'dynamic' && !cache.holds(kind)) cache.use(kind);
  if (cache?.holds(kind)) return (await cache.list(kind, query)).items;
  if (caching === 'strict') {
    throw new Error(`${formatGvk(kind.gvk)} is not in the cache, and caching is 'strict'; have the cache hold it`);
  }
  try {
    return (await client.list(kind, query)).items;
  } catch (error) {
    // Who may not look everywhere may still look where the set is.
    if (!isForbidden(error) || !isNamespaced || namespace !== undefined) throw error;
    const places = new Set(wanted.filter((w) => w.kind.kind === kind.kind).flatMap((w) => w.namespace ?? []));
    if (owner?.metadata.namespace !== undefined) places.add(owner.metadata.namespace);
    if (places.size === 0) throw error;
    const lists = await Promise.all([...places].map((place) => client.list(kind, { ...query, namespace: place })));
    return lists.flatMap(({ items }) => items);
  }
}
