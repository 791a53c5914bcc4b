import { Deployment, Lease } from 'riata/kinds';
import { type DevLeaseParts, devLeaseKey, findDevLease } from './dev-lease.js';
import { operatorLeaseOf, releaseLease } from './lease-holder.js';

/** Remembers the replicas of a Deployment while `riata dev` runs in its place. */
export const replicasAnnotation = 'riata.dev/dev-replicas';

/** What a deployed operator got back. */
export interface GivenBack {
  /** The replicas that its Deployment has again. */
  readonly replicas?: string;
  /** The Lease that was released, `namespace/name`. */
  readonly lease?: string;
}

/** Leaves a deployed operator as it was before `riata dev --take-over`, by what the objects in the cluster say. */
export async function giveBack(parts: DevLeaseParts): Promise<GivenBack> {
  const { client, name, namespace } = parts;
  const key = { namespace, name };
  const held = await findDevLease(parts);
  const lease = held && operatorLeaseOf(held);
  const isReleased = lease !== undefined && (await releaseLease(parts, lease.key, lease.identity));
  const found = await client.find(Deployment, key);
  const replicas = found && replicasOf(found);
  if (replicas !== undefined) {
    const metadata = { annotations: { [replicasAnnotation]: null } };
    await client.patch(Deployment, key, {
      type: 'merge',
      body: { metadata, spec: { replicas: Number(replicas) } } as never,
    });
  }
  // Last: while it is held, no other developer takes the place.
  if (held !== undefined) await client.delete(Lease, devLeaseKey(parts)).catch(() => {});
  return {
    ...(replicas !== undefined && { replicas }),
    ...(isReleased && { lease: `${lease.key.namespace}/${lease.key.name}` }),
  };
}

/** The replicas that are remembered. */
export function replicasOf({ metadata }: Deployment): string | undefined {
  const value = metadata.annotations?.[replicasAnnotation];
  return value !== undefined && /^\d+$/.test(value) ? value : undefined;
}
