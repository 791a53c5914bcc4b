import type { ConnectedClient } from 'riata';
import { type Duration, durationMs } from 'riata/object';
import { nextDelayedMs, pendingWork, stateOfWork } from './pending-work.js';
import type { RequestRecorder } from './request-recorder.js';
import type { TestManager } from './test-manager.js';
import type { TestTime } from './test-time.js';

/** Options of `TestEnvironment.settle`. */
export interface SettleOptions {
  /**
   * Keys that wait for their time (retries, `requeueAfter`) count as work if they are due within this time from the call;
   * later ones are left waiting. @default '1s'
   */
  readonly horizon?: Duration;
  /** How long it may take, on the clock of the environment. @default '10m' on the virtual clock, '1m' in real time */
  readonly timeout?: Duration;
  /** How many requests it may take: a controller that wakes itself up by what it writes never comes to rest. @default 5_000 */
  readonly maxRequests?: number;
}

/** What settling works on. */
export interface SettleParts {
  readonly managers: Iterable<TestManager>;
  readonly client: ConnectedClient;
  readonly time: TestTime;
  readonly requests: RequestRecorder;
  /** Resolves when the server has nothing left to do by itself. */
  readonly serverIdle: () => Promise<void>;
  /** Lets no more than so many requests through, until it is disposed of. */
  readonly limit: (requests: number) => Disposable & { readonly isReached: boolean };
}

/** Requests before something must be wrong. */
export const mostRequests = 5_000;

/**
 * Further looks in a row that must find nothing: between two steps something may be on its way unseen. On the virtual clock
 * one will do: there, all that is on its way has come by then.
 */
const calmLooks = { virtual: 1, real: 3 };

/** See `TestEnvironment.settle`. */
export async function settle(parts: SettleParts, options: SettleOptions = {}): Promise<void> {
  const { managers, client, time, requests } = parts;
  const { clock } = time;
  const defaultTimeout: Duration = time.isVirtual ? '10m' : '1m';
  const horizonAt = clock.monotonic() + durationMs(options.horizon ?? '1s', 'settle: horizon');
  const giveUpAt = clock.monotonic() + durationMs(options.timeout ?? defaultTimeout, 'settle: timeout');
  const from = requests.all.length;
  using limit = parts.limit(options.maxRequests ?? mostRequests);
  let pending: readonly string[] = [];
  let seen = '';
  for (let calm = 0; ; ) {
    await time.quiet();
    if (limit.isReached) throw restless('settle', requests, from);
    await time.drive(parts.serverIdle(), 'settle: the server');
    // The server is asked only if something has happened since: most timers are about something else.
    const state = `${requests.all.length} ${stateOfWork(managers)}`;
    if (pending.length === 0 || state !== seen || !time.isVirtual) {
      pending = await time.drive(pendingWork(managers, client), 'settle: a look at the server');
      seen = state;
    }
    const delayedMs = nextDelayedMs(managers);
    const isDue = delayedMs !== undefined && clock.monotonic() + delayedMs <= horizonAt;
    if (pending.length > 0 || isDue) calm = 0;
    else if (calm >= (time.isVirtual ? calmLooks.virtual : calmLooks.real)) return;
    else calm += 1;
    if (pending.length === 0) {
      await time.advance(isDue ? delayedMs : 0);
      continue;
    }
    if (await time.step(giveUpAt)) continue;
    // As it is then: for how long it has been so is part of it.
    if (time.isVirtual) await time.advance(Math.max(0, giveUpAt - clock.monotonic()));
    pending = await time.drive(pendingWork(managers, client), 'settle: a look at the server');
    throw new Error(
      `settle: still not settled ${waited(time, options.timeout ?? defaultTimeout)}: ${pending.join('; ')}`,
    );
  }
}

function waited({ isVirtual }: TestTime, timeout: Duration): string {
  return `after ${timeout}${isVirtual ? ' on the virtual clock' : ''}`;
}

/** Names what is written over and over. */
export function restless(what: string, requests: RequestRecorder, from: number): Error {
  const counts = new Map<string, number>();
  for (const { verb, object } of requests.all.slice(from)) {
    const line = `${verb} ${object}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, 3);
  const named = most.map(([line, count]) => `${line} (${count} times)`).join(', ');
  return new Error(
    `${what}: ${requests.all.length - from} requests, and no end to them: ${named}. A controller may be woken by what ` +
      'it writes itself: write only what differs, or raise maxRequests',
  );
}
