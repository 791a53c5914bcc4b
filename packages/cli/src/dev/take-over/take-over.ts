import { Deployment } from 'riata/kinds';
import type { Runtime } from 'riata/runtime';
import { CommandError } from '../../command/command-error.js';
import { holdDevLease, type TakenPlace, type TakeOverParts } from './dev-lease.js';
import { giveBack, replicasAnnotation, replicasOf } from './give-back.js';
import { leaseIdentity, rememberLease } from './lease-holder.js';

/** How `riata dev` keeps a deployed operator from working: by its replicas, or by its Lease. */
export const takeOverWays = ['scale', 'lease'] as const;

/** One of {@link takeOverWays}. */
export type TakeOverWay = (typeof takeOverWays)[number];

const scaleDownMs = 120_000;
const lookAgainMs = 500;

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
  const held = await holdDevLease(parts);
  const restore = async () => {
    await held.end();
    await giveBack(parts);
  };
  try {
    const replicas = replicasOf(found) ?? `${found.spec?.replicas ?? 1}`;
    const metadata = { annotations: { [replicasAnnotation]: replicas } };
    await client.patch(Deployment, key, { type: 'merge', body: { metadata, spec: { replicas: 0 } } });
    note(`scaled Deployment ${namespace}/${name} to zero; it gets ${replicas} replicas again on exit`);
    const read = () => client.get(Deployment, key, { signal });
    await waitUntilGone(read, { clock, signal, what: `${namespace}/${name}` });
  } catch (error) {
    await restore();
    throw error;
  }
  return { identity: leaseIdentity(parts.holder), lead: (lease) => rememberLease(parts, lease), giveBack: restore };
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
