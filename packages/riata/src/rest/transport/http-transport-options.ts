import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { systemClock } from '../../runtime/time/system-clock.js';
import type { ProxyEnvironment } from './http/proxy-environment.js';
import type { Transport } from './transport.js';

/** Options of `httpTransport` and `nodeTransport`. All times are in milliseconds; 0 means no limit. */
export interface HttpTransportOptions {
  /** @default systemClock */
  readonly clock?: Scheduler;
  /** Limit for setting up a connection: dialling, proxy and TLS together. @default 30_000 */
  readonly connectTimeoutMs?: number;
  /**
   * Longest wait for the headers of a response, counted from sending the request. Longer than the minute after which an
   * API server gives up. @default 90_000
   */
  readonly headersTimeoutMs?: number;
  /** Longest silence within a body. A watch sets its own, as it may be quiet for longer. @default 300_000 */
  readonly idleTimeoutMs?: number;
  /** How long an unused connection is kept for the next request. @default 30_000 */
  readonly keepAliveMs?: number;
  /**
   * Requests that may wait for their headers at once; further ones are queued, so that a burst of writes does not open a
   * thousand connections; 0 for any number. Running streams do not count, nor do requests with `headersTimeoutMs` 0.
   * @default 128
   */
  readonly maxPending?: number;
  /** Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are read if the config has no proxy. @default not read: `loadConfig` has done so */
  readonly proxyEnvironment?: ProxyEnvironment;
}

export const httpTransportOptionNames = optionNames<HttpTransportOptions>({
  clock: true,
  connectTimeoutMs: true,
  headersTimeoutMs: true,
  idleTimeoutMs: true,
  keepAliveMs: true,
  maxPending: true,
  proxyEnvironment: true,
});

/** What a transport is doing now, for tests and metrics. */
export interface HttpTransportStats {
  /** Exchanges that have not ended. */
  readonly running: number;
  /** Exchanges that are queued because of `maxPending`. */
  readonly waiting: number;
  /** Connection pools: the current one, and those of earlier certificates that still serve a stream. */
  readonly pools: number;
}

/** A {@link Transport} over HTTP/1.1, as `httpTransport` and `nodeTransport` create it. */
export interface HttpTransport extends Transport {
  /** The exchanges and connection pools there are now. */
  stats(): HttpTransportStats;
}

const defaults = {
  clock: systemClock,
  connectTimeoutMs: 30_000,
  headersTimeoutMs: 90_000,
  idleTimeoutMs: 300_000,
  keepAliveMs: 30_000,
  maxPending: 128,
} satisfies HttpTransportOptions;

const limits = ['connectTimeoutMs', 'headersTimeoutMs', 'idleTimeoutMs', 'keepAliveMs', 'maxPending'] as const;

/** Options with every default filled in. */
export type ResolvedHttpOptions = HttpTransportOptions & typeof defaults;

/** Fills in the defaults. Throws for unknown options and invalid limits; `what` names the function they were given to. */
export function resolveHttpOptions(what: string, options: HttpTransportOptions): ResolvedHttpOptions {
  refuseUnknownOptions(what, options, httpTransportOptionNames);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const resolved: ResolvedHttpOptions = { ...defaults, ...Object.fromEntries(given) };
  for (const name of limits) {
    const value = resolved[name];
    if (!(value >= 0)) throw new RangeError(`${what}: ${name} must be a number ≥ 0 (0 for no limit), got ${value}`);
  }
  return resolved;
}
