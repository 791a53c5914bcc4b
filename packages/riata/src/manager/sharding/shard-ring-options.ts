import { type Duration, durationMs } from '../../object/duration.js';
import { optionNames } from '../../runtime/option-names.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { ShardRingClient } from './shard-register.js';

/** Options of a `ShardRing`. */
export interface ShardRingOptions {
  /** Needs the verbs get, create and patch on leases. Not a fenced one, and not a cache. */
  readonly client: ShardRingClient;
  /** Of the Lease that the replicas meet on; it is made when it is not there. */
  readonly namespace: string;
  readonly name: string;
  /** This replica's name, for people to read. @default hostname and a UUID */
  readonly identity?: string;
  /**
   * Into how many parts keys are divided; more than there will ever be replicas. A ring that is there keeps the number
   * that it was made with. @default 64
   */
  readonly slots?: number;
  /** How long others wait after the last renewal that they saw before they take slots over. @default '15s' */
  readonly leaseDuration?: Duration;
  /** After this time without a renewal this replica owns nothing and starts no more fenced writes. @default '10s' */
  readonly renewDeadline?: Duration;
  /** Between two renewals; one request each. Others hear of a change within this time. @default '3s' */
  readonly retryPeriod?: Duration;
  readonly runtime?: Partial<Runtime>;
}

export const shardRingOptionNames = optionNames<ShardRingOptions>({
  client: true,
  namespace: true,
  name: true,
  identity: true,
  slots: true,
  leaseDuration: true,
  renewDeadline: true,
  retryPeriod: true,
  runtime: true,
});

/** The times of a ring, checked, in milliseconds. */
export interface ShardTimes {
  readonly leaseMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly requestTimeoutMs: number;
}

/** Fills in defaults, and refuses times that do not leave each other room: lease > renew > 2 × retry. */
export function shardTimes(options: ShardRingOptions): ShardTimes {
  const { leaseDuration = '15s', renewDeadline = '10s', retryPeriod = '3s' } = options;
  const what = `ShardRing ${options.namespace}/${options.name}`;
  const leaseMs = durationMs(leaseDuration, `${what}: leaseDuration`);
  const renewDeadlineMs = durationMs(renewDeadline, `${what}: renewDeadline`);
  const retryPeriodMs = durationMs(retryPeriod, `${what}: retryPeriod`);
  if (!(leaseMs > renewDeadlineMs)) {
    throw new RangeError(
      `${what}: leaseDuration must be longer than renewDeadline, got ${leaseDuration} and ${renewDeadline}`,
    );
  }
  if (!(renewDeadlineMs > 2 * retryPeriodMs && retryPeriodMs > 0)) {
    throw new RangeError(
      `${what}: renewDeadline must be more than twice the retryPeriod, which must be greater than 0, got ${renewDeadline} and ${retryPeriod}`,
    );
  }
  if (!Number.isFinite(leaseMs)) throw new RangeError(`${what}: leaseDuration must be finite, got ${leaseDuration}`);
  // Whole, as others read it in the Lease.
  return { leaseMs: Math.ceil(leaseMs), renewDeadlineMs, retryPeriodMs, requestTimeoutMs: renewDeadlineMs / 3 };
}

/** Refuses empty names and invalid numbers of slots. */
export function checkShardRing({ namespace, name, identity, slots = 64 }: ShardRingOptions): void {
  for (const [what, value] of Object.entries({ namespace, name, identity: identity ?? 'default' })) {
    if (typeof value === 'string' && value !== '') continue;
    throw new TypeError(`ShardRing: ${what} must be a non-empty string, got ${JSON.stringify(value)}`);
  }
  if (!Number.isSafeInteger(slots) || slots < 1 || slots > 4096) {
    throw new TypeError(`ShardRing ${namespace}/${name}: slots must be an integer from 1 to 4096, got ${slots}`);
  }
}
