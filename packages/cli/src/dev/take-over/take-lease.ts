import { Lease } from 'riata/kinds';
import { isAlreadyExists, isConflict } from 'riata/rest';
import { CommandError } from '../../command/command-error.js';
import { holdDevLease, type LeaseKey, microTime, type TakenPlace, type TakeOverParts } from './dev-lease.js';
import { giveBack } from './give-back.js';
import { leaseIdentity, rememberLease } from './lease-holder.js';

/** How long a Lease is held that says nothing about it, as client-go has it. */
const usualSeconds = 15;

/**
 * Prepares to take the Lease of a deployed operator: from here on, no other developer can take the same place. `lead`
 * writes the identity into the Lease, and resolves when the leader before must have stopped: it relies on a renewal for less
 * than the duration of its Lease. The deployed operator keeps its Pods, which wait to lead again.
 */
export async function holdLease(parts: TakeOverParts): Promise<TakenPlace> {
  const { client, clock, note, signal } = parts;
  const identity = leaseIdentity(parts.holder);
  const held = await holdDevLease(parts);
  return {
    identity,
    async lead(key) {
      await rememberLease(parts, key);
      const before = await write(key);
      if (before === undefined) return;
      const { holder, seconds } = before;
      const name = `Lease ${key.namespace}/${key.name}`;
      note(`took ${name} from ${holder}; waiting ${seconds} s, until it has stopped`);
      // Twice, so that nobody else sees it expire.
      for (let half = 0; half < 2; half += 1) {
        await clock.sleep(seconds * 500, { signal });
        const lost = await write(key, { isRenewal: true });
        if (lost !== undefined) throw new CommandError(`${name} was taken by ${lost.holder} meanwhile`);
      }
    },
    async giveBack() {
      await held.end();
      await giveBack(parts);
    },
  };

  /** The holder before; undefined if there was none, or if it is the same. */
  async function write(
    key: LeaseKey,
    { isRenewal = false } = {},
  ): Promise<{ readonly holder: string; readonly seconds: number } | undefined> {
    for (;;) {
      const lease = await client.find(Lease, key, { signal });
      const { holderIdentity: holder, leaseTransitions = 0, acquireTime } = lease?.spec ?? {};
      const seconds = lease?.spec?.leaseDurationSeconds ?? usualSeconds;
      const isOwn = holder === identity;
      if (isOwn && !isRenewal) return undefined;
      if (isRenewal && !isOwn) return { holder: holder || 'another process', seconds };
      const now = microTime(clock.now());
      const spec = {
        ...lease?.spec,
        holderIdentity: identity,
        // A Lease that was released has one second.
        leaseDurationSeconds: holder ? seconds : usualSeconds,
        acquireTime: isOwn ? (acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: leaseTransitions + (isOwn ? 0 : 1),
      };
      try {
        if (lease === undefined) await client.create(Lease({ metadata: key, spec }), { signal });
        else await client.update({ ...lease, spec } as never, { signal });
        return holder && !isOwn ? { holder, seconds } : undefined;
      } catch (error) {
        // Its holder renews it.
        if (!isConflict(error) && !isAlreadyExists(error)) throw error;
      }
    }
  }
}
