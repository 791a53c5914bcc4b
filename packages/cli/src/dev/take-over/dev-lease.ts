import type { ConnectedClient } from 'riata';
import { Lease } from 'riata/kinds';
import { isAlreadyExists, isConflict } from 'riata/rest';
import type { Runtime } from 'riata/runtime';
import { CommandError } from '../../command/command-error.js';

const leaseSeconds = 30;
const renewMs = 10_000;

/** Whose place is taken, and by whom. */
export interface TakeOverParts {
  readonly client: ConnectedClient;
  /** The Deployment. */
  readonly name: string;
  readonly namespace: string;
  /** Who runs `riata dev`: person, machine, process. */
  readonly holder: string;
  readonly clock: Runtime['clock'];
  /** For warnings while it holds the place. */
  readonly note: (line: string) => void;
  readonly signal: AbortSignal;
}

/** The key of a Lease. */
export interface LeaseKey {
  readonly namespace: string;
  readonly name: string;
}

/** The place of a deployed operator, until it is given back. */
export interface TakenPlace {
  /** The identity for the leader election of the operator that runs here. */
  readonly identity: string;
  /**
   * Call it before the operator starts with leader election: {@link giveBack} then releases its Lease, also after a crash.
   */
  lead(lease: LeaseKey): Promise<void>;
  /** Leaves the deployed operator as it was. */
  giveBack(): Promise<void>;
}

/** The parts that are needed to find the Lease of {@link holdDevLease}. */
export type DevLeaseParts = Pick<TakeOverParts, 'client' | 'name' | 'namespace' | 'holder' | 'clock'>;

/** Holds the Lease `NAME-riata-dev`, which keeps two developers from taking the same place, until `end` is called. */
export async function holdDevLease(parts: TakeOverParts): Promise<{ end(): Promise<void> }> {
  await acquire(parts);
  const renewing = new AbortController();
  const renewed = renew(parts, renewing.signal);
  return {
    end: async () => {
      renewing.abort();
      await renewed;
    },
  };
}

/** The Lease of {@link holdDevLease}, if there is one. Throws if another developer holds it. */
export async function findDevLease(parts: DevLeaseParts): Promise<Lease | undefined> {
  const lease = await parts.client.find(Lease, devLeaseKey(parts));
  refuseOther(parts, lease);
  return lease;
}

/** The key of the Lease of {@link holdDevLease}. */
export function devLeaseKey({ name, namespace }: Pick<DevLeaseParts, 'name' | 'namespace'>) {
  return { namespace, name: `${name}-riata-dev` };
}

/** A time as Leases have it. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

async function acquire(parts: TakeOverParts): Promise<void> {
  const { client, name, namespace, holder, clock, signal } = parts;
  const known = await findDevLease(parts);
  const now = microTime(clock.now());
  const spec = { holderIdentity: holder, leaseDurationSeconds: leaseSeconds, acquireTime: now, renewTime: now };
  try {
    if (known === undefined) await client.create(Lease({ metadata: devLeaseKey(parts), spec }), { signal });
    else await client.update({ ...known, spec } as never, { signal });
  } catch (error) {
    if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    throw new CommandError(`another riata dev is taking over ${namespace}/${name}; try again`, { cause: error });
  }
}

async function renew(parts: TakeOverParts, signal: AbortSignal): Promise<void> {
  const { client, clock, note } = parts;
  const key = devLeaseKey(parts);
  for (let failed = false; ; ) {
    await clock.sleep(renewMs, { signal, background: true }).catch(() => {});
    if (signal.aborted) return;
    try {
      await client.patch(Lease, key, { type: 'merge', body: { spec: { renewTime: microTime(clock.now()) } } });
      failed = false;
    } catch (error) {
      if (!failed) note(`cannot renew Lease ${key.namespace}/${key.name}: ${(error as Error).message}`);
      failed = true;
    }
  }
}

function refuseOther(
  { name, namespace, holder, clock }: Pick<TakeOverParts, 'name' | 'namespace' | 'holder' | 'clock'>,
  lease: Lease | undefined,
): void {
  const { holderIdentity, renewTime, leaseDurationSeconds = leaseSeconds } = lease?.spec ?? {};
  if (!holderIdentity || holderIdentity === holder || renewTime === undefined) return;
  const ageMs = clock.now() - Date.parse(renewTime);
  if (ageMs > leaseDurationSeconds * 1000) return;
  const age = `${Math.max(0, Math.round(ageMs / 1000))} s ago`;
  throw new CommandError(
    `${namespace}/${name} is taken over by riata dev of ${holderIdentity}, renewed ${age}; stop that one, or wait ${leaseDurationSeconds} s if it has crashed`,
  );
}
