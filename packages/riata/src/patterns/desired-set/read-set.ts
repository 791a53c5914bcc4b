import type { Client } from '../../client/interfaces.js';
import { formatGvk } from '../../object/gvk.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { isForbidden, isNotFound } from '../../rest/errors/error-guards.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { forEachSliced } from '../../runtime/time/sliced-work.js';
import type { ApplySetOptions } from './apply-options.js';
import { type ApplyFailure, type DesiredMember, memberId, memberOf, type SetMember } from './apply-result.js';
import { inParallel } from './in-parallel.js';
import type { SetIdentity } from './set-identity.js';
import { isMember, ownSet } from './set-membership.js';

/** An object of the set as it is stored. */
export interface Existing extends SetMember {
  readonly object: KubeObject;
}

/** The objects of a set in the cluster. */
export interface ReadSet {
  readonly existing: ReadonlyMap<string, Existing>;
  /** Objects that carry the label of the set and do not belong to it: another set's, or copies that users made. */
  readonly foreign: readonly SetMember[];
  /** Kinds that could not be read: their objects are unknown, so none of them is deleted. */
  readonly failures: readonly ApplyFailure[];
}

/**
 * Reads all objects of a set, of the kinds given: from the cache where that holds them. Objects with the label that the
 * set does not own are left out. Caches cut managedFields, so what comes from there may still be a copy: see
 * {@link confirmMembers}.
 */
export async function readSet(
  clock: Scheduler,
  client: Client,
  kinds: readonly KindRef[],
  desired: readonly DesiredMember[],
  identity: SetIdentity,
  options: ApplySetOptions & { readonly concurrency: number },
): Promise<ReadSet> {
  const existing = new Map<string, Existing>();
  const failures: ApplyFailure[] = [];
  const foreign: SetMember[] = [];
  const set = ownSet(identity, options);
  await inParallel(clock, kinds, options.concurrency, async (kind) => {
    try {
      const { isCached, objects } = await readKind(client, kind, desired, identity, options);
      await forEachSliced(clock, objects, (object) => {
        const member = memberOf({ ...object.metadata, kind });
        if (isMember(object, set) ?? isCached) existing.set(memberId(member), { ...member, object });
        else foreign.push(member);
      });
    } catch (error) {
      options.signal?.throwIfAborted();
      // Not served yet: its definition is part of the set, or was deleted with all its objects.
      if (!isNotFound(error)) failures.push({ member: { kind, name: '*' }, action: 'list', error });
    }
  });
  return { existing, foreign, failures };
}

async function readKind(
  client: Client,
  kind: KindRef,
  desired: readonly DesiredMember[],
  { selector }: SetIdentity,
  options: ApplySetOptions,
): Promise<{ readonly isCached: boolean; readonly objects: readonly KubeObject[] }> {
  const { listerNamespace, signal, cache, caching = 'held', owner } = options;
  const isNamespaced = kind.scope === 'Namespaced';
  const namespace = isNamespaced ? listerNamespace : undefined;
  const query = {
    ...(namespace === undefined ? {} : { namespace }),
    labelSelector: selector,
    signal,
  };
  if (cache !== undefined && caching === 'dynamic' && !cache.holds(kind)) cache.use(kind);
  if (cache?.holds(kind)) return { isCached: true, objects: (await cache.list(kind, query)).items };
  if (caching === 'strict') {
    throw new Error(`${formatGvk(kind.gvk)} is not in the cache and caching is 'strict'; add the kind to the cache`);
  }
  try {
    return { isCached: false, objects: (await client.list(kind, query)).items };
  } catch (error) {
    // Who may not look everywhere may still look where the set is.
    if (!isForbidden(error) || !isNamespaced || namespace !== undefined) throw error;
    const places = new Set(desired.filter((w) => w.kind.kind === kind.kind).flatMap((w) => w.namespace ?? []));
    if (owner?.metadata.namespace !== undefined) places.add(owner.metadata.namespace);
    if (places.size === 0) throw error;
    const lists = await Promise.all([...places].map((place) => client.list(kind, { ...query, namespace: place })));
    return { isCached: false, objects: lists.flatMap(({ items }) => items) };
  }
}

/**
 * Those that belong to the set, read from the server where a cache could not decide. For the few objects that are no
 * longer desired: before anything is deleted or released.
 */
export async function confirmMembers(
  clock: Scheduler,
  client: Client,
  candidates: readonly Existing[],
  identity: SetIdentity,
  options: ApplySetOptions & { readonly concurrency: number },
): Promise<Pick<ReadSet, 'foreign' | 'failures'> & { readonly members: readonly Existing[] }> {
  const { concurrency, signal } = options;
  const set = ownSet(identity, options);
  const found = new Map<Existing, Existing>();
  const failures: ApplyFailure[] = [];
  const foreign: SetMember[] = [];
  await inParallel(clock, candidates, concurrency, async (candidate) => {
    if (isMember(candidate.object, set)) {
      found.set(candidate, candidate);
      return;
    }
    try {
      const object = await client.find(candidate.kind, candidate, { signal });
      if (object === undefined) return;
      if (isMember(object, set)) found.set(candidate, { ...candidate, object });
      else foreign.push(memberOf(candidate));
    } catch (error) {
      signal?.throwIfAborted();
      failures.push({ member: memberOf(candidate), action: 'delete', error });
    }
  });
  return { members: candidates.flatMap((candidate) => found.get(candidate) ?? []), foreign, failures };
}
