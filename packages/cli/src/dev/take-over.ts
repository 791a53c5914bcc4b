import type { ConnectedClient } from 'riata';
import { Deployment, Lease } from 'riata/kinds';
import { isAlreadyExists, isConflict } from 'riata/rest';
import type { Runtime } from 'riata/runtime';
import { CommandError } from '../command/command-error.js';

/** Remembers the replicas of a Deployment while `riata dev` runs in its place. */
export const replicasAnnotation = 'riata.dev/dev-replicas';

const leaseSeconds = 30;
const renewMs = 10_000;
const scaleDownMs = 120_000;
const lookAgainMs = 500;

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

/** The place of a deployed operator, until it is given back. */
export interface TakenPlace {
  /** Starts the deployed operator again, as it was. */
  giveBack(): Promise<void>;
}

/**
 * Scales a deployed operator to zero, and resolves when its Pods are gone. Its replicas are kept in an annotation, so that
 * {@link giveBack} finds them after a crash, and a Lease keeps two developers from taking the same place. Undefined if the
 * operator is not deployed.
 */
export async function takeOver(parts: TakeOverParts): Promise<TakenPlace | undefined> {
  const { client, name, namespace, clock, note, signal } = parts;
  const key = { namespace, name };
  const found = await client.find(Deployment, key, { signal });
  if (found === undefined) return undefined;
  await acquire(parts);
  const renewing = new AbortController();
  const renewed = renew(parts, renewing.signal);
  const restore = async () => {
    renewing.abort();
    await renewed;
    await giveBack(parts);
  };
  try {
    const replicas = replicasOf(found) ?? `${found.spec?.replicas ?? 1}`;
    const metadata = { annotations: { [replicasAnnotation]: replicas } };
    await client.patch(Deployment, key, { type: 'merge', body: { metadata, spec: { replicas: 0 } } });
    note(`scaled Deployment ${namespace}/${name} to zero; it gets ${replicas} replicas again on exit`);
    await gone(parts);
  } catch (error) {
    await restore();
    throw error;
  }
  return { giveBack: restore };

  function gone({ client: reader }: TakeOverParts): Promise<void> {
    return waitUntilGone(() => reader.get(Deployment, key, { signal }), {
      clock,
      signal,
      what: `${namespace}/${name}`,
    });
  }
}

/** Scales a deployed operator to what it was before {@link takeOver}; false if nobody had taken its place. */
export async function giveBack(
  parts: Pick<TakeOverParts, 'client' | 'name' | 'namespace' | 'holder' | 'clock'>,
): Promise<boolean> {
  const { client, name, namespace } = parts;
  const key = { namespace, name };
  const lease = await client.find(Lease, { namespace, name: leaseName(name) });
  refuseOther(parts, lease);
  const found = await client.find(Deployment, key);
  const replicas = found && replicasOf(found);
  if (replicas !== undefined) {
    const metadata = { annotations: { [replicasAnnotation]: null } };
    await client.patch(Deployment, key, {
      type: 'merge',
      body: { metadata, spec: { replicas: Number(replicas) } } as never,
    });
  }
  // Last: while it is held, nobody else takes the place.
  if (lease !== undefined) await client.delete(Lease, { namespace, name: leaseName(name) }).catch(() => {});
  return replicas !== undefined;
}

async function acquire(parts: TakeOverParts): Promise<void> {
  const { client, name, namespace, holder, clock, signal } = parts;
  const key = { namespace, name: leaseName(name) };
  const known = await client.find(Lease, key, { signal });
  refuseOther(parts, known);
  const now = microTime(clock.now());
  const spec = { holderIdentity: holder, leaseDurationSeconds: leaseSeconds, acquireTime: now, renewTime: now };
  try {
    if (known === undefined) await client.create(Lease({ metadata: key, spec }), { signal });
    else await client.update({ ...known, spec } as never, { signal });
  } catch (error) {
    if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    throw new CommandError(`another riata dev is taking over ${namespace}/${name}; try again`, { cause: error });
  }
}

async function renew({ client, name, namespace, clock, note }: TakeOverParts, signal: AbortSignal): Promise<void> {
  const key = { namespace, name: leaseName(name) };
  for (let failed = false; ; ) {
    await clock.sleep(renewMs, { signal, background: true }).catch(() => {});
    if (signal.aborted) return;
    try {
      await client.patch(Lease, key, { type: 'merge', body: { spec: { renewTime: microTime(clock.now()) } } });
      failed = false;
    } catch (error) {
      if (!failed) note(`cannot renew Lease ${namespace}/${key.name}: ${(error as Error).message}`);
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

async function waitUntilGone(
  read: () => Promise<Deployment>,
  { clock, signal, what }: { readonly clock: Runtime['clock']; readonly signal: AbortSignal; readonly what: string },
): Promise<void> {
  const deadline = clock.monotonic() + scaleDownMs;
  for (;;) {
    const { status, metadata } = await read();
    const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
    if (isSeen && (status?.replicas ?? 0) === 0) return;
    if (clock.monotonic() > deadline) throw new CommandError(`the Pods of Deployment ${what} are still there after 2m`);
    await clock.sleep(lookAgainMs, { signal });
  }
}

function replicasOf({ metadata }: Deployment): string | undefined {
  const value = metadata.annotations?.[replicasAnnotation];
  return value !== undefined && /^\d+$/.test(value) ? value : undefined;
}

function leaseName(name: string): string {
  return `${name}-riata-dev`;
}

function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
