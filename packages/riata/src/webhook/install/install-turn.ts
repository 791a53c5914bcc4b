import type { Client } from '../../client/interfaces.js';
import { Lease } from '../../kinds/index.js';
import { formatMicroTime, parseTime } from '../../object/time.js';
import { isAlreadyExists, isConflict } from '../../rest/errors/error-guards.js';
import type { Clock } from '../../runtime/time/clock.js';

const leaseMs = 60_000;
/** How often the turn has to be renewed by any replica of the version that has it. */
export const renewMs = 20_000;

/**
 * Decides which version of a program writes the webhook configurations while replicas of several run, as in a rolling
 * update: the one whose webhooks were defined last. Replicas of one version share the turn, and any of them renews it. An
 * older version gets it back once nobody of the newer one renews it: after a rollback that did not restart the old
 * replicas.
 */
export class InstallTurn {
  readonly #client: Client;
  readonly #key: { readonly namespace: string; readonly name: string };
  readonly #clock: Clock;

  constructor(client: Client, key: { readonly namespace: string; readonly name: string }, clock: Clock) {
    this.#client = client;
    this.#key = key;
    this.#clock = clock;
  }

  /** True if webhooks with this digest, defined at this time, are to be installed. */
  async take(
    digest: string,
    definedAt: number,
    options: { readonly signal: AbortSignal; readonly retries?: number },
  ): Promise<boolean> {
    const { signal, retries = 5 } = options;
    const now = this.#clock.now();
    const lease = await this.#client.find(Lease, this.#key, { signal });
    const spec = {
      holderIdentity: digest,
      leaseDurationSeconds: leaseMs / 1000,
      acquireTime: formatMicroTime(definedAt),
      renewTime: formatMicroTime(now),
    };
    try {
      if (lease === undefined) {
        await this.#client.create(Lease({ metadata: this.#key, spec }), { signal });
        return true;
      }
      const { holderIdentity, acquireTime, renewTime } = lease.spec ?? {};
      const [acquired, renewed] = [timeOf(acquireTime), timeOf(renewTime)];
      if (holderIdentity === digest) {
        if (now - renewed >= renewMs) {
          await this.#client.update({ ...lease, spec: { ...lease.spec, renewTime: spec.renewTime } }, { signal });
        }
        return true;
      }
      if (definedAt <= acquired && now - renewed < leaseMs) return false;
      await this.#client.update({ ...lease, spec }, { signal });
      return true;
    } catch (error) {
      if ((!isAlreadyExists(error) && !isConflict(error)) || retries === 0) throw error;
      return this.take(digest, definedAt, { signal, retries: retries - 1 });
    }
  }
}

function timeOf(text: string | undefined): number {
  return text === undefined ? 0 : parseTime(text);
}
