import { hostname } from 'node:os';
import type { Client } from '../../client/interfaces.js';
import { Lease } from '../../kinds/generated/groups/coordination.k8s.io/v1.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Random, systemRandom } from '../../runtime/random.js';
import type { LeaderElectionRecord, LockOptions, LockState, ResourceLock } from './resource-lock.js';

/**
 * The part of a client that a {@link LeaseLock} needs. It must not be fenced, must not read from a cache, and must not
 * queue behind other requests in a rate limit (`qps`): a renewal that waits is late.
 */
export type LeaseClient = Pick<Client, 'find' | 'create' | 'update'>;

/** Options of a {@link LeaseLock}. */
export interface LeaseLockOptions {
  readonly namespace: string;
  readonly name: string;
  /** The identity of this candidate; no two processes may have the same. @default {@link candidateIdentity} */
  readonly identity?: string;
  /** On the Lease when it is made. @default none */
  readonly labels?: Readonly<Record<string, string>>;
  /** @default systemRandom */
  readonly random?: Random;
}

export const leaseLockOptionNames = optionNames<LeaseLockOptions>({
  namespace: true,
  name: true,
  identity: true,
  labels: true,
  random: true,
});

/** A name that no other process has: `hostname_uuid`, as controller-runtime makes it. */
export function candidateIdentity(random: Random = systemRandom): string {
  return `${hostname()}_${random.uuid()}`;
}

/**
 * Candidates meet on a Lease of `coordination.k8s.io/v1` (`resourcelock.LeaseLock`); the same Lease works for candidates
 * written in Go. Needs the verbs get, create and update on leases. Requests are sent once: who elects has a rhythm of
 * its own for trying again. Fields that it does not know (`strategy`, `preferredHolder`) and metadata stay as they are.
 */
export class LeaseLock implements ResourceLock {
  readonly #client: LeaseClient;
  readonly #key: { readonly namespace: string; readonly name: string };
  readonly #labels: Readonly<Record<string, string>> | undefined;
  /** As it was last read or stored; an update starts from here, with its resourceVersion. */
  #lease: Lease | undefined;
  readonly identity: string;

  constructor(client: LeaseClient, options: LeaseLockOptions) {
    refuseUnknownOptions('LeaseLock', options, leaseLockOptionNames);
    const { namespace, name, identity = candidateIdentity(options.random) } = options;
    for (const [what, value] of Object.entries({ namespace, name, identity })) {
      if (typeof value !== 'string' || value === '') {
        throw new TypeError(`LeaseLock: ${what} must be a non-empty string, got ${JSON.stringify(value)}`);
      }
    }
    this.#client = client;
    this.#key = { namespace, name };
    this.#labels = options.labels;
    this.identity = identity;
  }

  get description(): string {
    return `Lease ${this.#key.namespace}/${this.#key.name}`;
  }

  get name(): string {
    return this.#key.name;
  }

  async get(options?: LockOptions): Promise<LockState | undefined> {
    this.#lease = await this.#client.find(Lease, this.#key, { ...options, maxRetries: 0 });
    return this.#lease && stateOf(this.#lease);
  }

  async create(record: LeaderElectionRecord, options?: LockOptions): Promise<LockState> {
    const metadata = { ...this.#key, ...(this.#labels && { labels: this.#labels }) };
    const lease = Lease({ metadata, spec: specOf(record) });
    return this.#stored(await this.#client.create(lease, { ...options, maxRetries: 0 }));
  }

  async update(record: LeaderElectionRecord, options?: LockOptions): Promise<LockState> {
    if (this.#lease === undefined) throw new Error(`${this.description}: update requires a get or create before it`);
    const { holderIdentity: _, ...rest } = this.#lease.spec ?? {};
    const lease = { ...this.#lease, spec: { ...rest, ...specOf(record) } };
    return this.#stored(await this.#client.update(lease, { ...options, maxRetries: 0 }));
  }

  #stored(lease: Lease): LockState {
    this.#lease = lease;
    return stateOf(lease);
  }
}

/** A Lease without a holder says so by saying nothing, as servers may refuse an empty name. */
function specOf({ holderIdentity, leaderTransitions, ...times }: LeaderElectionRecord) {
  return { ...(holderIdentity !== '' && { holderIdentity }), ...times, leaseTransitions: leaderTransitions };
}

function stateOf({ metadata, spec = {} }: Lease): LockState {
  return {
    version: `${metadata.uid}/${metadata.resourceVersion}`,
    record: {
      holderIdentity: spec.holderIdentity ?? '',
      leaseDurationSeconds: spec.leaseDurationSeconds ?? 0,
      acquireTime: spec.acquireTime ?? '',
      renewTime: spec.renewTime ?? '',
      leaderTransitions: spec.leaseTransitions ?? 0,
    },
  };
}
