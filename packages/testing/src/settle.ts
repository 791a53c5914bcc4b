import { type Duration, durationMs } from 'riata/object';
import { optionNames } from 'riata/runtime';
import type { WorkLimit } from './endless-work.js';
import { delayedWork, type Lookers, nextDelayedMs, pendingWork, stateOfWork } from './pending-work.js';
import type { RequestRecorder } from './requests/request-recorder.js';
import type { TestManager } from './test-manager.js';
import type { TestTime } from './test-time.js';

/** Options of `TestEnvironment.settle`. */
export interface SettleOptions {
  /**
   * Keys that wait for their time (retries, `requeueAfter`) count as work if they are due within this time from the call;
   * later ones are left waiting. 'never': none may be left. @default '1s'
   */
  readonly horizon?: Duration | 'never';
  /**
   * How long it may take, on the clock of the environment, and again for what comes due within the `horizon`. @default '10m' on the virtual clock, '1m' in real time
   */
  readonly timeout?: Duration;
  /**
   * How many requests it may take, of these a tenth to change one and the same object, and three in a hundred to change
   * the same few objects over and over: a controller that wakes itself up by what it writes never settles. @default 5_000
   */
  readonly maxRequests?: number;
}

export const settleOptionNames = optionNames<SettleOptions>({ horizon: true, timeout: true, maxRequests: true });

/** What settling works on. */
export interface SettleParts extends Lookers {
  readonly managers: Iterable<TestManager>;
  readonly time: TestTime;
  readonly requests: RequestRecorder;
  /** Resolves when the server has no pending work. */
  readonly serverIdle: () => Promise<void>;
  /** Lets at most this many requests through, until it is disposed. */
  readonly limit: (requests?: number) => WorkLimit;
}

/**
 * Further checks in a row that must find nothing: between two steps something may be in flight unseen. On the virtual
 * clock one is enough: there, everything in flight has arrived by then.
 */
const calmLooks = { virtual: 1, real: 3 };

/** See `TestEnvironment.settle`. */
export async function settle(parts: SettleParts, options: SettleOptions = {}): Promise<void> {
  const { managers, time, requests } = parts;
  const { clock } = time;
  const defaultTimeout: Duration = time.isVirtual ? '10m' : '1m';
  const horizonMs = durationMs(options.horizon ?? '1s', 'settle: horizon');
  const horizonAt = clock.monotonic() + horizonMs;
  const timeoutMs = durationMs(options.timeout ?? defaultTimeout, 'settle: timeout');
  let giveUpAt = clock.monotonic() + timeoutMs;
  using limit = parts.limit(options.maxRequests);
  let pending: readonly string[] = [];
  let seen = '';
  for (let calm = 0; ; ) {
    await time.quiet();
    if (limit.isReached) throw limit.error('settle');
    await time.drive(parts.serverIdle(), 'settle: the server');
    // The server is checked only if something has happened since: most timers concern something else.
    const state = `${requests.all.length} ${stateOfWork(managers)}`;
    if (pending.length === 0 || state !== seen || !time.isVirtual) {
      pending = await time.drive(pendingWork(managers, parts), 'settle: a look at the server');
      seen = state;
    }
    const delayedMs = nextDelayedMs(managers);
    const isDue = delayedMs !== undefined && clock.monotonic() + delayedMs <= horizonAt;
    if (pending.length > 0 || isDue) calm = 0;
    else if (calm >= (time.isVirtual ? calmLooks.virtual : calmLooks.real)) return;
    else calm += 1;
    if (pending.length === 0) {
      if (isDue && horizonMs === Number.POSITIVE_INFINITY && clock.monotonic() + delayedMs > giveUpAt) {
        const named = delayedWork(managers).join('; ');
        throw new Error(`settle: still not settled ${waited(time, options.timeout ?? defaultTimeout)}: ${named}`);
      }
      await time.advance(isDue ? delayedMs : 0);
      if (isDue && Number.isFinite(horizonMs)) giveUpAt = clock.monotonic() + timeoutMs;
      continue;
    }
    if (await time.step(giveUpAt)) continue;
    // As it is then: for how long it has been so is part of it.
    if (time.isVirtual) await time.advance(Math.max(0, giveUpAt - clock.monotonic()));
    pending = await time.drive(pendingWork(managers, parts), 'settle: a look at the server');
    throw new Error(
      `settle: still not settled ${waited(time, options.timeout ?? defaultTimeout)}: ${pending.join('; ')}${hint(parts)}`,
    );
  }
}

/** Timers and sockets of a reconciler's own need real time, which does not pass here. */
function hint({ managers, time }: SettleParts): string {
  const isRunning = [...managers].some(({ controllers }) => controllers.some(({ active }) => active.length > 0));
  if (!time.isVirtual || !isRunning) return '';
  return "; what waits by timers or sockets of its own is not seen here: wait by the context's clock, or start with time: 'real'";
}

function waited({ isVirtual }: TestTime, timeout: Duration): string {
  return `after ${timeout}${isVirtual ? ' on the virtual clock' : ''}`;
}
