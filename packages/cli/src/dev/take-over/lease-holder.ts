import { Lease } from 'riata/kinds';
import { isConflict } from 'riata/rest';
import { type DevLeaseParts, devLeaseKey, type LeaseKey, microTime } from './dev-lease.js';

/** On the Lease of {@link devLeaseKey}: the Lease of the operator that runs in its place. */
const operatorLease = 'riata.dev/dev-lease';

/** As whom `riata dev` holds the Lease of an operator. */
export function leaseIdentity(holder: string): string {
  return `riata dev of ${holder}`;
}

/** Writes down which Lease is about to be acquired, so that it can be released after a crash. */
export async function rememberLease(parts: DevLeaseParts, { namespace, name }: LeaseKey): Promise<void> {
  const metadata = { annotations: { [operatorLease]: `${namespace}/${name}` } };
  await parts.client.patch(Lease, devLeaseKey(parts), { type: 'merge', body: { metadata } });
}

/** The Lease that {@link rememberLease} has recorded, and its holder; undefined without a record. */
export function operatorLeaseOf({ metadata, spec }: Lease): { key: LeaseKey; identity: string } | undefined {
  const [namespace, name] = metadata.annotations?.[operatorLease]?.split('/') ?? [];
  if (!namespace || !name || !spec?.holderIdentity) return undefined;
  return { key: { namespace, name }, identity: leaseIdentity(spec.holderIdentity) };
}

/** Releases a Lease, as a leader does that stops; false if it is held by another identity. */
export async function releaseLease(
  { client, clock }: Pick<DevLeaseParts, 'client' | 'clock'>,
  key: LeaseKey,
  identity: string,
): Promise<boolean> {
  for (;;) {
    const lease = await client.find(Lease, key);
    if (lease?.spec?.holderIdentity !== identity) return false;
    const { holderIdentity: _, ...rest } = lease.spec;
    const now = microTime(clock.now());
    const spec = { ...rest, leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
    try {
      await client.update({ ...lease, spec } as never);
      return true;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}
