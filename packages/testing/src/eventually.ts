import { type Duration, durationMs } from 'riata/object';
import { describeError, optionNames, refuseUnknownOptions } from 'riata/runtime';
import { troublesOf } from './failing-reconciles.js';
import type { SettleParts } from './settle.js';
import { RealTime } from './test-time.js';

/** Options of `TestEnvironment.eventually`. */
export interface EventuallyOptions {
  /** On the clock of the environment. @default '1m' */
  readonly within?: Duration;
  /** In the error. @default nothing more than the last failure */
  readonly what?: string;
  /** How many requests of managers it may take; see `SettleOptions`. @default 5_000 */
  readonly maxRequests?: number;
}

export const eventuallyOptionNames = optionNames<EventuallyOptions>({ within: true, what: true, maxRequests: true });

/** See `TestEnvironment.eventually`. */
export async function eventuallyIn<T>(
  parts: Pick<SettleParts, 'time' | 'limit' | 'managers'>,
  probe: () => T | Promise<T>,
  options: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  refuseUnknownOptions('eventually', options, eventuallyOptionNames);
  const { time } = parts;
  const within = options.within ?? '1m';
  const untilMs = time.clock.monotonic() + durationMs(within, 'eventually: within');
  using limit = parts.limit(options.maxRequests);
  for (let looks = 0; ; looks += 1) {
    // In real time there is nothing to be done before the first look.
    if (time.isVirtual || looks > 0) await time.quiet();
    if (limit.isReached) throw limit.error('eventually');
    let failure: { readonly error: unknown } | undefined;
    try {
      const answer = await time.drive((async () => probe())(), 'eventually: the probe');
      if (answer !== false) return answer as Exclude<T, false>;
    } catch (error) {
      failure = { error };
    }
    if (await time.step(untilMs)) continue;
    const what = options.what === undefined ? '' : ` ${options.what}`;
    const last = failure === undefined ? 'it gave false' : describeError(failure.error);
    const troubles = troublesOf(parts.managers).map((trouble) => `\n  ${trouble}`);
    const why = troubles.length === 0 ? '' : `\nThese reconciles or managers fail:${troubles.join('')}`;
    throw new Error(`eventually${what}: not within ${within}: ${last}${why}`, { cause: failure?.error });
  }
}

/**
 * As `TestEnvironment.eventually`, in real time, for code without an environment.
 *
 * @example
 * await eventually(() => seen.includes('a'), { what: 'a is seen' });
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  options: Omit<EventuallyOptions, 'maxRequests'> = {},
): Promise<Exclude<T, false>> {
  const limit = () => ({ isReached: false, error: (what: string) => new Error(what), [Symbol.dispose]() {} });
  return eventuallyIn({ time: new RealTime(), limit, managers: [] }, probe, options);
}
