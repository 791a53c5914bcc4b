import type { Client } from '../../client/interfaces.js';
import { formatGvk, type GroupKind } from '../../object/gvk.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { optionNames } from '../../runtime/option-names.js';
import { memberOf, type SetMember } from './apply-result.js';
import { eachSetObject, type SetObjectsQuery } from './each-set-object.js';
import { inParallel } from './in-parallel.js';
import { type NamedOwner, namedOwner, type SetIdentity, statedIdentity } from './set-identity.js';
import { ownSet } from './set-membership.js';
import { pruneMember } from './set-writer.js';

/** Which sets `purgeOrphans` looks at. */
export interface PurgeOrphansOptions {
  /** Sets of owners of this kind. @default all that have an owner */
  readonly ownerKind?: GroupKind;
  /** Sets of this id. @default all */
  readonly setId?: string;
  readonly signal?: AbortSignal;
}

export const purgeOrphansOptionNames = optionNames<PurgeOrphansOptions>({ ownerKind: true, setId: true, signal: true });

interface Family {
  readonly owner: NamedOwner;
  readonly children: { readonly object: KubeObject; readonly kind: KindRef; readonly identity: SetIdentity }[];
}

/**
 * Deletes the objects of sets whose owner no longer exists; each owner is read once. Resolves to the deleted objects.
 */
export async function purgeOrphans(
  client: Client,
  query: SetObjectsQuery & { readonly fieldManager?: string | undefined },
  { ownerKind, setId }: PurgeOrphansOptions,
  findOwner: (object: KubeObject) => Promise<KubeObject | undefined>,
): Promise<SetMember[]> {
  const families = new Map<string, Family>();
  await eachSetObject(client, query, (object, kind) => {
    const [owner, identity] = [namedOwner(object), statedIdentity(object)];
    if (owner === undefined || identity === undefined || (setId !== undefined && owner.setId !== setId)) return;
    if (ownerKind !== undefined && (owner.gvk.kind !== ownerKind.kind || owner.gvk.group !== ownerKind.group)) return;
    const id = `${formatGvk(owner.gvk)}/${owner.namespace ?? ''}/${owner.name}`;
    const family = families.get(id) ?? { owner, children: [] };
    families.set(id, family);
    family.children.push({ object, kind, identity });
  });
  const purged: SetMember[] = [];
  await inParallel(query.clock, [...families.values()], query.concurrency, async ({ children }) => {
    const [first] = children;
    if (first === undefined || (await findOwner(first.object)) !== undefined) return;
    for (const { object, kind, identity } of children) {
      const member = memberOf({ ...object.metadata, kind });
      if (await pruneMember(client, member, object, ownSet(identity, query), query.signal)) purged.push(member);
    }
  });
  return purged;
}
