import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Scheduler } from '../../runtime/time/clock.js';

/** Slows requests down to servers that answer with errors (`rest.BackoffManager`). */
export interface BackoffManager {
  /** Called after each attempt, with the error or the HTTP status (0 if there was none). */
  updateBackoff(url: string, error: unknown, code: number): void;
  /** How long to wait before the next attempt, in ms. */
  calculateBackoff(url: string): number;
  /** Waits; rejects with the signal's reason when that aborts first. */
  sleep(ms: number, options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/** Waits only as long as a server asks for (`rest.NoBackoff`). A client's default. */
export function noBackoff(clock: Scheduler): BackoffManager {
  return {
    updateBackoff: () => {},
    calculateBackoff: () => 0,
    sleep: (ms, options) => (ms > 0 ? clock.sleep(ms, options) : Promise.resolve()),
  };
}

/** Settings of {@link urlBackoff}. */
export interface UrlBackoffOptions {
  /** Wait after the first error. @default 1_000 */
  readonly baseMs?: number;
  /** Longest wait; after twice as long without an error the count starts over. @default 120_000 */
  readonly maxMs?: number;
  readonly clock: Scheduler;
}

export const urlBackoffOptionNames = optionNames<UrlBackoffOptions>({ baseMs: true, maxMs: true, clock: true });

/**
 * Doubles the wait per host with every 429 or 5xx in a row and forgets it with any other outcome (`rest.URLBackoff`).
 */
export function urlBackoff(options: UrlBackoffOptions): BackoffManager {
  refuseUnknownOptions('urlBackoff', options, urlBackoffOptionNames);
  const { baseMs = 1_000, maxMs = 120_000, clock } = options;
  const hosts = new Map<string, { waitMs: number; at: number }>();
  return {
    updateBackoff(url, _error, code) {
      const host = hostOf(url);
      if (code !== 429 && code < 500) {
        hosts.delete(host);
        return;
      }
      const now = clock.monotonic();
      const entry = hosts.get(host);
      const fresh = !entry || now - entry.at > maxMs * 2;
      hosts.set(host, { waitMs: fresh ? baseMs : Math.min(entry.waitMs * 2, maxMs), at: now });
    },
    calculateBackoff: (url) => hosts.get(hostOf(url))?.waitMs ?? 0,
    sleep: noBackoff(clock).sleep,
  };
}

function hostOf(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1] ?? '';
}
